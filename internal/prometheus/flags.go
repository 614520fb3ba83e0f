package prometheus

import (
	"context"
	"time"

	"railyard/internal/counters"
	"railyard/internal/field"
	"railyard/internal/input"
)

// Flags are the flags of commands that read counters from Prometheus.
type Flags struct {
	URL     string        `help:"Read counters from Prometheus: http://HOST:9090" group:"Metrics" name:"prometheus" placeholder:"URL"`
	Match   string        `help:"Matchers that the series must have: 'cluster=\"a\",rack=~\"r1.*\"'" group:"Metrics" name:"prometheus-match" placeholder:"MATCHERS" with:"prometheus"`
	Label   string        `help:"Label that names the device (its port is left out)" group:"Metrics" name:"prometheus-label" default:"instance" placeholder:"LABEL" with:"prometheus"`
	Window  time.Duration `help:"Time between the two snapshots" group:"Metrics" name:"prometheus-window" default:"5m" placeholder:"TIME" with:"prometheus"`
	At      string        `help:"Time of the later snapshot, as 2026-01-31T12:00:00Z (now)" group:"Metrics" name:"prometheus-at" placeholder:"TIME" with:"prometheus"`
	Timeout time.Duration `help:"Timeout of a query" group:"Metrics" name:"prometheus-timeout" default:"30s" placeholder:"TIME" with:"prometheus"`
	Token   string        `help:"Bearer token; safer in the environment (RAILYARD_PROMETHEUS_TOKEN)" group:"Metrics" name:"prometheus-token" env:"RAILYARD_PROMETHEUS_TOKEN" placeholder:"WORD"`
}

// longest is the maximum of a window.
const longest = 30 * 24 * time.Hour

// Read returns the counters at two times.
func (f *Flags) Read(ctx context.Context) (before, after []counters.Snapshot, notes []string, err error) {
	o := Options{URL: f.URL, Match: f.Match, Label: f.Label, Token: f.Token, At: time.Now(), Window: f.Window,
		Timeout: f.Timeout}
	switch {
	case f.Window < time.Second || f.Window > longest:
		return nil, nil, nil, field.Outside("--prometheus-window", time.Second, longest, f.Window)
	case f.Timeout < time.Millisecond || f.Timeout > time.Hour:
		return nil, nil, nil, field.Outside("--prometheus-timeout", time.Millisecond, time.Hour, f.Timeout)
	}
	if f.At != "" {
		if o.At, err = time.Parse(time.RFC3339, f.At); err != nil {
			return nil, nil, nil, field.New("--prometheus-at", "%s is not a time such as 2026-01-31T12:00:00Z", field.Quote(f.At))
		}
	}
	before, after, notes, err = Snapshots(ctx, o)
	return before, after, notes, input.Fault(err)
}

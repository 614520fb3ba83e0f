// Package prometheus reads counters of hosts and switches from a Prometheus server, at two times.
//
//	before, after, notes, err := prometheus.Snapshots(ctx, prometheus.Options{URL: "http://prometheus:9090"})
//
// The tables of tables.go map series of exporters to counters: node_exporter's collectors infiniband and ethtool, the
// SONiC exporter, and DCGM, whose errors become notes. A device is the label instance without its port. Answers are
// bounded in bytes, series and time, and nothing but instant queries is sent.
package prometheus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"railyard/internal/counters"
	"railyard/internal/field"
)

// Limits of an answer.
const (
	maxBytes  = 256 << 20
	maxSeries = 1_000_000
	maxNotes  = 20
)

// Options are the settings of queries to a server.
type Options struct {
	URL     string
	Match   string        // further matchers, such as cluster="a", which all series must have
	Label   string        // label with the device's name; "": instance
	Token   string        // bearer token; "": none
	At      time.Time     // time of the later snapshot
	Window  time.Duration // time between the snapshots
	Timeout time.Duration // of a query

	Series int   // maximum; 0: maxSeries
	Bytes  int64 // bytes of an answer, maximum; 0: maxBytes

	shown string // the address without a password
}

// sample is a series with its value.
type sample struct {
	Metric map[string]string `json:"metric"`
	Value  [2]any            `json:"value"`
}

// answer is the body of /api/v1/query.
type answer struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   struct {
		Type   string   `json:"resultType"`
		Result []sample `json:"result"`
	} `json:"data"`
	Warnings []string `json:"warnings"`
}

// Snapshots returns the counters of all devices at two times.
func Snapshots(ctx context.Context, o Options) (before, after []counters.Snapshot, notes []string, err error) {
	at, err := o.endpoint()
	if err != nil {
		return nil, nil, nil, err
	}
	var times [2]*reading
	for i, when := range []time.Time{o.At.Add(-o.Window), o.At} {
		r := newReading(when, o.label())
		for _, family := range families {
			if err := o.query(ctx, at, family, when, r); err != nil {
				return nil, nil, nil, fmt.Errorf("%s: %w", o.shown, err)
			}
		}
		times[i] = r
	}
	before, after, notes = times[0].finish(), times[1].finish(), times[1].notes(times[0])
	if len(after) == 0 {
		return nil, nil, nil, fmt.Errorf("%s: contains none of the series that diagnose reads at %s%s; exporters: %s", o.shown,
			o.At.UTC().Format(time.RFC3339), o.matching(), strings.Join(exporters(), ", "))
	}
	if len(before) == 0 {
		notes = append(notes, fmt.Sprintf("no series %v earlier: rates are not known", o.Window))
		return nil, after, notes, nil
	}
	return both(before, after, notes)
}

// both drops devices that only one of the times has.
func both(before, after []counters.Snapshot, notes []string) (b, a []counters.Snapshot, more []string, err error) {
	has := func(list []counters.Snapshot, device string) bool {
		return slices.ContainsFunc(list, func(s counters.Snapshot) bool { return s.Device == device })
	}
	for _, s := range after {
		if has(before, s.Device) {
			a = append(a, s)
		} else {
			notes = append(notes, s.Device+": has series at the later time only, and is left out")
		}
	}
	for _, s := range before {
		if has(after, s.Device) {
			b = append(b, s)
		} else {
			notes = append(notes, s.Device+": has series at the earlier time only, and is left out")
		}
	}
	return b, a, notes, nil
}

func (o *Options) label() string {
	if o.Label == "" {
		return "instance"
	}
	return o.Label
}

// matching returns the matchers for an error.
func (o *Options) matching() string {
	if o.Match == "" {
		return ""
	}
	return " with " + o.Match
}

// endpoint returns the address of queries.
func (o *Options) endpoint() (string, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", field.New("--prometheus", "%s is not an address such as http://prometheus:9090", field.Quote(o.URL))
	}
	o.shown = u.Redacted()
	return strings.TrimSuffix(u.String(), "/") + "/api/v1/query", nil
}

// query sends an instant query for a family of series and reads its samples.
func (o *Options) query(ctx context.Context, at string, f family, when time.Time, r *reading) error {
	selector := `{__name__=~"` + strings.Join(slices.Sorted(maps.Keys(f.counts)), "|") + `"`
	if o.Match != "" {
		selector += "," + o.Match
	}
	form := url.Values{"query": {selector + "}"}, "time": {strconv.FormatFloat(float64(when.UnixMilli())/1e3, 'f', 3, 64)}}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if o.Token != "" {
		req.Header.Set("Authorization", "Bearer "+o.Token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return reason(err, o.Timeout)
	}
	defer res.Body.Close()
	limit := o.Bytes
	if limit == 0 {
		limit = maxBytes
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err != nil {
		return reason(err, o.Timeout)
	}
	if int64(len(body)) > limit {
		return fmt.Errorf("the answer is larger than %d MB; set --prometheus-match", limit>>20)
	}
	return o.read(f, res.StatusCode, body, r)
}

// reason returns an error without the query in it.
func reason(err error, timeout time.Duration) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer in %v", timeout)
	}
	for errors.Unwrap(err) != nil { // the call that failed is no reason
		err = errors.Unwrap(err)
	}
	return err
}

// read reads the body of an answer.
func (o *Options) read(f family, status int, body []byte, r *reading) error {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		if status != http.StatusOK {
			return fmt.Errorf("HTTP status %d", status)
		}
		return errors.New("does not answer as Prometheus does: not JSON")
	}
	most := o.Series
	if most == 0 {
		most = maxSeries
	}
	switch {
	case a.Status != "success":
		return fmt.Errorf("refuses the query: %s", strings.TrimSpace(a.Error))
	case a.Data.Type != "vector":
		return fmt.Errorf("does not answer as Prometheus does: %s where a vector is expected", field.Quote(a.Data.Type))
	case r.series+len(a.Data.Result) > most:
		return fmt.Errorf("has more than %d series; set --prometheus-match", most)
	}
	r.series += len(a.Data.Result)
	r.warnings = append(r.warnings, a.Warnings...)
	slices.SortFunc(a.Data.Result, func(x, y sample) int { return strings.Compare(key(x.Metric), key(y.Metric)) })
	for _, s := range a.Data.Result {
		r.take(f, s)
	}
	return nil
}

// key orders series.
func key(m map[string]string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		b.WriteString(k + "\x00" + m[k] + "\x01")
	}
	return b.String()
}

// reading is the devices of one time.
type reading struct {
	at       time.Time
	label    string
	all      []counters.Snapshot
	byName   map[string]int // of all
	ports    map[string]int // ports of a device, by device and name
	series   int
	warnings []string
	gpus     map[string]float64 // values of GPUs, by words
	nameless int
}

// newReading returns an empty reading of a time.
func newReading(at time.Time, label string) *reading {
	return &reading{at: at, label: label, byName: map[string]int{}, ports: map[string]int{}, gpus: map[string]float64{}}
}

// take stores a sample.
func (r *reading) take(f family, s sample) {
	text, ok := s.Value[1].(string)
	v, err := strconv.ParseFloat(text, 64)
	if !ok || err != nil || math.IsNaN(v) || v < 0 || v >= 1<<63 {
		return
	}
	device := s.Metric[r.label]
	if host, _, err := net.SplitHostPort(device); err == nil {
		device = host
	}
	if device == "" {
		r.nameless++
		return
	}
	name := f.port(s.Metric)
	if f.kind == gpu {
		r.gpus[fmt.Sprintf("%s GPU %s: %s", device, name, f.words[s.Metric["__name__"]])] = v
		return
	}
	if name == "" {
		return
	}
	k, ok := r.byName[device]
	if !ok {
		k = len(r.all)
		r.byName[device] = k
		r.all = append(r.all, counters.Snapshot{Device: device, Kind: f.device, File: "prometheus", At: counters.Moment{
			Seconds: r.at.Unix(), Nanos: int64(r.at.Nanosecond()), Is: true}})
	}
	d := &r.all[k]
	if !slices.Contains(strings.Split(d.Format, "+"), f.name) {
		d.Format = strings.TrimPrefix(d.Format+"+"+f.name, "+")
	}
	n, ok := r.ports[device+"\x00"+name]
	if !ok {
		n = len(d.Ports)
		r.ports[device+"\x00"+name] = n
		d.Ports = append(d.Ports, counters.Port{Name: name})
	}
	f.counts[s.Metric["__name__"]](&d.Ports[n], s.Metric, v)
}

// finish returns the devices by name; a host's single RDMA device is combined with its single interface.
func (r *reading) finish() []counters.Snapshot {
	for i := range r.all {
		r.all[i].Ports = paired(r.all[i].Ports)
	}
	slices.SortFunc(r.all, func(a, b counters.Snapshot) int { return strings.Compare(a.Device, b.Device) })
	joined, _ := counters.Join(r.all)
	return joined
}

// paired returns the interface of a host's RDMA device if it has one of both: no series contains the mapping.
func paired(ports []counters.Port) []counters.Port {
	isRDMA := func(p counters.Port) bool { return strings.Contains(p.Name, "/") }
	rdma := slices.IndexFunc(ports, isRDMA)
	if len(ports) == 2 && rdma >= 0 && !isRDMA(ports[1-rdma]) {
		ports[rdma].NetDev = ports[1-rdma].Name
	}
	return ports
}

// notes returns remarks in addition to the counters.
func (r *reading) notes(earlier *reading) (notes []string) {
	for _, what := range slices.Sorted(maps.Keys(r.gpus)) {
		v := r.gpus[what]
		if was, ok := earlier.gpus[what]; ok && !strings.HasSuffix(what, xid) { // a count
			v -= was
		}
		if v > 0 {
			notes = append(notes, fmt.Sprintf("%s %.0f", what, v))
		}
	}
	if n := len(notes); n > maxNotes {
		notes = append(notes[:maxNotes:maxNotes], fmt.Sprintf("%d further errors of GPUs", n-maxNotes))
	}
	if r.nameless > 0 {
		notes = append(notes, fmt.Sprintf("%d series without the label %s are left out", r.nameless, r.label))
	}
	slices.Sort(r.warnings)
	return append(notes, slices.Compact(r.warnings)...)
}

// Package load loads a lab and measures its traffic: an all-reduce over all hosts (AllReduce), the same under
// several congestion controls (Compare), and WRITEs by MRC while a link breaks (Trial).
package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"railyard/internal/field"
	"railyard/internal/lab"
	"railyard/internal/perftest"
	"railyard/internal/ranks"
	"railyard/internal/route"
	"railyard/internal/scenario"
	"railyard/roce"
	"railyard/unit"
)

// Event is a change of a cable that a lab can make.
type Event struct {
	Port string
	Loss float64 // loss of packets; 0: the link is down
	What string  // fault in the scenario's notation
}

// Trial is the settings of a lab and its load.
type Trial struct {
	Name     string
	Rate     unit.Rate     // rate of a host port
	Duration time.Duration // of a load
	At       time.Duration // time of the event from the first traffic on
	Pace     *Pace         // nil: At and Duration, by the clock
}

// Events are the scenario's, as far as a lab can do them.
func Events(plan *scenario.Plan) (out []Event, err error) {
	carried := plan.Default().Carried
	switch {
	case carried == nil || carried.Name != "mrc":
		return nil, plan.Refuse("transport", "lab run loads the fabric by MRC; accepted: mrc (lab up, lab rdma and lab compare run RC)")
	case carried.Segments:
		return nil, plan.Refuse("transport.forwarding", "srv6, and this host's kernel hashes; accepted: hash")
	case route.Is[route.EVReader](plan.LB):
		return nil, plan.Refuse("lb", "%s, and this host's kernel hashes; accepted: ecmp", plan.LB.Name)
	case plan.IPv6:
		return nil, plan.Refuse("fabric.ip", "6, and labs give hosts IPv4 addresses; accepted: 4")
	}
	f := plan.Settled()
	for i, ev := range f.Events {
		key := field.At("events", i)
		switch {
		case ev.Link == "" || ev.Up == nil && ev.BER == nil || ev.Up != nil && *ev.Up ||
			slices.ContainsFunc(ev.Changes(), func(k string) bool { return k != "up" && k != "bit_error_rate" }):
			return nil, plan.Refuse(key, "a lab does to a link up: false or bit_error_rate, each in a run of its own, and nothing else")
		case ev.BER != nil:
			const bits = 8 * (4096 + roce.BaseLen)
			loss := 1 - math.Pow(1-*ev.BER, bits)
			out = append(out, Event{ev.Link, loss, fmt.Sprintf("link %s, bit_error_rate: %.3g", ev.Link, *ev.BER)})
		default:
			out = append(out, Event{ev.Link, 0, fmt.Sprintf("link %s, up: false", ev.Link)})
		}
	}
	return out, nil
}

// usualEvents are the defaults if the scenario has none.
func usualEvents(s *lab.State, from, to int) ([]Event, error) {
	cut, drained, lossy, err := s.Usual(from, to)
	if err != nil {
		return nil, err
	}
	const loss = 0.02
	return []Event{{cut, 0, "link " + cut + ", up: false"}, {drained, 0,
		"link " + drained + ", up: false"},
		{lossy, loss, fmt.Sprintf("link %s, %g %% lost", lossy, 100*loss)}}, nil
}

// Run builds a lab, has one event happen under load, and removes it. Without events it returns the usual ones.
func (c *Trial) Run(ctx context.Context, plan *scenario.Plan,
	events []Event, i int) (m *Move, all []Event, err error) {
	s, err := lab.Up(ctx, plan.Graph, lab.Options{Name: c.Name, Routing: lab.RoutingStatic, Rate: c.Rate,
		Say: func(string, ...any) {}})
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		if _, e := lab.Down(clean, c.Name); e != nil {
			err = errors.Join(err, e)
		}
	}()
	from, to, err := s.Ends()
	if err != nil {
		return nil, nil, err
	}
	if all = events; len(all) == 0 {
		if all, err = usualEvents(s, from, to); err != nil {
			return nil, nil, err
		}
	}
	fault, err := s.Fault(all[i].Port, from, to)
	if err != nil {
		return nil, nil, err
	}
	if m, err = c.load(ctx, s, from, to, &all[i], fault); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", all[i].What, err)
	}
	return m, all, nil
}

// load sends traffic and observes it.
func (c *Trial) load(ctx context.Context, s *lab.State, from, to int, ev *Event,
	fault *lab.Fault) (*Move, error) {
	ours, _ := s.Planes(from)
	theirs, arrive := s.Planes(to)
	w := &Watch{path: len(fault.Path), ports: 1 + len(fault.Path) + len(arrive), Pace: after(c.At)}
	if c.Pace != nil {
		w.Pace = *c.Pace
	}
	var err error
	if w.tap, err = s.Tap(append(append([]string{fault.Port}, fault.Path...), arrive...)...); err != nil {
		return nil, err
	}
	defer w.tap.Close()
	server, line, err := ranks.Start(ctx, s.Inside(to), "rdma", "serve", "--planes", strings.Join(theirs, ","),
		"--line-rate", lineOf(s, theirs))
	if err != nil {
		return nil, err
	}
	defer ranks.Stop(server)
	if !strings.HasPrefix(line, "serving") {
		return nil, fmt.Errorf("rdma serve: %s", line)
	}
	var out, says strings.Builder
	cmd, err := ranks.Command(ctx, s.Inside(from), "rdma", "perf", "write", "--to", theirs[0], "--transport", "mrc",
		"--planes", strings.Join(ours, ","), "--duration", c.Duration.String(), "--depth", "8", "--timeout", "10",
		"--in-flight", "256KiB", // ports queue a few ms of packets
		"--line-rate", lineOf(s, ours), "--json")
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = &out, &says
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	end := func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := w.follow(ctx, s, ev, fault, end, ended); err != nil {
		_ = cmd.Process.Kill()
		return nil, fmt.Errorf("%w %s", err, strings.TrimSpace(says.String()))
	}
	var r struct{ Results []perftest.Result }
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil || len(r.Results) != 1 {
		return nil, fmt.Errorf("rdma perf write reported %d sizes of one: %v", len(r.Results), err)
	}
	m, err := w.Judge(ev.What)
	if err != nil {
		return nil, err
	}
	res := &r.Results[0]
	m.Again, m.Longest, m.Verified = res.Retransmissions, res.Max/1e3, res.Verified
	return m, nil
}

// lineOf is the rate of all of a NIC's ports together.
func lineOf(s *lab.State, planes []string) string {
	return fmt.Sprintf("%dbps", int64(s.Rate)*int64(len(planes)))
}

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/lab"
	"railyard/internal/output"
	"railyard/internal/perftest"
	"railyard/internal/report"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/roce"
	"railyard/unit"

	"gonum.org/v1/plot/vg/vgimg"
)

type labRunCmd struct {
	labName
	Scenario string        `arg:"" help:"Scenario file (YAML) with transport: mrc; - reads standard input." placeholder:"SCENARIO"`
	Set      []string      `help:"Override a value of the scenario." placeholder:"KEY=VALUE" sep:"none"`
	Rate     string        `help:"Rate of a host port; all others in the scenario's proportion." default:"500Mbps"`
	Duration time.Duration `help:"How long each load lasts." default:"3s"`
	At       time.Duration `help:"When the event happens, from the first traffic on." default:"1s"`
	Plot     string        `help:"Plot what arrives, and what goes towards what broke, over time." placeholder:"FILE.png"`
	Force    bool          `help:"Replace an existing plot."`
	JSON     bool          `help:"Print as JSON."`
	pace     *pace         `kong:"-"` // nil: At and Duration, by the clock
}

func (c *labRunCmd) Help() string {
	return `Builds the scenario's fabric as lab up does, with static routes that nobody changes,
		and loads it with
WRITEs by MRC from its first host to its last, over a plane per port of the NIC. One of the scenario's events
then happens under load: of a link up: false, or bit_error_rate. Each has a lab and a run of its own; without
any, a spine's cable is cut, a plane of the receiver drained, and a path loses 2 % of its packets. Printed is
how long it takes until a tenth or less of the traffic that went there still does.

Examples:
  railyard lab run scenarios/lab-planes.yaml --plot move.png
  railyard lab run scenarios/lab-planes.yaml --rate 200Mbps --duration 5s --json`
}

// labEvent is something that a lab can do to a cable.
type labEvent struct {
	port string
	loss float64 // of packets; 0: it is cut
	what string  // as a scenario says it
}

// Run is the lab run command.
func (c *labRunCmd) Run(e *env) error {
	rate, err := unit.ParseRate(c.Rate)
	if err != nil {
		return field.Under("--rate", err)
	}
	const least, most, around = 500 * time.Millisecond, time.Minute, 300 * time.Millisecond
	switch {
	case c.Duration < 2*least || c.Duration > most:
		return field.New("--duration", "must lie between %v and %v, found %v", 2*least, most, c.Duration)
	case c.At < around || c.At > c.Duration-least:
		return field.New("--at", "must lie between %v and %v before the load ends, found "+
			"%v", around, least, c.At)
	case c.Plot == "" && c.Force:
		return field.New("--force", "means nothing without a file to write")
	case c.Plot != "" && strings.ToLower(filepath.Ext(c.Plot)) != ".png":
		return field.New("--plot", "writes .png, found %s", field.Quote(c.Plot))
	}
	if c.Plot != "" {
		if _, err := newRateLog("", c.Plot, "none", c.Force); err != nil {
			return input.Fault(err)
		}
	}
	plan, err := scenariofile.Network(c.Scenario, c.Set)
	if err != nil {
		return err
	}
	events, err := labEvents(plan)
	if err != nil {
		return err
	}
	ctx, cancel := interruptible()
	defer cancel()
	var moves []labMove
	for i := 0; i < max(1, len(events)); i++ { // of the usual ones a built lab tells the ports
		m, all, err := c.oneEvent(ctx, e, plan, rate, events, i)
		if err != nil {
			return err
		}
		if events = all; !c.JSON {
			moveRow(e.stdout, i, m)
		}
		moves = append(moves, *m)
	}
	if c.JSON {
		err = printJSON(e.stdout, moves)
	} else {
		report.Wrap(e.stdout, "", "moved: from the event on until a tenth or less of what went there "+
			"still does")
	}
	if c.Plot != "" && err == nil {
		err = c.draw(moves)
	}
	return err
}

// labEvents are the scenario's, as far as a lab can do them.
func labEvents(plan *scenario.Plan) (out []labEvent, err error) {
	carried := plan.Default().Carried
	switch {
	case carried == nil || carried.Name != "mrc":
		return nil, plan.Refuse("transport", "lab run loads the fabric by MRC; accepted: mrc (lab up, lab "+
			"rdma "+
			"and lab compare run RC)")
	case carried.Segments:
		return nil, plan.Refuse("transport.forwarding", "srv6, and this machine's kernel hashes; "+
			"accepted: hash")
	case plan.LB.ReadsEVs:
		return nil, plan.Refuse("lb", "%s, and this machine's kernel hashes; accepted: ecmp", plan.LB.Name)
	case plan.IPv6:
		return nil, plan.Refuse("fabric.ip", "6, and labs give hosts IPv4 addresses; accepted: 4")
	}
	f := plan.Settled()
	for i, ev := range f.Events {
		key := field.At("events", i)
		switch {
		case ev.Link == "" || ev.Up == nil && ev.BER == nil || ev.Up != nil && *ev.Up ||
			slices.ContainsFunc(ev.Changes(), func(k string) bool { return k != "up" && k != "bit_error_rate" }):
			return nil, plan.Refuse(key, "a lab does to a link up: false or bit_error_rate, each in a run "+
				"of its "+
				"own, and nothing else")
		case ev.BER != nil:
			const bits = 8 * (4096 + roce.BaseLen)
			loss := 1 - math.Pow(1-*ev.BER, bits)
			out = append(out, labEvent{ev.Link, loss, fmt.Sprintf("link %s, bit_error_rate: "+
				"%.3g", ev.Link, *ev.BER)})
		default:
			out = append(out, labEvent{ev.Link, 0, fmt.Sprintf("link %s, up: false", ev.Link)})
		}
	}
	return out, nil
}

// usualEvents are those where the scenario has none.
func usualEvents(s *lab.State, from, to int) ([]labEvent, error) {
	cut, drained, lossy, err := s.Usual(from, to)
	if err != nil {
		return nil, labError(err)
	}
	const loss = 0.02
	return []labEvent{{cut, 0, "link " + cut + ", up: false"}, {drained, 0,
		"link " + drained + ", up: false"},
		{lossy, loss, fmt.Sprintf("link %s, %g %% lost", lossy, 100*loss)}}, nil
}

// oneEvent builds a lab, has one event happen under load, and removes it.
func (c *labRunCmd) oneEvent(ctx context.Context, e *env, plan *scenario.Plan, rate unit.Rate,
	events []labEvent, i int) (m *labMove, all []labEvent, err error) {
	s, err := lab.Up(ctx, plan.Graph, lab.Options{Name: c.Name, Routing: lab.RoutingStatic, Rate: rate,
		Say: func(string, ...any) {}})
	if err != nil {
		return nil, nil, labError(err)
	}
	defer func() {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		if _, e := lab.Down(clean, c.Name); e != nil {
			err = errors.Join(err, labError(e))
		}
	}()
	from, to, err := s.Ends()
	if err != nil {
		return nil, nil, labError(err)
	}
	if all = events; len(all) == 0 {
		if all, err = usualEvents(s, from, to); err != nil {
			return nil, nil, err
		}
	}
	fault, err := s.Fault(all[i].port, from, to)
	if err != nil {
		return nil, nil, labError(err)
	}
	if m, err = c.load(ctx, s, from, to, &all[i], fault); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", all[i].what, err)
	}
	return m, all, nil
}

// load sends and looks what becomes of it.
func (c *labRunCmd) load(ctx context.Context, s *lab.State, from, to int, ev *labEvent,
	fault *lab.Fault) (*labMove, error) {
	ours, _ := s.Planes(from)
	theirs, arrive := s.Planes(to)
	w := &watch{path: len(fault.Path), ports: 1 + len(fault.Path) + len(arrive), pace: after(c.At)}
	if c.pace != nil {
		w.pace = *c.pace
	}
	var err error
	if w.tap, err = s.Tap(append(append([]string{fault.Port}, fault.Path...), arrive...)...); err != nil {
		return nil, labError(err)
	}
	defer w.tap.Close()
	server, err := c.serve(ctx, s, to, theirs)
	if err != nil {
		return nil, err
	}
	defer server()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var out, says strings.Builder
	cmd := exec.CommandContext(ctx, "ip", "netns", "exec", s.Nodes[from].Namespace, self, "rdma", "write",
		"--to",
		theirs[0], "--transport", "mrc", "--planes", strings.Join(ours, ","), "--duration",
		c.Duration.String(),
		"--depth", "8", "--timeout", "10", "--in-flight", "256KiB", // what ports hold back is a few ms
		"--line-rate", lineOf(s, ours), "--json")
	cmd.Env = append(os.Environ(), "RAILYARD_CHILD=1")
	cmd.Stdout, cmd.Stderr = &out, &says
	if _, err := cmd.StdinPipe(); err != nil { // its end tells the child that we are gone
		return nil, err
	}
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
		return nil, fmt.Errorf("rdma write reported %d sizes of one: %v", len(r.Results), err)
	}
	m, err := w.judge(ev.what)
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

// serve starts the receiver and returns how to end it.
func (c *labRunCmd) serve(ctx context.Context, s *lab.State, to int, planes []string) (stop func(),
	err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "ip", "netns", "exec", s.Nodes[to].Namespace, self, "rdma", "serve",
		"--planes", strings.Join(planes, ","), "--line-rate", lineOf(s, planes))
	cmd.Env = append(os.Environ(), "RAILYARD_CHILD=1")
	var says strings.Builder
	cmd.Stderr = &says
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, "serving") {
		stop()
		return nil, fmt.Errorf("rdma serve: %s%s", line, strings.TrimSpace(says.String()))
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return stop, nil
}

// draw writes the plot: a panel for each event.
func (c *labRunCmd) draw(moves []labMove) error {
	img, err := movePlot(moves)
	if err != nil {
		return err
	}
	return output.Write(c.Plot, c.Force, func(w io.Writer) error {
		_, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(w)
		return err
	})
}

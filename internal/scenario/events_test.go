package scenario_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/scenario"
	"railyard/unit"
)

// eventful resolves the good scenario with more lines.
func eventful(t *testing.T, more string, sets ...string) (*scenario.Plan, error) {
	t.Helper()
	d, err := scenario.Parse("x.yaml", []byte(good+more), sets)
	if err != nil {
		return nil, err
	}
	return d.Resolve(nil)
}

// told prints a plan's events, one per line.
func told(p *scenario.Plan) (lines []string) {
	for _, e := range p.Events {
		s := fmt.Sprintf("%v link %d up %v %v %g", e.At, e.Link, e.Up, e.Rate, e.BER)
		if e.Heard {
			s += fmt.Sprintf(", heard at %v", e.At+e.Converge)
		}
		lines = append(lines, s)
	}
	return lines
}

// Failures are a short form for two events. Both forms give one list in the order of time, in which each event has
// the cable's complete state.
func TestEventsOfAPlan(t *testing.T) {
	short, err := eventful(t, "failures: [{link: 'rail-1:Eth3', at: 1us, until: 9us, converge: 2us}]\n")
	if err != nil {
		t.Fatal(err)
	}
	long, err := eventful(t, `events:
  - {link: 'spine-1:Eth1', at: 9us, up: true, converge: 2us}
  - {link: 'rail-1:Eth3', at: 1us, up: false, converge: 2us}
`)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(short.Events, long.Events) || len(short.Events) != 2 {
		t.Errorf("a failure: %v; its two events, by the cable's other end: %v", told(short), told(long))
	}
	all, err := eventful(t, `failures: [{link: 'rail-1:Eth3', at: 3us, until: 20us, converge: 1us}]
events:
  - {link: 'rail-1:Eth3', at: 5us, rate: 200Gbps, converge: 1s}
  - {link: 'rail-1:Eth3', at: 4us, bit_error_rate: 1e-9}
  - {link: 'rail-2:Eth3', at: 0s, up: false, rate: 1Gbps}
  - {link: 'rail-2:Eth3', at: 6us, up: true, converge: 20us}
  - {link: 'rail-2:Eth3', at: 7us, up: false, rate: 400Gbps, converge: 9us}
  - {link: 'rail-2:Eth3', at: 17us, up: true, bit_error_rate: 0}
  - {link: 'rail-1:Eth3', at: 30us, up: true, rate: 200Gbps}
`)
	if err != nil {
		t.Fatal(err)
	}
	l, _, _ := all.Graph.FindPort("rail-1:Eth3")
	k, _, _ := all.Graph.FindPort("rail-2:Eth3")
	named := strings.NewReplacer("$A", fmt.Sprint("link ", l), "$B", fmt.Sprint("link ", k))
	want := strings.Split(named.Replace(
		`0ps $B up false 1Gbps 0, heard at 0ps
3us $A up false 400Gbps 0, heard at 4us
4us $A up false 400Gbps 1e-09
5us $A up false 200Gbps 1e-09
6us $B up true 1Gbps 0
7us $B up false 400Gbps 0, heard at 16us
17us $B up true 400Gbps 0, heard at 17us
20us $A up true 200Gbps 1e-09, heard at 21us`), "\n")
	if got := told(all); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	note := "events[6] changes nothing: its cable is so at 30us already"
	if !slices.Contains(all.Notes, note) {
		t.Errorf("notes %q", all.Notes)
	}
	set, err := eventful(t, "events: [{link: 'rail-1:Eth3', at: 5us, rate: 200Gbps}]\n",
		"events[0].rate=100Gbps", "events[0].at=7us", "events[0].up=false", "events[0].bit_error_rate=1e-7")
	if err != nil || len(set.Events) != 1 {
		t.Fatalf("set: %v", err)
	}
	if e := set.Events[0]; e.Rate != 100*unit.Gbps || e.At != 7*unit.Microsecond || e.Up || e.BER != 1e-7 {
		t.Errorf("set: %v", told(set))
	}
}

// An impossible event is rejected at its place, with what is possible.
func TestBadEvents(t *testing.T) {
	event := func(s string) string { return "events: [{link: 'rail-1:Eth3', at: 5us, " + s + "}]\n" }
	for _, c := range [][2]string{
		{event("rate: 800Gbps"), "x.yaml:11:41: events[0].rate: 800Gbps is above the 400Gbps of the"},
		{event("rate: 0Gbps"), "x.yaml:11:41: events[0].rate: 0bps is out of range 1Mbps–100Tbps"},
		{event("converge: 1us"), "x.yaml:11:10: events[0]: changes nothing; accepted: up, boot, flap,"},
		{event("up: maybe"), `x.yaml:11:45: events[0].up: found "maybe"; accepted: true, false`},
		{event("down: true"), "x.yaml:11:41: events[0].down: unknown key; accepted: link, switch, ports"},
		{event("bit_error_rate: 1"), "events[0].bit_error_rate: 1 is out of range 0–0.01"},
		{"events: [{link: 'rail-9:Eth3', up: false}]\n",
			`x.yaml:11:11: events[0].link: unknown port "rail-9:Eth3"`},
		{"events: [{link: 'rail-1:Eth3', at: 90000s, up: false}]\n",
			"is out of range 0s–86400s"},
		{event("up: false}, {link: 'spine-1:Eth1', at: 5us, rate: 1Gbps"),
			"events[1].at: events[0] changes that cable at 5us already"},
		{"failures: [{link: 'rail-1:Eth3', at: 1us, until: 5us}]\n" + event("rate: 1Gbps"),
			"x.yaml:12:32: events[0].at: failures[0] changes that cable at 5us already"},
	} {
		text, want := c[0], c[1]
		if _, err := eventful(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
	one := event("up: false")
	for set, want := range map[string]string{
		"events[0].rate=800Gbps": `--set events[0].rate=800Gbps: 800Gbps is above`,
		"events[1].rate=8Gbps":   `--set events[1].rate=8Gbps: unknown name events[1]; entries of lists`,
		"events[-1].rate=8Gbps":  `unknown name events[-1]`,
		"events[0.rate=8Gbps":    `unknown name events[0`,
		"fabric[0].hosts=8":      `unknown name fabric[0]`,
		"events[0]=8":            `the key holds several values; name one of them`,
		"events.rate=8Gbps":      `events is a list: its entries are events[0] and so on`,
		"events=8":               `the key is a list of`,
	} {
		if _, err := eventful(t, one, set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--set %s: %v\nwant %s", set, err, want)
		}
	}
}

// Any two cables may fail if they are never down at the same time. If routes are partitioned at some time a note
// reports it.
func TestConnectedAllTheTime(t *testing.T) {
	line := func(port, at, up, converge string) string {
		return fmt.Sprintf("  - {link: 'seg-1-%s', at: %s, up: %s, converge: %s}\n", port, at, up, converge)
	}
	first := "events:\n" + line("rail-1:Eth3", "1us", "false", "1us") +
		line("rail-1:Eth3", "5us", "true", "1us")
	for name, c := range map[string]struct {
		more string
		good bool
	}{
		"one after the other": {line("rail-1:Eth4", "6us", "false", "1us"), true},
		"both at once":        {line("rail-1:Eth4", "4us", "false", "1us"), false},
		"known at once":       {line("rail-1:Eth4", "5us", "false", "1us"), true},
		"a flap is not known of": {line("rail-1:Eth4", "2us", "false", "9us") +
			line("rail-1:Eth4", "8us", "true", "0s"), true},
	} {
		p, err := eventful(t, first+c.more, "fabric.segments=2", "server.gpus=1", "server.nics=1")
		if err != nil {
			t.Fatal(name, err)
		}
		noted := slices.ContainsFunc(p.Notes, func(n string) bool {
			return strings.Contains(n, "by the routes, the graph is partitioned")
		})
		if noted == c.good {
			t.Errorf("%s: %q", name, p.Notes)
		}
	}
}

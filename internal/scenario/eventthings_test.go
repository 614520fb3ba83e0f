package scenario_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/scenario"
	"railyard/unit"
)

// toggles returns when a plan's cables fail and recover, by the port of their B end.
func toggles(p *scenario.Plan) (lines []string) {
	for _, e := range p.Events {
		if e.Toggles {
			l := p.Graph.Links[e.Link]
			lines = append(lines, fmt.Sprintf("%v %s %v", e.At, p.Graph.End(e.Link, l.B), e.Up))
		}
	}
	slices.Sort(lines)
	return lines
}

// A component fails with all of its cables. A cable held down by two components recovers with the last one.
func TestThingsOfEvents(t *testing.T) {
	for text, want := range map[string]string{
		"{switch: spine-1, at: 1us, boot: 5us}": "1us spine-1:Eth1 false, 1us spine-1:Eth2 false, " +
			"6us spine-1:Eth1 true, 6us spine-1:Eth2 true",
		"{switch: rail-1, ports: [Eth1, Eth2-Eth3], at: 1us, up: false}": "1us rail-1:Eth1 false, " +
			"1us rail-1:Eth2 false, 1us spine-1:Eth1 false",
		"{nic: host-2/nic-1, at: 1us, up: false}": "1us rail-1:Eth2 false",
		"{server: host-2, at: 1us, up: false}":    "1us rail-1:Eth2 false, 1us rail-2:Eth2 false",
		"{link: 'rail-1:Eth3', at: 10us, flap: {period: 4us, duty: 25, count: 2}}": "10us spine-1:Eth1 " +
			"false, 11us spine-1:Eth1 true, 14us spine-1:Eth1 false, 15us spine-1:Eth1 true",
		"{switch: spine-1, at: 1us, up: false}, {link: 'rail-1:Eth3', at: 2us, up: false}, " +
			"{switch: spine-1, at: 3us, up: true}, {link: 'rail-1:Eth3', at: 4us, up: true}": "" +
			"1us spine-1:Eth1 false, 1us spine-1:Eth2 false, 3us spine-1:Eth2 true, 4us spine-1:Eth1 true",
	} {
		p, err := eventful(t, "events: ["+text+"]\n", "fabric.spines=1", "fabric.uplinks=1")
		if err != nil {
			t.Error(err)
			continue
		}
		if got := strings.Join(toggles(p), ", "); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// A rate may apply to one direction, seen from the named port. A share refers to the cable's own rate.
func TestRatesOfOneDirection(t *testing.T) {
	for text, want := range map[string][2]unit.Rate{ // from rail-1, from spine-1
		"link: 'rail-1:Eth3', rate_share: 0.1":                      {40 * unit.Gbps, 40 * unit.Gbps},
		"link: 'rail-1:Eth3', rate: 1Gbps, direction: out":          {unit.Gbps, 400 * unit.Gbps},
		"link: 'spine-1:Eth1', rate: 1Gbps, direction: in":          {unit.Gbps, 400 * unit.Gbps},
		"link: 'spine-1:Eth1', rate: 1Gbps, direction: out":         {400 * unit.Gbps, unit.Gbps},
		"switch: spine-1, rate_share: 0.5, direction: in":           {200 * unit.Gbps, 400 * unit.Gbps},
		"switch: rail-1, ports: [Eth3], rate: 2Gbps":                {2 * unit.Gbps, 2 * unit.Gbps},
		"link: 'spine-1:Eth1', rate_share: 1, bit_error_rate: 1e-9": {400 * unit.Gbps, 400 * unit.Gbps},
	} {
		p, err := eventful(t, "events: [{"+text+"}]\n", "fabric.spines=1")
		if err != nil {
			t.Error(err)
			continue
		}
		l, node, _ := p.Graph.FindPort("rail-1:Eth3")
		for _, e := range p.Events {
			got := [2]unit.Rate{e.Rate, e.Back}
			if p.Graph.Links[l].A != node {
				got[0], got[1] = got[1], got[0]
			}
			if e.Link == l && got != want {
				t.Errorf("%s: %v, want %v", text, got, want)
			}
		}
	}
}

// Ends learn of a broken cable when they detect it, routes a convergence later. An event's value takes precedence
// over the fabric's. Without a detection time all learn of it at once.
func TestDetectAndConverge(t *testing.T) {
	const broken = "events: [{link: 'rail-1:Eth3', at: 5us, up: false%s}]\n"
	for _, c := range []struct {
		event, detect, converge string
		want                    string
	}{
		{"", "", "", "true false 5us"},
		{"", "1us", "2us", "true true 6us 8us"},
		{", converge: 7us", "1us", "2us", "true true 6us 13us"},
		{", detect: 3us, converge: 4us", "1us", "2us", "true true 8us 12us"},
		{", converge: 4us", "", "2us", "true false 9us"},
	} {
		var sets []string
		if c.detect != "" {
			sets = append(sets, "fabric.routing.detect="+c.detect)
		}
		if c.converge != "" {
			sets = append(sets, "fabric.routing.converge="+c.converge)
		}
		p, err := eventful(t, fmt.Sprintf(broken, c.event), sets...)
		if err != nil {
			t.Error(err)
			continue
		}
		e := p.Events[0]
		got := fmt.Sprint(e.Heard, " ", e.Noticed)
		if e.Noticed {
			got += fmt.Sprint(" ", e.At+e.Detect)
		}
		if got += fmt.Sprint(" ", e.At+e.Converge); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// An unsupported event of a component is rejected at its place.
func TestBadThings(t *testing.T) {
	for _, c := range [][2]string{
		{"{at: 1us, up: false}",
			"11:10: events[0]: names nothing; accepted: one of link, switch, nic, server, nvswitch, pcie_switch, ocs and cube"},
		{"{switch: spine-1, nic: host-1/nic-1, up: false}",
			"events[0]: names switch and nic; accepted: one of"},
		{"{switch: spine-9, up: false}",
			`11:11: events[0].switch: unknown switch "spine-9"; names are ` +
				"like rail-1, rail-2, "},
		{"{switch: host-1, up: false}",
			`events[0].switch: unknown switch "host-1"`},
		{"{server: rail-1, up: false}",
			`events[0].server: unknown server "rail-1"; names are`},
		{"{nic: host-1/nic-9, up: false}",
			`events[0].nic: unknown NIC "host-1/nic-9"; names are`},
		{"{nic: host-1/nic-1, ports: [Eth1], up: false}",
			"events[0].ports: belong to a switch"},
		{"{switch: rail-1, ports: [Eth2-Eth99], up: false}",
			`events[0].ports[0]: rail-1 has no cable at ` +
				`"Eth2-Eth99"; its ports with cables are rail-1:Eth1 to`},
		{"{switch: rail-1, ports: [Eth2-Eth1], up: false}",
			"events[0].ports[0]: rail-1 has no cable at"},
		{"{link: 'rail-1:Eth3', boot: 1s}",
			"events[0].boot: only switches boot, not rail-1:Eth3"},
		{"{switch: rail-1, storm: true}",
			"events[0].storm: only a NIC pauses continuously, not"},
		{"{server: host-1, up: true}",
			"events[0]: a server can only go down, for good"},
		{"{server: host-1, rate_share: 0.5}",
			"events[0]: a server can only go down, for good"},
		{"{nic: host-1/nic-1, rate: 800Gbps}",
			"events[0].rate: 800Gbps is above the 400Gbps"},
		{"{nic: host-1/nic-1, rate_share: 1.5}",
			"is out of range 0.0001–1"},
		{"{switch: rail-1, up: false, boot: 1s}",
			"events[0]: has several of up, flap and boot"},
		{"{switch: rail-1, up: false, direction: in}",
			"events[0].direction: is that of a new rate"},
		{"{nic: host-1/nic-1, bit_error_rate: 1e-6, direction: out}",
			"accepted: direction with rate or rate_share (bit_error_rate, up and flap are of both directions)"},
		{"{switch: rail-1, rate: 1Gbps, rate_share: 0.5}",
			"events[0].rate_share: is set, and rate too"},
		{"{switch: rail-1, up: true}",
			"events[0].up: switch rail-1 is up already at 0ps"},
		{"{switch: rail-1, up: false}, {switch: rail-1, at: 1us, up: false}",
			"events[1].at: switch rail-1 is " +
				"down already since 0ps (events[0])"},
		{"{switch: rail-1, boot: 5us}, {switch: rail-1, at: 2us, up: true}",
			"events[1].at: at 2us switch rail-1 " +
				"boots until 5us (events[0])"},
		{"{switch: rail-1, boot: 5us}, {switch: rail-1, at: 2us, boot: 9us}",
			"events[1].at: at 2us switch " +
				"rail-1 boots until 5us (events[0])"},
		{"{link: 'rail-1:Eth3', flap: {period: 4us, count: 3}}, {link: 'spine-1:Eth1', at: 9us, up: false}",
			"" +
				"events[1].at: at 9us rail-1:Eth3 flaps until 10us (events[0])"},
		{"{server: host-1, at: 3us, up: false}, {nic: host-1/nic-1, at: 4us, up: false}",
			"events[1].at: server " +
				"host-1 is gone since 3us (events[0])"},
		{"{link: 'rail-1:Eth3', flap: {period: 3600s, count: 100}}",
			"events[0].flap: continues beyond 86400s"},
		{"{link: 'rail-1:Eth3', flap: {count: 3}}",
			"flap.period: is missing"},
	} {
		text, want := c[0], c[1]
		if _, err := eventful(t, "events: ["+text+"]\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
	_, err := eventful(t, "events: [{nic: host-1/nic-1, storm: true}]\n", "switch.pfc=false")
	if err == nil || !strings.Contains(err.Error(), "events[0].storm: no class is lossless here") {
		t.Error(err)
	}
}

// A storm during another event's storm changes nothing, and one after its end begins anew. Each NIC has its own
// storms.
func TestStormsAlternate(t *testing.T) {
	var events []string
	for i := range 4000 {
		at, on := i+1, i%4 < 2 // twice on, twice off
		events = append(events, fmt.Sprintf("{nic: host-1/nic-%d, at: %dus, storm: %v}", i/2%2+1, at, on))
	}
	p, err := eventful(t, "events: ["+strings.Join(events, ", ")+"]\n")
	if err != nil {
		t.Fatal(err)
	}
	// Pairs alternate between two NICs: nic-1 has those that are on, nic-2 those that are off.
	if len(p.Incidents) != 1 || !p.Incidents[0].(scenario.Storm).On {
		t.Errorf("%d incidents, want one: %+v", len(p.Incidents), p.Incidents[:min(2, len(p.Incidents))])
	}
	for i := range events {
		events[i] = fmt.Sprintf("{nic: host-1/nic-%d, at: %dus, storm: %v}", i%2+1, i+1, i%8 < 4)
	}
	if p, err = eventful(t, "events: ["+strings.Join(events, ", ")+"]\n"); err != nil {
		t.Fatal(err)
	}
	on := map[int]bool{}
	for _, i := range p.Incidents {
		s := i.(scenario.Storm)
		if on[s.NIC] == s.On {
			t.Fatalf("%+v changes nothing", s)
		}
		on[s.NIC] = s.On
	}
	if want := 4000 / 2; len(p.Incidents) != want {
		t.Errorf("%d incidents, want %d", len(p.Incidents), want)
	}
}

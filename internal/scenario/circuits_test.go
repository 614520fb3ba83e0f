package scenario

import (
	"fmt"
	"strings"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// optical is six switches with a server and two fibres to an OCS each, ports 1 to 12 in order.
const optical = `
fabric:
  kind: graph
  allow_deadlock: true
  host_link: {rate: 100Gbps, cable: 3m}
  fabric_link: {rate: 100Gbps, cable: 30m}
  graph:
    hosts: [h1, h2, h3, h4, h5, h6]
    switches: [{name: s1, role: leaf}, {name: s2, role: leaf}, {name: s3, role: leaf}, {name: s4, role: leaf},
      {name: s5, role: leaf}, {name: s6, role: leaf}]
    links:
      - {from: h1, to: s1}
      - {from: h2, to: s2}
      - {from: h3, to: s3}
      - {from: h4, to: s4}
      - {from: h5, to: s5}
      - {from: h6, to: s6}
      - {from: s1, to: ocs-1, count: 2}
      - {from: s2, to: ocs-1, count: 2}
      - {from: ocs-1, to: s3, count: 2}
      - {from: s4, to: ocs-1, count: 2}
      - {from: s5, to: ocs-1, count: 2}
      - {from: s6, to: ocs-1, count: 2}
    ocs:
      - {name: ocs-1, ports: 14, reconfigure: 10ms, circuits: %s,
         schedule: [%s]}
server: {gpus: 1, nics: 1}
workload: {traffic: {flows: [{from: h1/gpu-1, to: h2/gpu-1, bytes: 1MB}]}}
`

const ringOf6 = "[2-3, 4-5, 6-7, 8-9, 10-11, 12-1]"

// At every time exactly the circuits of the current map are lit. Circuits in both maps stay lit during a change,
// and new ones light up after reconfigure.
func TestCircuitsFollowTheirMaps(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string) map[string]bool {
			one := map[string]bool{}
			for ports := rapid.Permutation([]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}).Draw(rt,
				name); len(ports) > 1; {
				a, b := min(ports[0], ports[1]), max(ports[0], ports[1])
				if ports = ports[2:]; (a+1)/2 != (b+1)/2 { // not both at one switch
					one[fmt.Sprintf("%d-%d", a, b)] = true
				}
			}
			return one
		}
		text := func(one map[string]bool) string {
			return "[" + strings.Join(sorted(one), ", ") + "]"
		}
		n := rapid.IntRange(0, 3).Draw(rt, "maps")
		maps, later := []map[string]bool{draw("first")}, ""
		for i := range n {
			maps = append(maps, draw("next"))
			later += fmt.Sprintf("{at: %dms, circuits: %s}, ", 20*(i+1), text(maps[i+1]))
		}
		p, err := resolved(t, fmt.Sprintf(optical, text(maps[0]), later))
		if err != nil && strings.Contains(err.Error(), "partitioned") {
			return // never joined, by any map
		} else if err != nil {
			rt.Fatal(err)
		}
		shines := func(at unit.Time) map[string]bool {
			up := map[int]bool{}
			for i := range p.Graph.Links {
				up[i] = true
			}
			for _, e := range p.Events {
				if e.At <= at {
					up[e.Link] = e.Up
				}
			}
			out := map[string]bool{}
			for i, l := range p.Graph.Links {
				if a, b := p.Graph.Nodes[l.A].Name, p.Graph.Nodes[l.B].Name; up[i] && a[0] == 's' &&
					b[0] == 's' {
					out[a+b] = true
				}
			}
			return out
		}
		joined := func(one map[string]bool, also map[string]bool) map[string]bool {
			out := map[string]bool{}
			for pair := range one {
				if also == nil || also[pair] {
					var a, b int
					fmt.Sscanf(pair, "%d-%d", &a, &b)
					out[fmt.Sprintf("s%ds%d", (a+1)/2, (b+1)/2)] = true
				}
			}
			return out
		}
		for i := range maps {
			at := 20 * unit.Time(i) * unit.Millisecond
			same := func(when unit.Time, want map[string]bool) {
				if got := shines(when); fmt.Sprint(got) != fmt.Sprint(want) {
					rt.Fatalf("at %v %v shine, want %v", when, got, want)
				}
			}
			if i > 0 {
				same(at, joined(maps[i], maps[i-1]))
				same(at+9*unit.Millisecond, joined(maps[i], maps[i-1]))
			}
			same(at+10*unit.Millisecond, joined(maps[i], nil))
		}
	})
}

// sorted are the keys of a set.
func sorted(set map[string]bool) (all []string) {
	for port := 1; port <= 12; port++ {
		for to := port + 1; to <= 12; to++ {
			if pair := fmt.Sprintf("%d-%d", port, to); set[pair] {
				all = append(all, pair)
			}
		}
	}
	return all
}

// A circuit is a cable as long as both fibres together.
func TestACircuitIsACable(t *testing.T) {
	p, err := resolved(t, fmt.Sprintf(optical, ringOf6, ""))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, l := range p.Graph.Links {
		if l.LengthMM == 60_000 && l.Rate == 100*unit.Gbps {
			n++
		}
	}
	if n != 6 || len(p.Events) != 0 || len(p.Dark) != 0 {
		t.Errorf("%d circuits, %d events", n, len(p.Events))
	}
}

func TestCircuitsRefused(t *testing.T) {
	for _, c := range []struct{ circuits, schedule, want string }{
		{"[2-3, 3-5]", "",
			"fabric.graph.ocs[0].circuits[1]: port 3 is in circuit 2-3 already: a map connects each port once"},
		{"[2-2]", "", "circuits[0]: connects port 2 to itself"},
		{"[1-2]", "", "circuits[0]: both ports lead to s1"},
		{"[0-2]", "", "circuits[0]: ocs-1 has no port 0; its ports are 1 to 14"},
		{"[2-15]", "", "circuits[0]: ocs-1 has no port 15"},
		{"[2-13]", "", "circuits[0]: nothing is plugged into port 13 of ocs-1; links take 12 of its 14"},
		{"[2]", "", `circuits[0]: "2" is not a pair of ports; write for example 1-5`},
		{ringOf6, "{at: 5ms, circuits: [1-3, 4-3]}",
			"fabric.graph.ocs[0].schedule[0].circuits[1]: port 3 is in circuit 1-3"},
		{ringOf6, "{at: 5ms, circuits: [1-3]}, {at: 14ms, circuits: [1-3]}",
			"schedule[1].at: 14ms is too early: the map before connects from 15ms on"},
		{ringOf6, "{at: 0s, circuits: [1-3]}", "schedule[0].at: 0ps is too early"},
	} {
		_, err := resolved(t, fmt.Sprintf(optical, c.circuits, c.schedule))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(),
			"x.yaml:2") {
			t.Errorf("%s %s: %v, want %q", c.circuits, c.schedule, err, c.want)
		}
	}
	whole := fmt.Sprintf(optical, ringOf6, "")
	for change, want := range map[[2]string]string{
		{"{from: h1, to: s1}", "{from: h1, to: ocs-1}"}: "links[0]: h1 is a server: an OCS connects switches",
		{"ports: 14", "ports: 11"}:                      "links[11]: ocs-1 has 11 ports, and all are taken",
		{"name: ocs-1", "name: s3"}:                     `ocs[0].name: "s3" is repeated`,
		{"count: 2}\n      - {from: s2",
			"count: 2, rate: 50Gbps}\n      - {from: s2"}: "circuits[0]: connects 50Gbps of s1 to 100Gbps of s2: a circuit has one rate",
	} {
		_, err := resolved(t, strings.Replace(whole, change[0], change[1], 1))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", change, err, want)
		}
	}
}

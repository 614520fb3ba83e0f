package scenario_test

import (
	"strings"
	"testing"

	"railyard/internal/scenario"
	"railyard/internal/topo"
	"railyard/unit"
)

// NICs classify as the switch they are cabled to: a spine's text, which no NIC meets, says nothing of them.
func TestNICsClassifyAsTheirLeaf(t *testing.T) {
	for keys, want := range map[string]struct {
		queue uint8 // of DSCP 26
		file  int
		note  string
	}{
		"{spine: a.cfg}": {0, 24, ""},
		"{spine-1: a.cfg, rail-2: a.cfg}": {0, 24,
			"DSCP 24 goes to queue 3 on rail-1 and to queue 0 on rail-2"},
		"{rail: a.cfg}":   {4, 24, ""},
		"{config: a.cfg}": {4, 26, ""},
	} {
		d, err := scenario.Parse("x.yaml", []byte(good+"switches: "+keys+"\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Resolve(texts(map[string]string{"a.cfg": nxos}))
		if err != nil {
			t.Fatal(err)
		}
		if p.Spec.DSCP[26] != want.queue {
			t.Errorf("%s: NICs put DSCP 26 into queue %d, want %d", keys, p.Spec.DSCP[26], want.queue)
		}
		if p.Settled().Switch.DSCP[want.file] == 0 {
			t.Errorf("%s: what is resolved has %v, want one of DSCP %d", keys,
				p.Settled().Switch.DSCP, want.file)
		}
		notes := strings.Join(p.Notes, "\n")
		if said := strings.Contains(notes, "all NICs classify as"); said != (want.note != "") ||
			!strings.Contains(notes, want.note) {
			t.Errorf("%s: notes %q, want %q", keys, p.Notes, want.note)
		}
	}
}

// What stands on ports and in operators' words is read like ours; what could be two things is asked about.
func TestWordsOfOperators(t *testing.T) {
	const graph = `
fabric:
  kind: graph
  host_link: {rate: 400G}
  graph:
    hosts: [a, b]
    switches: [{name: x, role: tor}, {name: y, role: agg, tier: 2}, {name: z, role: leaf}]
    links: [{from: a, to: x, rate: 200GbE}, {from: b, to: z}, {from: x, to: y, rate: 1.6T}, {from: z, to: y}]
server: {gpus: 1, nics: 1}
workload: {traffic: {permutation: {bytes: 1MB}}}
`
	resolve := func(more string, sets ...string) (*scenario.Plan, error) {
		d, err := scenario.Parse("x.yaml", []byte(graph+more), sets)
		if err != nil {
			return nil, err
		}
		return d.Resolve(texts(map[string]string{"a.cfg": nxos}))
	}
	p, err := resolve("switches: {ToR: a.cfg}\n")
	if err != nil {
		t.Fatal(err)
	}
	if g := p.Graph; g.Nodes[g.Node("x")].Role != topo.Leaf ||
		g.Nodes[g.Node("y")].Role != topo.Aggregation || g.Links[0].Rate != 200*unit.Gbps ||
		g.Links[1].Rate != 400*unit.Gbps || g.Links[2].Rate != 1600*unit.Gbps {
		t.Errorf("%+v %+v", g.Nodes, g.Links)
	}
	for name, queue := range map[string]uint8{"x": 4, "z": 4, "y": 0} {
		if got := p.SpecOf(p.Graph.Node(name)).DSCP[26]; got != queue {
			t.Errorf("%s puts DSCP 26 into queue %d, want %d", name, got, queue)
		}
	}
	for _, c := range []struct{ more, set, want string }{
		{"switches: {leaf: a.cfg, tor: a.cfg}\n", "seed=1",
			"switches.tor: the role leaf has its text from switches.leaf already"},
		{"", "server.nvlink=450G", `"450G" could be bits or bytes; write for example 450GB/s or 450Gbps`},
		{"", "server.pcie=50 G", `could be bits or bytes; write for example 50GB/s`},
		{"", "fabric.host_link.rate=400GB", `"400GB" is not a rate`},
	} {
		if _, err := resolve(c.more, c.set); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s%s: %v, want %q", c.more, c.set, err, c.want)
		}
	}
	d, err := scenario.Parse("x.yaml", []byte(good+"switches: {tor: a.cfg}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Resolve(texts(map[string]string{"a.cfg": nxos})); err == nil ||
		!strings.Contains(err.Error(), `did you mean "rail"?`) {
		t.Error(err)
	}
}

// What no configuration can say stays as the switch block has it, also where configurations cover all switches.
func TestConfigurationsKeepWhatTheyCannotSay(t *testing.T) {
	text := strings.Replace(good, "spines: 2", "spines: 2\n  uplinks: 4\n  lag: 2", 1) +
		"switches: {config: a.cfg}\nswitch: {lag_seed: ecmp, hash_seed: same}\n"
	d, err := scenario.Parse("x.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Resolve(texts(map[string]string{"a.cfg": nxos}))
	if err != nil {
		t.Fatal(err)
	}
	if s := p.SpecOf(p.Graph.Node("rail-1")); s.DSCP[26] != 4 || !s.SameLagSeed || !s.SameSeed {
		t.Errorf("rail-1 runs %+v", s)
	}
	_, values := p.Resolved()
	for key, want := range map[string]string{"switch.lag_seed": "ecmp", "switch.hash_seed": "same",
		"switch.queues.4.probability": "3"} {
		if values[key] != want {
			t.Errorf("%s is %q, want %q", key, values[key], want)
		}
	}
}

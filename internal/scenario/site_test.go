package scenario

import (
	"railyard/scenarios"
	"slices"
	"strings"
	"testing"

	"railyard/unit"
)

const rails = `fabric:
  types:
    host: {gpus: 4, nics: 4, nic_rate: 200Gbps}
    leaf: {ports: 8x400Gbps, split: 2}
    spine: {like: leaf, role: spine}
  nodes:
    host: {type: host, per: {su: 2}, count: 3}
    leaf: {type: leaf, per: {su: 2, rail: 4}}
    spine: {type: spine, count: 2}
  cables:
    - {from: host, to: leaf, same: su, match: {rail: nic}, length: 10m}
    - {from: leaf, to: spine, rate: 400Gbps, fec: 100ns}
workload:
  traffic: {permutation: {bytes: 1MB}}
`

// asLists is the same scenario with types and nodes as lists, and every value as text.
const asLists = `fabric:
  types:
    - {name: host, gpus: 4, nics: 4, nic_rate: 200Gbps}
    - {name: leaf, ports: 8x400Gbps, split: 2}
    - {name: spine, like: leaf, role: spine}
  nodes:
    - {name: host, type: host, per: {su: 1-2}, count: 3}
    - {name: leaf, type: leaf, per: {su: "2", rail: "1,2-4"}}
    - {name: spine, type: spine, count: 2}
  cables:
    - {from: host, to: leaf, same: [su], match: {rail: nic}, length: 10m}
    - {from: leaf-*, to: "spine-[1-2]", rate: 400Gbps, fec: 100ns}
workload:
  traffic: {permutation: {bytes: 1MB}}
`

func resolved(t testing.TB, text string, sets ...string) (*Plan, error) {
	t.Helper()
	d, err := Parse("x.yaml", []byte(text), sets)
	if err != nil {
		return nil, err
	}
	return d.Resolve(scenarios.File)
}

// A fabric parses equally in every form of its lists, and its cables follow the rules.
func TestDescribedFabric(t *testing.T) {
	var dots []string
	for _, text := range []string{rails, asLists} {
		p, err := resolved(t, text)
		if err != nil {
			t.Fatal(err)
		}
		dots = append(dots, p.Graph.Dot())
		if g := p.Graph; g.TotalGPUs() != 24 || len(g.NICs) != 24 || len(g.Links) != 24+16 {
			t.Errorf("%d GPUs, %d NICs, %d cables", g.TotalGPUs(), len(g.NICs), len(g.Links))
		}
		up := p.Graph.Links[24]
		if got := up.Propagation().String(); got != "251.516ns" { // 30 m, and FEC
			t.Errorf("a cable to a spine takes %s", got)
		}
	}
	if dots[0] != dots[1] {
		t.Errorf("%s\n%s", dots[0], dots[1])
	}
}

// --set reaches into a group by its name.
func TestSetInDescribedFabric(t *testing.T) {
	p, err := resolved(t, rails, "fabric.nodes.host.count=2", "fabric.types.leaf.split=1")
	if err != nil || p.Graph.TotalGPUs() != 16 {
		t.Fatal(p.Graph.TotalGPUs(), err)
	}
	p, err = resolved(t, rails, "fabric.nodes.host.per.su=1", "fabric.nodes.leaf.per.su=1")
	if err != nil || p.Graph.TotalGPUs() != 12 || len(p.Graph.Links) != 12+8 {
		t.Fatal(len(p.Graph.Links), err)
	}
	for set, want := range map[string]string{
		"fabric.nodes.hots.count=2": `unknown name "hots" ` +
			`(did you mean "host"?); accepted: host, leaf, spine`,
		"fabric.nodes.host.per=2":      "the key holds several values (su: 2); name one of them",
		"fabric.nodes.host.per.rail=2": `unknown name "rail"; accepted: su`,
		"fabric.nodes.host.per.su.x=2": "su has no keys below it",
		"fabric.nodes.leaf.per.su=x":   `"x" is not a list of numbers`,
		"fabric.nodes.host.count=13":   "leaf-1-1 has more cables than ports: 13 by cables[0] (host to leaf)",
		"fabric.types.leaf.ports=1x1":  `"1" is not a rate`,
	} {
		if _, err := resolved(t, rails, set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", set, err, want)
		}
	}
}

// Every fault has the place of the rule that has it.
func TestFaultsOfDescribedFabrics(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"type: leaf,", "type: lief,", `x.yaml:8:12: fabric.nodes.leaf.type: unknown type "lief"`},
		{"su: 2, rail: 4", "su: 2, rail: x", "x.yaml:8:37: fabric.nodes.leaf.per.rail:"},
		{"rail: nic}, length", "rail: card}, length",
			`x.yaml:11:48: fabric.cables[0].match.rail: host has no place "card"`},
		{"fabric:\n", "fabric:\n  kind: rail\n", "x.yaml:2:3: fabric.kind: rail is a pattern of its own"},
		{"fabric:\n", "fabric:\n  spines: 4\n",
			"x.yaml:2:3: fabric.spines: has no effect on a fabric of types, nodes and cables"},
		{"    spine: {type", "    leaf: {type", "mapping key \"leaf\" already defined at [8:5]"},
		{"rate: 400Gbps, fec", "rate: 800Gbps, fec",
			"x.yaml:12:31: fabric.cables[1].rate: 800Gbps is more than the 400Gbps"},
		{"length: 10m", "lenght: 10m", `fabric.cables[0].lenght: unknown key (did you mean "length"?)`},
		{"  cables:\n", "  cables: 3\n  cabels:\n", "fabric.cables: found \"3\", expected a list"},
		{"count: 3}", "count: 300000}", "fabric.nodes.host.count: 300000 is out of range"},
		{"{gpus: 4,", "{name: h, gpus: 4,", "fabric.types.host.name: the key is the name already"},
	} {
		text := strings.Replace(rails, c.from, c.to, 1)
		if text == rails {
			t.Fatalf("%q is not in the text", c.from)
		}
		if _, err := resolved(t, text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: %v\nwant %s", c.to, c.from, err, c.want)
		}
	}
}

// The cables of a rule may be changed and added, and are checked like those of the file.
func TestSetMatch(t *testing.T) {
	plain, err := resolved(t, rails)
	if err != nil {
		t.Fatal(err)
	}
	bare := strings.Replace(rails, "match: {rail: nic}, ", "", 1)
	added, err := resolved(t, bare, "fabric.cables[0].match.rail=nic")
	if err != nil || !slices.Equal(plain.Graph.Links, added.Graph.Links) {
		t.Errorf("added: %v, not the cables of the file that says it", err)
	}
	if _, err := resolved(t, bare, "fabric.cables[0].match.rack=nic"); err == nil ||
		!strings.Contains(err.Error(), `leaf has no place "rack"`) {
		t.Errorf("a place that is none: %v", err)
	}
	if _, err := resolved(t, rails, "fabric.nodes.host.per.match=2"); err == nil {
		t.Error("a place was added")
	}
}

// A type based on another may have no GPUs, such as storage based on a host.
func TestNoGPUsWhereTheOtherHasSome(t *testing.T) {
	like := strings.Replace(rails, "    leaf: {ports",
		"    twin: {like: host, gpus: 0}\n    leaf: {ports", 1)
	like = strings.Replace(like, "  nodes:\n", "  nodes:\n    twin: {type: twin, per: {su: 2}}\n", 1)
	like = strings.Replace(like, "    - {from: leaf",
		"    - {from: twin, to: leaf, same: su, match: {rail: nic}}\n    - {from: leaf", 1)
	for _, c := range []struct {
		sets []string
		gpus int
	}{
		{nil, 24},
		{[]string{"fabric.types.twin.gpus=3"}, 30},
		{[]string{"fabric.types.host.gpus=2"}, 12},
	} {
		p, err := resolved(t, like, c.sets...)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Graph.TotalGPUs(); got != c.gpus {
			t.Errorf("%v: %d GPUs, want %d", c.sets, got, c.gpus)
		}
	}
}

// A rate of congestion control is checked against the slowest NIC, not the first one.
func TestRatesAgainstTheSlowestNIC(t *testing.T) {
	slow := strings.Replace(rails, "    leaf: {ports",
		"    slow: {like: host, nic_rate: 100Gbps}\n    leaf: {ports", 1)
	slow = strings.Replace(slow, "    leaf: {type",
		"    slow: {type: slow, per: {su: 2}}\n    leaf: {type", 1)
	slow = strings.Replace(slow, "    - {from: leaf",
		"    - {from: slow, to: leaf, same: su, match: {rail: nic}}\n    - {from: leaf", 1)
	_, err := resolved(t, slow, "cc.dcqcn.min_rate=150Gbps")
	if want := "cc.dcqcn.min_rate=150Gbps: 150Gbps is above the line rate of 100Gbps"; err == nil ||
		!strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err := resolved(t, slow, "cc.dcqcn.min_rate=100Gbps"); err != nil {
		t.Error(err)
	}
}

// A switch has the packet memory of its type, else of its model unless the switch block sets one.
func TestPacketMemoryOfTypes(t *testing.T) {
	spine := func(p *Plan) unit.Bytes { return p.SpecOf(len(p.Graph.Nodes) - 1).Buffer }
	leaf := func(p *Plan) unit.Bytes { return p.SpecOf(p.Graph.Links[0].B).Buffer }
	const model = "fabric.types.spine.model=tomahawk4"
	for _, c := range []struct {
		sets        []string
		leaf, spine unit.Bytes
	}{
		{nil, 0, 0}, // the platform's
		{[]string{"fabric.types.leaf.buffer=20MB"}, 20 * unit.MB, 20 * unit.MB}, // it is based on leaf
		{[]string{model}, 0, 113620296},
		{[]string{model, "switch.buffer=50MB"}, 50 * unit.MB, 50 * unit.MB},
		{[]string{model, "switch.buffer=50MB", "fabric.types.spine.buffer=30MB"}, 50 * unit.MB, 30 * unit.MB},
	} {
		p, err := resolved(t, rails, c.sets...)
		if err != nil {
			t.Fatal(err)
		}
		if c.leaf == 0 {
			c.leaf = p.Base.Buffer
		}
		if c.spine == 0 {
			c.spine = p.Base.Buffer
		}
		if leaf(p) != c.leaf || spine(p) != c.spine || p.Spec.Buffer != c.leaf {
			t.Errorf("%v: leaf %v, spine %v, NICs' %v; want %v and %v", c.sets, leaf(p), spine(p),
				p.Spec.Buffer, c.leaf, c.spine)
		}
	}
	for set, want := range map[string]string{
		"fabric.types.leaf.buffer=-1MB": "buffer",
		"fabric.types.leaf.buffer=99GB": "fabric.types.leaf.buffer=99GB: 99GB is out of range",
		"fabric.types.leaf.buffer=2MB":  "is above the buffer of 2MB",
		"fabric.types.host.buffer=2MB":  "has no role, tier, ports, lanes, rail_map, rail_ports",
	} {
		if _, err := resolved(t, rails, set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", set, err, want)
		}
	}
}

// A switch has the pipeline latency of its type, and headroom for it; others have fabric.pipeline.
func TestPipelineOfTypes(t *testing.T) {
	p, err := resolved(t, rails, "fabric.types.leaf.pipeline=500ns", "fabric.types.spine.pipeline=900ns",
		"fabric.pipeline=100ns")
	if err != nil {
		t.Fatal(err)
	}
	spine := len(p.Graph.Nodes) - 1
	leaf := p.Graph.Links[0].B
	for node, want := range map[int]unit.Time{leaf: 500 * unit.Nanosecond, spine: 900 * unit.Nanosecond,
		p.Graph.Hosts[0]: 100 * unit.Nanosecond} {
		if got := p.Graph.Nodes[node].Through(p.Switching.Pipeline); got != want {
			t.Errorf("%s takes %v, want %v", p.Graph.Nodes[node].Name, got, want)
		}
	}
	last := len(p.Graph.Links) - 1 // leaf to spine, equal at both ends except for the pipelines
	more := p.reserve(last, spine, 3) - p.reserve(last, p.Graph.Links[last].A, 3)
	if want := unit.InTime(p.Graph.Links[last].Rate, 400*unit.Nanosecond); more < want*9/10 || more > want {
		t.Errorf("the spine keeps %v more, 400 ns at its rate are %v", more, want)
	}
}

package scenario_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"railyard/internal/scenario"
)

const dragonfly = `name: x
fabric: {kind: dragonfly, k: 2, groups: 5, host_link: {rate: 100Gbps, cable: 3m}}
workload: {traffic: {alltoall: {bytes: 1MB}}}
`

// describedFly is a dragonfly whose groups have a spine each.
const describedFly = `name: x
fabric: {types: {host: {gpus: 1, nics: 1}, leaf: {}, spine: {role: spine}}, regions: group,
  host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps},
  nodes: {host: {type: host, per: {group: 4}, count: 3}, leaf: {type: leaf, per: {group: 4, leaf: 3}},
    spine: {type: spine, per: {group: 4}}},
  cables: [{from: host, to: leaf, same: group, match: {leaf: n}}, {from: leaf, to: spine, same: group},
    {from: spine, to: spine, between: group}]}
workload: {traffic: {permutation: {bytes: 1MB}}}
`

func resolveLB(text string, sets ...string) (*scenario.Plan, error) {
	d, err := scenario.Parse("x.yaml", []byte(text), sets)
	if err != nil {
		return nil, err
	}
	return d.Resolve(nil)
}

// A policy's parameters are written if it runs, and otherwise not, except for those that were always written.
func TestParametersOfThePolicy(t *testing.T) {
	for lb, want := range map[string]string{
		"ecmp": "", "entropy": "source_ports 16", "valiant": "per_packet false",
	} {
		p, err := resolveLB(dragonfly, "lb="+lb)
		if err != nil {
			t.Fatal(err)
		}
		_, v := p.Resolved()
		for _, key := range []string{"source_ports", "per_packet"} {
			got, ok := v["lb_options."+key]
			if name, value, _ := strings.Cut(want, " "); ok != (name == key) || ok && got != value {
				t.Errorf("lb %s: lb_options.%s is %q", lb, key, got)
			}
		}
		if v["lb_options.flowlet_gap"] == "" {
			t.Errorf("lb %s: no flowlet_gap", lb)
		}
	}
	p, err := resolveLB(dragonfly, "lb=entropy", "lb_options.source_ports=8")
	if err != nil || p.LBValues["source_ports"] != 8 {
		t.Errorf("%+v, %v", p, err)
	}
}

// Each kind of spraying prints its effect on go-back-N; hashing does not.
func TestNoteOnReordering(t *testing.T) {
	for sets, want := range map[string]bool{
		"lb=ecmp": false, "lb=spray": true, "lb=entropy": true, "lb=valiant": false,
		"lb=entropy lb_options.source_ports=1": false, "lb=valiant lb_options.per_packet=true": true,
		"lb=entropy transport.recovery=selective": false} {
		p, err := resolveLB(dragonfly, strings.Fields(sets)...)
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(p.Notes, "\n")
		if got := strings.Contains(notes, "go-back-N treats every gap as loss"); got != want {
			t.Errorf("%s: the note is there: %v", sets, got)
		}
	}
	bundle, err := os.ReadFile("../../scenarios/clusters/pollara.yaml") // also sprays over a NIC's ports
	if err != nil {
		t.Fatal(err)
	}
	for _, bond := range []string{"spray", "affinity"} {
		p, err := resolveLB(string(bundle), "lb=ecmp", "transport.recovery=go-back-n", "server.bond="+bond)
		if err != nil {
			t.Fatal(err)
		}
		if p.Mixes() != (bond == "spray") {
			t.Errorf("bond %s: packets overtake one another: %v", bond, p.Mixes())
		}
	}
}

// Credit comes back from lossless queues alone: where data has none, UGAL's credits have no effect, set or not.
func TestCreditsWithoutPFC(t *testing.T) {
	fly, err := os.ReadFile("../../scenarios/dragonfly-load.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		sets []string
		note bool
	}{
		{[]string{"lb=ugal"}, false},
		{[]string{"lb=ugal", "switch.pfc=false"}, true},
		{[]string{"lb=ugal", "switch.pfc=false", "lb_options.credits=true"}, true},
		{[]string{"lb=ugal", "switch.pfc=false", "lb_options.credits=false"}, false},
		{[]string{"lb=ugal-g", "switch.pfc=false"}, false},
		{[]string{"lb=minimal", "switch.pfc=false"}, false},
	} {
		p, err := resolveLB(string(fly), c.sets...)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(p.Notes, "\n"), "lb_options.credits has no effect"); got != c.note {
			t.Errorf("%v: noted %v, want %v: %q", c.sets, got, c.note, p.Notes)
		}
	}
}

// Detours need groups to go by and classes to rise through.
func TestDetoursRefused(t *testing.T) {
	for sets, want := range map[string]string{
		"fabric.kind=fat-tree fabric.groups=0 fabric.k=4": "has 0 groups; accepted: fabric.kind dragonfly",
		"fabric.kind=torus fabric.groups=0 lb=ugal":       "ugal compares paths between groups of switches",
		"fabric.kind=torus fabric.groups=0 fabric.k=4 switch.dscp.1=4": "valiant needs 4 classes for " +
			"lossless traffic, against deadlock: leaf-1-1-1: lossless queue 3 needs 3 more above it",

		"lb=dimension-order":  "follows the dimensions of a torus, and this fabric is not a torus",
		"lb=minimal-adaptive": "accepted: fabric.kind torus",
		"fabric.kind=torus fabric.groups=0 fabric.k=4 lb=minimal-adaptive switch.queues.5.strict=true " +
			"switch.queues.6.strict=true switch.queues.5.alpha=1 switch.queues.6.alpha=1 switch.dscp.1=4 " +
			"switch.queues.4.alpha=1": "minimal-adaptive needs 3 classes for lossless traffic, " +
			"against deadlock: leaf-1-1-1: lossless queue 3 needs 2 more above it",
		"fabric.groups=2": "valiant sends packets across groups of switches that are neither",
		"switch.dscp.1=4 switch.queues.5.strict=true switch.queues.6.strict=true switch.queues.5.alpha=1 " +
			"switch.queues.6.alpha=1 switch.queues.4.alpha=1": "valiant needs 3 classes for lossless traffic",
		"lb_options.per_packet=maybe":   `found "maybe"; accepted: true, false`,
		"lb=valiants":                   `(did you mean "valiant"?); accepted: ecmp, ecmp-resilient, flowlet, spray`,
		"lb_options.source_ports=0":     "0 is out of range 1–256",
		"lb_options.source_ports=1000":  "is out of range 1–256",
		"lb_options.per_packets=true":   "unknown key",
		"lb_options.detours=everywhere": "unknown key",
	} {
		_, err := resolveLB(dragonfly, append([]string{"lb=valiant"}, strings.Fields(sets)...)...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", sets, err)
		}
	}
	above := strings.Replace(describedFly, "regions: group", "regions: leaf", 1)
	for text, want := range map[string]string{
		describedFly: "",
		above:        "in a group, and spine-1 is in none: it is not at the place",
		strings.Replace(describedFly, "regions: group", "regions: grup", 1): "2:77: fabric.regions: no " +
			`switch is at a "grup" (did you mean "group"?)`,
		strings.Replace(dragonfly, "k: 2,", "k: 2, regions: group,", 1): "fabric.regions: has no effect " +
			"on a dragonfly fabric",
	} {
		_, err := resolveLB(text, "lb=valiant")
		if want == "" && err != nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, lb := range []string{"reps", "bitmap", "mixed"} {
		_, err := resolveLB(dragonfly + "lb: " + lb + "\nlb_options: {source_ports: 1}\n")
		if err == nil || !strings.HasPrefix(err.Error(), "x.yaml:5:14: lb_options.source_ports: 1 is") {
			t.Errorf("%s with one path: %v", lb, err)
		}
	}
	for sets, want := range map[string]bool{"lb=reps": false, "lb=reps transport.recovery=selective": true,
		"cc.algorithm=nscc transport.recovery=selective": true, "transport.recovery=selective": false} {
		p, err := resolveLB(dragonfly, strings.Fields(sets)...)
		if err != nil || p.RC.Named != want {
			t.Errorf("%s: acknowledgements name packets: %v, %v", sets, p.RC.Named, err)
		}
	}
	small := strings.Replace(dragonfly, "groups: 5", "groups: 2", 1)
	_, err := resolveLB(small + "lb: valiant\n")
	if err == nil || !strings.HasPrefix(err.Error(), "x.yaml:4:") {
		t.Errorf("the place: %v", err)
	}
}

// The classes are the switch block's queues, as configured or as copies, and a note names which.
func TestClassesOfDetours(t *testing.T) {
	p, err := resolveLB(dragonfly, "lb=valiant", "switch.queues.5.lossless=true", "switch.queues.5.xoff=70KB",
		"switch.queues.5.xon=7KB", "switch.queues.5.weight=10", "switch.queues.0.weight=40")
	if err != nil {
		t.Fatal(err)
	}
	q := p.SpecOf(p.Graph.Regions[0][0]).Queues
	if string(p.Rise[3]) != "\x03\x04\x05" || q[4].XOff != q[3].XOff || q[5].XOff != 70_000 ||
		q[3].Weight+q[4].Weight != 50 {
		t.Errorf("class 3 rises over %v; %+v", p.Rise[3], q[3:6])
	}
	if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, "queue 3 go on in queues [4 5]") {
		t.Errorf("notes %s", notes)
	}
	p, err = resolveLB(dragonfly, "lb=valiant", "switch.queues.3.lossless=false", "switch.queues.3.xoff=0B",
		"switch.queues.3.alpha=1")
	if err != nil || len(p.Rise[3]) != 1 {
		t.Errorf("a lossy class rises over %v, %v", p.Rise[3], err)
	}
}

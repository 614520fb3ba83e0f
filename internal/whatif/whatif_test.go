package whatif

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/facts"
	"railyard/unit"
)

// fabrics are two racks of four hosts below two spines, as a kind and described.
var fabrics = map[string]string{
	"rail": `
fabric: {kind: rail, hosts: 4, segments: 2, spines: 2, uplinks: 1, pipeline: 400ns,
  host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
`,
	"described": `
fabric:
  types:
    host: {gpus: 1, nics: 1, nic_rate: 100Gbps}
    leaf: {ports: 24x100Gbps}
    spine: {like: leaf, role: spine}
  nodes:
    host: {type: host, count: 8}
    leaf: {type: leaf, per: {rack: 2}}
    spine: {type: spine, count: 2}
  cables:
    - {from: host, to: leaf, match: {rack: n/4}, length: 3m}
    - {from: leaf, to: spine, length: 30m}
  fabric_link: {rate: 100Gbps}
`}

var carriers = []string{"roce", "srd", "falcon", "eqds", "uec", "mrc"}

// run simulates a scenario with a change.
func run(t *testing.T, text string, c cause.Change, sets ...string) *Outcome {
	t.Helper()
	s := &Scenario{Name: "x.yaml", Text: []byte(text), Sets: sets}
	o, err := s.Run(&c, Limits{Time: unit.Second})
	if err != nil {
		t.Fatalf("%s\n%v: %v", text, c, err)
	}
	return o
}

// TestFastReceivers checks that an incast takes as long as one of its flows where receivers' links are fast, whatever
// carries it, and that all-to-all, whose receivers send as much, is not faster than its senders' links.
func TestFastReceivers(t *testing.T) {
	for kind, fabric := range fabrics {
		for _, carrier := range carriers {
			t.Run(kind+"/"+carrier, func(t *testing.T) {
				t.Parallel()
				set := "transport=" + carrier
				incast := fabric + "workload: {traffic: {flows: ["
				for i := range 3 {
					incast += fmt.Sprintf("{from: host-%d/gpu-1, to: host-1/gpu-1, bytes: 2MB}, ", i+2)
				}
				incast += "]}}"
				fast := cause.Change{Edits: []cause.Edit{cause.FastReceivers}}
				one := fabric + "workload: {traffic: {flows: [{from: host-2/gpu-1, to: host-1/gpu-1, bytes: 2MB}]}}"
				alone, all := run(t, one, cause.Change{}, set).Summary.StepTime,
					run(t, incast, cause.Change{}, set).Summary.StepTime
				if without := run(t, incast, fast, set).Summary.StepTime; all < 5*alone/2 || 10*without > 11*alone {
					t.Errorf("one takes %v, three %v, and %v without incast", unit.Time(alone), unit.Time(all),
						unit.Time(without))
				}
				swap := fabric + "workload: {traffic: {flows: [{from: host-2/gpu-1, to: host-1/gpu-1, bytes: 2MB}, " +
					"{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 2MB}]}}"
				if without := run(t, swap, fast, set).Summary.StepTime; without < alone*98/100 {
					t.Errorf("one takes %v, an exchange %v with fast receivers", unit.Time(alone), unit.Time(without))
				}
			})
		}
	}
}

// TestFastFabric checks that three flows over two uplinks take as long as one where links between switches are fast,
// and that lossless switches still lose nothing.
func TestFastFabric(t *testing.T) {
	for kind, fabric := range fabrics {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			text := fabric + "workload: {traffic: {flows: ["
			for i := range 4 {
				text += fmt.Sprintf("{from: host-%d/gpu-1, to: host-%d/gpu-1, bytes: 2MB}, ", i+1, i+5)
			}
			text += "]}}\ncc: {algorithm: none}\n"
			before := run(t, text, cause.Change{}).Summary
			after := run(t, text, cause.Oversubscription.Get().Without(&cause.Facts{FabricRate: 1})).Summary
			least := int64(unit.Serialize(2*unit.MB, 100*unit.Gbps))
			if before.StepTime < 2*least || after.StepTime > least*11/10 || after.StepTime < least || after.Drops > 0 {
				t.Errorf("%v before, %v after, %d drops", unit.Time(before.StepTime), unit.Time(after.StepTime),
					after.Drops)
			}
		})
	}
}

// TestCodedRates checks that rates which telemetry must name stay such: an incast under HPCC takes as long as
// one flow.
func TestCodedRates(t *testing.T) {
	one := fabrics["rail"] + "workload: {traffic: {flows: [{from: host-2/gpu-1, to: host-1/gpu-1, bytes: 4MB}]}}\n"
	three := fabrics["rail"] + "workload: {traffic: {incast: {bytes: 4MB, fan_in: 3, target: host-1/gpu-1}}}\n"
	alone, all := run(t, one, cause.Change{}, "cc.algorithm=hpcc").Summary, run(t, three, cause.Change{Edits: []cause.Edit{
		cause.FastReceivers, cause.FastFabric}}, "cc.algorithm=hpcc").Summary
	if 10*all.StepTime > 11*alone.StepTime {
		t.Errorf("one takes %v, three without incast %v", unit.Time(alone.StepTime), unit.Time(all.StepTime))
	}
}

// TestEdits checks the edits that take something out: each gives the time of a scenario that never had it.
func TestEdits(t *testing.T) {
	const one = "workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-5/gpu-1, bytes: 2MB}]}}\n"
	fabric := fabrics["rail"]
	plain := fabric + one
	for _, c := range []struct {
		name, with, plain string
		edits             []cause.Edit
	}{
		{"bit errors", strings.Replace(plain, "cable: 30m", "cable: 30m, bit_error_rate: 1e-6", 1), plain,
			[]cause.Edit{cause.NoBitErrors}},
		{"bit errors by event", plain + "events: [{switch: spine-1, at: 1us, bit_error_rate: 1e-6}, " +
			"{switch: spine-2, at: 1us, bit_error_rate: 1e-6}]\n", plain, []cause.Edit{cause.NoBitErrors}},
		{"PCIe", plain + "deviations: [{node: host-5, pcie: 50Gbps}]\n", plain, []cause.Edit{cause.NoPCIe}},
		{"PCIe of all", strings.Replace(plain, "nics: 1", "nics: 1, pcie: 50Gbps", 1), plain,
			[]cause.Edit{cause.NoPCIe}},
		{"slow links", plain + "events: [{switch: spine-1, at: 0s, rate_share: 0.25}, " +
			"{switch: spine-2, at: 0s, rate_share: 0.25}]\n", plain, []cause.Edit{cause.NoSlowdowns}},
		{"failures", plain + "events: [{switch: spine-1, at: 50us, up: false}, " +
			"{switch: spine-2, at: 50us, up: false}, {switch: spine-2, at: 100us, up: true}]\n", plain, []cause.Edit{cause.NoFailures}},
		{"storm", plain + "events: [{nic: host-5/nic-1, at: 0s, storm: true}, {nic: host-5/nic-1, at: 1ms, " +
			"storm: false}]\n", plain, []cause.Edit{cause.NoStorms}},
		{"delay", strings.NewReplacer("3m", "300m", "30m", "3km", "400ns", "2us").Replace(plain),
			strings.NewReplacer("3m", "0m", "30m", "0m", "400ns", "0ns", "kind: rail", "kind: rail, cut_through: true",
				"nics: 1", "nics: 1, nic_latency: 0ns, nvlink_latency: 0ns").Replace(plain),
			[]cause.Edit{cause.NoDelay}},
		{"slow by the file", graph("25Gbps"), graph("100Gbps"), []cause.Edit{cause.NoSlowdowns}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			before := run(t, c.with, cause.Change{}).Summary.StepTime
			want := run(t, c.plain, cause.Change{}).Summary.StepTime
			got := run(t, c.with, cause.Change{Edits: c.edits}).Summary.StepTime
			if got != want || before <= want {
				t.Errorf("with it %v, without %v, by edit %v", unit.Time(before), unit.Time(want), unit.Time(got))
			}
		})
	}
}

// graph is one flow whose second uplink has a rate of its own.
func graph(rate string) string {
	return `
fabric:
  kind: graph
  host_link: {rate: 100Gbps, cable: 3m}
  fabric_link: {rate: 100Gbps, cable: 30m}
  graph:
    hosts: [host-1, host-2]
    switches: [{name: a, role: leaf}, {name: b, role: leaf}, {name: x, role: spine}]
    links: [{from: host-1, to: a}, {from: host-2, to: b}, {from: a, to: x}, {from: b, to: x, rate: ` + rate + `}]
server: {gpus: 1, nics: 1}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 4MB}]}}
`
}

// TestNoLimits checks that an incast in small buffers neither loses, trims nor pauses in buffers without limit.
func TestNoLimits(t *testing.T) {
	text := fabrics["rail"] + "workload: {traffic: {incast: {bytes: 2MB, fan_in: 7}}}\ncc: {algorithm: none}\n"
	lossy := []string{"switch.pfc=false", "switch.queues.3.limit=100KB", "transport.recovery=selective",
		"transport.write=only"}
	for name, sets := range map[string][]string{"pauses": {"switch.queues.3.xoff=100KB", "switch.queues.3.xon=50KB"},
		"drops": lossy, "trims": append([]string{"switch.queues.3.trim=true"}, lossy...)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := run(t, text, cause.Change{}, sets...).Summary
			after := run(t, text, cause.Change{Edits: []cause.Edit{cause.NoLimits}}, sets...).Summary
			if before.PFCPauses+before.Drops+before.Trims == 0 || after.PFCPauses+after.Drops+after.Trims > 0 {
				t.Errorf("%d pauses, %d drops, %d trims before, %d, %d, %d after", before.PFCPauses, before.Drops,
					before.Trims, after.PFCPauses, after.Drops, after.Trims)
			}
		})
	}
}

// TestFacts checks what is known of a run: of its plan, and what it lost.
func TestFacts(t *testing.T) {
	o := run(t, fabrics["rail"]+"workload: {traffic: {permutation: {bytes: 1MB}}}\n", cause.Change{},
		"fabric.fabric_link.bit_error_rate=1e-7", "server.pcie=200Gbps")
	f := facts.Of(o.Plan)
	facts.Count(f, o.Summary)
	if f.Transport != "roce" || f.CC != "dcqcn" || f.LB != "ecmp" || f.Recovery != "go-back-n" || f.WriteOnly ||
		!f.Lossless || !f.PFC || f.Trims || f.Queue != "3" || f.Kind != "rail" || f.Uplinks != 1 || f.Switches != 1 ||
		f.HostRate != 100*unit.Gbps || f.FabricRate != 100*unit.Gbps || !f.BitErrors || f.Events || f.PCIe == 0 ||
		!f.Lost.Known || f.Lost.BitErrors == 0 || f.Lost.Down+f.Lost.Full > 0 || f.Delays || f.Credits {
		t.Errorf("%+v", f)
	}
	f = facts.Of(run(t, fabrics["described"]+"workload: {traffic: {permutation: {bytes: 1MB}}}\n", cause.Change{},
		"transport=mrc").Plan)
	if f.Transport != "mrc" || f.CC != "nscc" || !f.Delays || f.Lossless || !f.Trims || f.Kind != "" || f.Uplinks != 0 {
		t.Errorf("%+v", f)
	}
	f = facts.Of(run(t, fabrics["rail"]+"workload: {traffic: {permutation: {bytes: 1MB}}}\n", cause.Change{},
		"transport=srd").Plan)
	if f.Transport != "srd" || !f.OwnControl {
		t.Errorf("%+v", f)
	}
}

// TestRingsInsteadOfTrees checks that trees which NCCL's model chose have rings as the first remedy of their incasts,
// that it runs and is faster here, and that rings and trees that a pattern names have no such remedy.
func TestRingsInsteadOfTrees(t *testing.T) {
	const fabric = "fabric: {kind: rail, segments: 2, hosts: 4, spines: 8}\nserver: {gpu: h100}\n"
	remedies := func(text string) ([]cause.Change, *Outcome) {
		o := run(t, text, cause.Change{})
		return cause.Incast.Get().Remedies(facts.Of(o.Plan)), o
	}
	text := fabric + "workload: {traffic: {collective: {kind: all-reduce, bytes: 16MiB}}}\n"
	all, trees := remedies(text)
	if len(all) == 0 || !strings.HasPrefix(all[0].Says, "rings instead of trees") {
		t.Fatalf("%+v", all)
	}
	s := &Scenario{Name: "x.yaml", Text: []byte(text)}
	rings, err := s.Run(&all[0], Limits{Time: unit.Second})
	if err != nil || rings.Summary.StepTime >= trees.Summary.StepTime {
		t.Errorf("rings %v, trees %v: %v", rings.Summary.StepTime, trees.Summary.StepTime, err)
	}
	for _, other := range []string{"collective: {kind: all-reduce, algorithm: ring, bytes: 16MiB}",
		"tree-allreduce: {bytes: 1MB}"} {
		for _, c := range first(remedies(fabric + "workload: {traffic: {" + other + "}}\n")) {
			if strings.Contains(c.Says, "trees") {
				t.Errorf("%s: %+v", other, c)
			}
		}
	}
}

func first[A, B any](a A, _ B) A { return a }

// TestNoSuchRun checks that what cannot be taken away, does not resolve or does not end is said.
func TestNoSuchRun(t *testing.T) {
	s := &Scenario{Name: "x.yaml", Text: []byte(fabrics["rail"] + "workload: {traffic: {permutation: {bytes: 1GB}}}\n")}
	for _, c := range []struct {
		change cause.Change
		limits Limits
		want   string
	}{
		{cause.Compute.Get().Without(&cause.Facts{}), Limits{}, "no such run: computing is the work itself"},
		{cause.Change{Set: []string{"lb=magic"}}, Limits{}, "magic"},
		{cause.Change{Drop: []string{"fabric"}}, Limits{}, "cannot be taken out"},
		{cause.Change{}, Limits{Hops: 1000}, "has not ended"},
		{cause.Change{}, Limits{Time: unit.Microsecond}, "has not ended after 1us"},
		{cause.Change{}, Limits{Memory: unit.MB}, "memory"},
	} {
		o, err := s.Run(&c.change, c.limits)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, %v; want %q", c.change, o, err, c.want)
		}
		var unfinished *ErrUnfinished
		if ended := errors.As(err, &unfinished); ended != strings.Contains(c.want, "ended") {
			t.Errorf("%v: unfinished: %v", err, ended)
		}
	}
}

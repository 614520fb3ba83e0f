package facts

import (
	"slices"
	"strings"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/unit"
)

func planOf(t *testing.T, text string, sets ...string) *scenario.Plan {
	t.Helper()
	d, err := scenario.Parse("test", []byte(text), sets)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const rails = `
name: rails
fabric: {kind: rail, segments: 2, hosts: 2, spines: 2, uplinks: 1, host_link: {rate: 100Gbps},
         fabric_link: {rate: 200Gbps}}
server: {gpus: 2, nics: 2}
workload: {traffic: {permutation: {bytes: 1MB}}}
`

// Facts follow the scenario: transport, control, rates by tier, what the NICs can do.
func TestOf(t *testing.T) {
	f := Of(planOf(t, rails))
	if f.Transport != scenario.RoCE || f.CC != "dcqcn" || f.Delays || f.Recovery != "go-back-n" || !f.PFC || !f.Lossless ||
		f.HostRate != 100*unit.Gbps || f.FabricRate != 200*unit.Gbps || f.Switches != 1 || f.Uplinks != 1 ||
		f.Ports != 1 || f.BitErrors || f.Events || f.Jobs != 1 || f.Lost.Known {
		t.Errorf("%+v", f)
	}
	f = Of(planOf(t, rails, "transport=mrc", "fabric.fabric_link.bit_error_rate=1e-9"))
	if f.Transport != "mrc" || f.CC != "nscc" || !f.Delays || f.Lossless || !f.BitErrors {
		t.Errorf("%+v", f)
	}
	if f = Of(planOf(t, rails, "cc.algorithm=swift", "transport.recovery=selective")); !f.Delays ||
		f.Recovery != "selective" {
		t.Errorf("%+v", f)
	}
}

// Data of a queue without PFC has the setting that puts it into one with: of the job, if that has a class of its own.
func TestToLossless(t *testing.T) {
	job := strings.Replace(rails, "workload: {", "jobs: [{name: a, gpus: 8, dscp: 26, ", 1)
	job = strings.Replace(job, "1MB}}}", "1MB}}}]", 1)
	for _, c := range []struct {
		text, want string
		sets       []string
	}{{rails, "", nil}, {rails, "transport.data_dscp=24", []string{"transport.data_dscp=26"}},
		{rails, "", []string{"transport.data_dscp=26", "switch.pfc=false"}}, {job, "jobs[0].dscp=24", nil}} {
		p := planOf(t, c.text, c.sets...)
		if f := Of(p); f.ToLossless != c.want || f.Lossless != (c.want == "" && len(c.sets) == 0) {
			t.Errorf("%v: %q, lossless %v", c.sets, f.ToLossless, f.Lossless)
		}
		if c.want != "" {
			if f := Of(planOf(t, c.text, append(c.sets, c.want)...)); !f.Lossless || f.ToLossless != "" {
				t.Errorf("%v: still lossy", c.sets)
			}
		}
	}
}

// A failure is unmet if routes that changed for it moved no connection, and no packet was lost on the way.
func TestUnmet(t *testing.T) {
	const event = "events: [{link: 'seg-1-rail-1:Eth3', at: 50us, up: false, detect: 10us, converge: 20us}]\n"
	stay, move := []result.Move{{At: 60e6, Of: 9}}, []result.Move{{At: 60e6, Of: 9}, {At: 70e6, Of: 9, Moved: 1}}
	for i, c := range []struct {
		text string
		end  int64
		run  result.Summary
		want bool
	}{
		{event, 1e8, result.Summary{Packets: 1, Moves: stay}, true},
		{event, 59e6, result.Summary{Packets: 1}, true}, // it ends before
		{event, 1e8, result.Summary{Packets: 1}, false}, // not counted
		{event, 1e8, result.Summary{Packets: 1, Moves: move}, false},
		{event, 1e8, result.Summary{Packets: 1, Moves: stay, DropsDown: 1}, false},
		{event + "lb: spray\n", 1e8, result.Summary{Packets: 1, Moves: stay}, false},
		{"events: [{link: 'seg-1-rail-1:Eth3', at: 0us, up: false, converge: 0s}]\n",
			1e8, result.Summary{Packets: 1}, false},
		{"", 1e8, result.Summary{Packets: 1}, false},
	} {
		f := Of(planOf(t, rails+c.text))
		c.run.StepTime = c.end
		if Count(f, &c.run); f.Unmet != c.want {
			t.Errorf("%d: unmet is %v", i, f.Unmet)
		}
	}
}

// Losses are divided by what lost them: bit errors, failed links, full queues; those of a storm are none of these.
func TestCount(t *testing.T) {
	var f cause.Facts
	Count(&f, &result.Summary{Drops: 100, DropsCorrupt: 1, DropsDown: 2, DropsNoRoute: 4, DropsStorm: 8, Trims: 1000})
	if f.Lost != (cause.Lost{Known: true, BitErrors: 1, Down: 6, Full: 1085}) {
		t.Errorf("%+v", f.Lost)
	}
}

// Remedies are for causes that cost, or would save, half a percent of the step, the largest saving first.
func TestRemedies(t *testing.T) {
	known := Of(planOf(t, rails))
	var a cause.Account
	a.Own[cause.Collision], a.Saving[cause.Collision] = 100, 100
	a.Own[cause.Incast], a.Saving[cause.Incast] = 300, 300
	a.Own[cause.Latency], a.Saving[cause.Latency] = 4, 4
	all := Remedies(known, &result.Summary{Step: result.Step{StepTime: 1000, Chain: &a}})
	if len(all) < 2 || all[0].Of != cause.Incast {
		t.Fatalf("%+v", all)
	}
	seen := map[cause.ID]bool{}
	for _, r := range all {
		seen[r.Of] = true
		got := r.Result(&result.Summary{Step: result.Step{Chain: &a}})
		if got.Expected != a.Saving[r.Of] || got.Cause != r.Of.Get().Key || got.Says == "" {
			t.Errorf("%+v", got)
		}
	}
	if !seen[cause.Collision] || seen[cause.Latency] {
		t.Errorf("%v", seen)
	}
}

// A collision that costs nothing next to congestion control's reactions has remedies where its removal saves.
func TestRemediesOfOverlappedCollision(t *testing.T) {
	known := Of(planOf(t, rails))
	var a cause.Account
	a.Own[cause.Recovering], a.Saving[cause.Recovering] = 300, 300
	for saving, want := range map[int64]bool{0: false, 4: false, 100: true} {
		a.Saving[cause.Collision] = saving
		if got := slices.ContainsFunc(Remedies(known,
			&result.Summary{Step: result.Step{StepTime: 1000, Chain: &a}}), func(r Remedy) bool {
			return r.Of == cause.Collision
		}); got != want {
			t.Errorf("saves %d of 1,000: remedies %v, want %v", saving, got, want)
		}
	}
}

// TestRemediesInside checks that a run whose messages crossed NVLink alone has no advice about cables and NICs.
func TestRemediesInside(t *testing.T) {
	known := Of(planOf(t, rails))
	known.Inside = true
	var a cause.Account
	a.Own[cause.Latency], a.Own[cause.SharedNIC] = 300, 300
	if all := Remedies(known, &result.Summary{Step: result.Step{StepTime: 1000, Chain: &a}}); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

// TestRetransmissionRemedies checks that selective retransmission takes a gap for a loss at once where nothing
// overtakes: waiting for packets behind it costs more than go-back-N does where a message has few of them.
func TestRetransmissionRemedies(t *testing.T) {
	const early = "transport.nak_after=0"
	for sets, want := range map[string]string{
		"": "transport.recovery=selective " + early, "lb=spray": "transport.recovery=selective",
		"transport.recovery=selective": early, "transport.recovery=selective transport.nak_after=0": "",
		"transport.recovery=selective lb=spray": "",
	} {
		f := Of(planOf(t, rails, strings.Fields(sets)...))
		got := ""
		for _, c := range cause.Retransmission.Get().Remedies(f) {
			if slices.ContainsFunc(c.Set, func(s string) bool { return strings.HasPrefix(s, "transport.") }) {
				got = strings.Join(c.Set, " ")
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", sets, got, want)
		}
	}
}

// The largest window is no remedy where it is set already, and never above what acknowledgements can name.
func TestLargestWindow(t *testing.T) {
	for set, want := range map[string]string{
		"transport=srd transport.srd.window=1024":       "transport.srd.window=16384",
		"transport=falcon transport.falcon.window=1024": "transport.falcon.window=4096",
		"transport=falcon transport.falcon.window=4096": "",
		"transport=falcon transport.recovery=selective": "transport.falcon.window=4096",
		"transport=mrc transport.mrc.psn_range=32640":   "",
		"transport=uec": "transport.window=32768",
		"transport.recovery=selective transport.window=32768":                 "transport.window=65536",
		"transport.recovery=selective transport.window=65536 transport.qps=1": "",
	} {
		got := ""
		for _, r := range cause.Window.Get().Remedies(Of(planOf(t, rails, strings.Fields(set)...))) {
			if len(r.Set) == 1 && (strings.Contains(r.Set[0], ".window=") || strings.Contains(r.Set[0], "psn_range=")) {
				got = r.Set[0]
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", set, got, want)
		}
	}
}

// A remedy of losses on a long path comes with a window that fills it: 40 km of cable at each of two hosts and 400
// Gbit/s have 9,766 packets of 4 KiB in a round trip, 2 * 80 km * 5 ns/m of it.
func TestWindowOfLongPath(t *testing.T) {
	const long = `
name: long
fabric: {kind: single-rail, hosts: 2, host_link: {rate: 400Gbps, cable: 40km, bit_error_rate: 1e-9}}
server: {gpus: 1, nics: 1}
workload: {traffic: {permutation: {bytes: 1MB}}}
`
	for set, want := range map[string]int{"name=as-it-is": 32768, "transport.window=32768": 0,
		"fabric.host_link.cable=4m": 0, "transport.mtu=2048": 65536} {
		f := Of(planOf(t, long, set))
		if far := set != "fabric.host_link.cable=4m"; f.Far != far {
			t.Errorf("%s: far %v, want %v", set, f.Far, far)
		}
		if f.Window != want {
			t.Errorf("%s: window %d, want %d", set, f.Window, want)
		}
		first := cause.Retransmission.Get().Remedies(f)[0]
		if has := slices.Contains(first.Set, "transport.window=32768"); has != (want == 32768) {
			t.Errorf("%s: %v", set, first.Set)
		}
	}
}

// Where most of the latency is NVLink's, neither cables nor switches are the remedy.
func TestNoRemedyOfNVLinkLatency(t *testing.T) {
	s := &result.Summary{Packets: 9, Step: result.Step{StepTime: 1000, Chain: &cause.Account{}}}
	s.Chain.Own[cause.Latency], s.Chain.Saving[cause.Latency] = 100, 100
	for nvlink, want := range map[int64]int{0: 1, 40: 1, 60: 0} {
		known := Of(planOf(t, rails))
		known.Far, s.NVLinkLatency = true, nvlink
		Count(known, s)
		if all := Remedies(known, s); len(all) != want {
			t.Errorf("%d of 100 in NVLink: %+v", nvlink, all)
		}
	}
}

// Advice in words saves no more than the busiest NIC's payload allows, unless it is about NICs.
func TestLimitOfAdvice(t *testing.T) {
	s := &result.Summary{Step: result.Step{StepTime: 1000, Chain: &cause.Account{}},
		Busiest: &result.BusiestNIC{Name: "host-1/nic-1", Receives: true, Time: 700}}
	for id, want := range map[cause.ID]int64{cause.Incast: 300, cause.SharedNIC: 900} {
		*s.Chain = cause.Account{}
		s.Chain.Saving[id] = 900
		s.LimitSavings()
		r := Remedy{id, cause.Change{Says: id.Get().Advice}}
		if got := r.Result(s); got.Expected != want {
			t.Errorf("%s: %+v", id.Get().Name, got)
		}
	}
}

// TestSettingsAsRemedies checks remedies that a run's own settings decide: a shorter ACK timeout after timeouts, a seed
// per switch where all hash alike, and none that repairs circuits which only move.
func TestSettingsAsRemedies(t *testing.T) {
	has := func(id cause.ID, f *cause.Facts, says string) bool {
		return slices.ContainsFunc(id.Get().Remedies(f), func(c cause.Change) bool {
			return strings.Contains(c.Says+" "+strings.Join(c.Set, " "), says)
		})
	}
	for sets, want := range map[string][2]bool{
		"": {true, false}, "transport.timeout=8": {false, false}, "switch.hash_seed=same": {true, true},
		"transport=mrc": {false, false},
	} {
		f := Of(planOf(t, rails, strings.Fields(sets)...))
		if has(cause.Retransmission, f, "transport.timeout=") {
			t.Errorf("%q: a shorter timeout without a timeout", sets)
		}
		f.Lost = cause.Lost{Known: true, Down: 5, Timeouts: 1}
		got := [2]bool{has(cause.Retransmission, f, "transport.timeout=10"),
			has(cause.Collision, f, "switch.hash_seed=per-switch")}
		if got != want {
			t.Errorf("%q: timeout, seed %v, want %v", sets, got, want)
		}
		f.Circuits = true
		for _, id := range []cause.ID{cause.FailedCapacity, cause.Retransmission} {
			if c := id.Get().Without(f); c.IsPossible() || has(id, f, "repair") {
				t.Errorf("%q, %s: circuits that move are repaired", sets, id.Get().Name)
			}
		}
	}
}

// TestCircuits checks that runs whose circuits move fail in nothing, and that others do not move circuits.
func TestCircuits(t *testing.T) {
	const moves = `fabric:
  kind: graph
  graph:
    hosts: [h1, h2]
    switches: [{name: t1, tier: 1, role: leaf}, {name: t2, tier: 1, role: leaf}]
    links: [{from: h1, to: t1}, {from: h2, to: t2}, {from: t1, to: ocs, count: 2}, {from: t2, to: ocs, count: 2}]
    ocs: [{name: ocs, ports: 4, reconfigure: 10ms, circuits: [1-3], schedule: [{at: 1ms, circuits: [2-4]}]}]
server: {gpus: 1, nics: 1}
workload: {traffic: {flows: [{from: h1/gpu-1, to: h2/gpu-1, bytes: 5MB}]}}
`
	for text, want := range map[string]bool{
		rails: false, rails + "events: [{link: 'seg-1-rail-1:Eth1', at: 1us, rate_share: 0.5}]\n": false,
		moves: true, moves + "failures: [{link: 'h1:nic1', at: 1us}]\n": false,
	} {
		if got := Of(planOf(t, text)).Circuits; got != want {
			t.Errorf("%t, want %t: %s", got, want, text)
		}
	}
}

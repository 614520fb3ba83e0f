package sim

import (
	"strings"
	"testing"

	"railyard/cc"
	"railyard/internal/coll"
	"railyard/internal/workload"
	"railyard/unit"
)

// Two leafs of four servers with a GPU each, and one cable from each to the spine.
const twoLeafs = `
name: jobs
fabric: {kind: rail, hosts: 4, segments: 2, spines: 1, uplinks: 1,
  host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
workload: {traffic: {permutation: {bytes: 1B}}}
`

// ringOn is an all-reduce among GPUs.
func ringOn(t testing.TB, name string, start unit.Time, gpus ...int) workload.Job {
	t.Helper()
	d, err := workload.RunCollective(len(gpus),
		workload.CollectiveRun{Kind: coll.AllReduce, Bytes: 4 * unit.MB},
		workload.All(len(gpus)))
	if err != nil {
		t.Fatal(err)
	}
	return workload.Job{Name: name, DAG: d, Start: start, Place: gpus}
}

// sideBySide runs jobs on one fabric.
func sideBySide(t testing.TB, jobs ...workload.Job) *Run {
	t.Helper()
	p := load(t, twoLeafs).Plan
	p.Jobs = jobs
	r, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	invariants(t, r)
	return r
}

// ends returns when each job ended, by name.
func ends(r *Run) map[string]unit.Time {
	out := map[string]unit.Time{}
	for _, p := range r.Exec.Work.Jobs {
		for i := p.Ops[0]; i < p.Ops[1]; i++ {
			out[p.Name] = max(out[p.Name], r.Exec.End[i])
		}
	}
	return out
}

// The estimate counts all jobs at their places.
func TestEstimateOfJobs(t *testing.T) {
	r := sideBySide(t, ringOn(t, "a", 0, 0, 1, 4, 5), ringOn(t, "b", unit.Millisecond, 2, 3, 6, 7))
	c := r.Cost
	if int(c.Messages) != len(r.Hosts.Messages) || int(c.QPs) != r.Hosts.Conns() || c.Messages != 2*24 {
		t.Errorf("%d messages on %d queue pairs, estimated %d on %d", len(r.Hosts.Messages), r.Hosts.Conns(),
			c.Messages, c.QPs)
	}
	if near := float64(c.PacketHops) / float64(r.Net.PacketHops); near < 0.95 || near > 1.05 {
		t.Errorf("%d packet-hops, estimated %d", r.Net.PacketHops, c.PacketHops)
	}
}

// Jobs on separate leaves take exactly as long as alone, to the picosecond. Jobs that share a cable take longer, at
// least as long as the cable needs for both.
func TestJobsSideBySide(t *testing.T) {
	a, b := ringOn(t, "a", 0, 0, 1, 2, 3), ringOn(t, "b", 0, 4, 5, 6, 7)
	alone, other := ends(sideBySide(t, a))["a"], ends(sideBySide(t, b))["b"]
	if got := ends(sideBySide(t, a, b)); got["a"] != alone || got["b"] != other || alone == 0 {
		t.Errorf("together %v, alone %v and %v", got, alone, other)
	}
	if got := ends(sideBySide(t, b, a)); got["a"] != alone || got["b"] != other {
		t.Errorf("in another order %v, alone %v and %v", got, alone, other)
	}
	late := ringOn(t, "late", unit.Millisecond, 4, 5, 6, 7)
	if got := ends(sideBySide(t, a, late)); got["a"] != alone || got["late"] != other+unit.Millisecond {
		t.Errorf("a millisecond later %v, alone %v and %v", got, alone, other)
	}
	x, y := ringOn(t, "x", 0, 0, 1, 4, 5), ringOn(t, "y", 0, 2, 3, 6, 7)
	across := ends(sideBySide(t, x))["x"]
	got := ends(sideBySide(t, x, y))
	if again := ends(sideBySide(t, y, x)); again["x"] != got["x"] || again["y"] != got["y"] {
		t.Errorf("the order of jobs counts: %v and %v", got, again)
	}
	// Each ring of four sends 2*3/4 of its bytes over the one uplink, and again over the downlink.
	least := unit.Serialize(2*6*unit.MB, 100*unit.Gbps)
	if last := max(got["x"], got["y"]); got["x"] <= across || got["y"] <= across || last < least {
		t.Errorf("sharing the cable %v, alone %v, the cable takes %v", got, across, least)
	}
}

// A job's transfers use its service: its queue pairs and its congestion control. The other job does not notice.
func TestJobsOfTwoServices(t *testing.T) {
	a, b := ringOn(t, "a", 0, 0, 1, 2, 3), ringOn(t, "b", 0, 4, 5, 6, 7)
	alone := ends(sideBySide(t, a))["a"]
	p := load(t, twoLeafs).Plan
	other := p.Services[0]
	other.Name, other.CC, other.Values, other.DSCP = "other", cc.Lookup("none"), nil, 0
	p.Services = append(p.Services, other)
	b.Service = 1
	p.Jobs = []workload.Job{a, b}
	r, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	c := r.control()
	if len(c) != 2 || c[0].QueuePairs != 4 || c[1].QueuePairs != 4 || c[1].Algorithm != "none" {
		t.Errorf("%+v", c)
	}
	if got := ends(r)["a"]; got != alone {
		t.Errorf("a takes %v, alone %v", got, alone)
	}
	if data := p.Spec.DSCP[p.Services[0].DSCP]; p.Spec.DSCP[0] == data {
		t.Errorf("both services are of class %d", data)
	}
	p.Jobs[1].Service = 2
	if _, err := New(p); err == nil || !strings.Contains(err.Error(), `job "b" uses service 2; there are 2`) {
		t.Error(err)
	}
}

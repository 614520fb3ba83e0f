package sim

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"railyard/internal/exec"
	"railyard/internal/scenariofile"
	"railyard/unit"
)

// shown is everything that a run has shown, as text.
func shown(t testing.TB, r *Run) string {
	s, tab, limits := r.Outcome("test")
	text, err := json.MarshalIndent(map[string]any{"summary": s, "tables": tab, "limits": limits}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// apartOrWhole runs a scenario on n cores. It ends early if it has too many events or fails.
func apartOrWhole(t testing.TB, r *Run, cores int) (parts int, said string) {
	r.Cores(cores)
	r.worth = 0
	if err := r.Go(nil); err != nil {
		return r.Parts(), fmt.Sprint(err)
	}
	return r.Parts(), shown(t, r)
}

// Runs in two to four parts show what the whole run shows, to the last byte: every counter, sample, pause and
// cause, in random scenarios of all kinds.
func TestCoresGiveTheSameBytes(t *testing.T) {
	ran, parted, full := 0, 0, 0
	for seed := *randomFrom; seed < *randomFrom+uint64(*randomRuns); seed++ {
		d := draw(seed)
		d.sets = append(d.sets, "server.nic_latency=500ns")
		if d.selective { // small enough for some to overflow
			d.sets = append(d.sets, "server.reorder.memory=8KiB",
				"server.reorder.placement="+[]string{"address", "order"}[seed%2])
		}
		whole, other := d.start(t), d.start(t)
		if whole == nil || whole.Cost.Packets > 50_000 {
			continue
		}
		_, want := apartOrWhole(t, whole, 1)
		parts, got := apartOrWhole(t, other, 2+int(seed%3))
		if got != want {
			t.Errorf("seed %d in %d parts: %s\n%s", seed, parts, difference(want, got), d)
		}
		if ran++; parts > 1 {
			parted++
		}
		if s := whole.reorderMemory(); s != nil && s.Refused > 0 && parts > 1 {
			full++
		}
	}
	t.Logf("%d of %d scenarios ran in parts, %d with NICs that dropped packets", parted, ran, full)
	if parted < ran/4 {
		t.Errorf("only %d of %d scenarios ran in parts", parted, ran)
	}
}

// The shipped scenarios, including jobs, storage, collectives and trainings, have equal results on several cores.
func TestCoresOfShippedScenarios(t *testing.T) {
	parted := 0
	paths, err := filepath.Glob("../../scenarios/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		p, err := scenariofile.Plan(path, []string{"server.nic_latency=500ns", "fabric.host_link.cable=20m"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if cost := Estimate(p); p.Fidelity == "flow" || cost.PacketHops > 300_000 {
			continue
		}
		one, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		three, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		_, want := apartOrWhole(t, one, 1)
		parts, got := apartOrWhole(t, three, 3)
		if got != want {
			t.Errorf("%s in %d parts: %s", filepath.Base(path), parts, difference(want, got))
		}
		t.Logf("%s: %d parts; %s", filepath.Base(path), parts, one.Undivided())
		if parts > 1 {
			parted++
		}
	}
	if parted < 5 {
		t.Errorf("only %d scenarios ran in parts", parted)
	}
}

// Observing a run, as for the directory of an unfinished run, does not change its final result.
func TestLookingChangesNothing(t *testing.T) {
	for _, name := range []string{"victim.yaml", "incast-seed.yaml", "fattree128-incast32.yaml"} {
		sets := []string{"fabric.host_link.cable=20m", "server.nic_latency=500ns"}
		p, err := scenariofile.Plan("../../scenarios/"+name, sets, nil)
		if err != nil {
			t.Fatal(err)
		}
		build := func() *Run {
			r, err := New(p)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		_, want := apartOrWhole(t, build(), 1)
		r, looks := build(), 0
		trace := r.Net.Trace
		r.Net.Trace = func(at unit.Time, what string, port int32, prio int) {
			if trace(at, what, port, prio); looks < 200 {
				looks++
				r.Observe()
			}
		}
		if _, got := apartOrWhole(t, r, 1); got != want {
			t.Errorf("%s, looked at %d times: %s", name, looks, difference(want, got))
		}
		r, looks = build(), 0
		r.Cores(2)
		r.worth = 0
		if err := r.Go(func(exec.Progress) bool { looks++; r.Observe(); return true }); err != nil {
			t.Fatal(err)
		}
		if got := shown(t, r); got != want || r.Parts() < 2 {
			t.Errorf("%s in %d parts, looked at %d times: %s", name, r.Parts(), looks, difference(want, got))
		}
	}
}

// A run in parts that its observer stops shows the simulation until then.
func TestInterruptedInParts(t *testing.T) {
	sets := []string{"server.nic_latency=500ns"}
	p, err := scenariofile.Plan("../../scenarios/fattree128-permutation.yaml", sets, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	r.Cores(2)
	if err := r.Go(func(exec.Progress) bool { return false }); err != nil {
		t.Fatal(err)
	}
	s, _, _ := r.Outcome("test")
	some := s.Events > 0 && s.PacketHops > 0 && s.PacketHops < r.Cost.PacketHops
	if !r.Interrupted() || r.Parts() < 2 || s.Complete || !some {
		t.Errorf("interrupted %v, complete %v, %d events, %d packet-hops of %d", r.Interrupted(), s.Complete, s.Events,
			s.PacketHops, r.Cost.PacketHops)
	}
}

// A lost rank ends a run in parts, which restarts as a whole, even if it was observed before.
func TestLostInParts(t *testing.T) {
	sets := []string{"server.nic_latency=500ns", "fabric.host_link.bit_error_rate=0.0000000003", "transport.retries=0",
		"transport.recovery=go-back-n", "transport.timeout=4", "cc.algorithm=none",
		"switch.queues.3.xoff=40KB", "switch.queues.3.xon=20KB"}
	p, err := scenariofile.Plan("../../scenarios/fattree128-permutation.yaml", sets, nil)
	if err != nil {
		t.Fatal(err)
	}
	var said [2]string
	looks := 0
	for i, cores := range []int{1, 2} {
		r, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		r.Cores(cores)
		err = r.Go(func(exec.Progress) bool {
			if r.fresh != nil {
				looks++
			}
			r.Observe()
			return true
		})
		if said[i] = fmt.Sprint(err, r.Failed(), r.Parts()) + shown(t, r); r.Failed() == nil {
			t.Fatal("no rank is lost")
		}
	}
	if looks == 0 {
		t.Error("nobody looked at the parts")
	}
	if said[0] != said[1] {
		t.Errorf("on two cores: %s", difference(said[0], said[1]))
	}
}

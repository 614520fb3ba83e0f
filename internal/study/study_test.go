package study

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"railyard/internal/field"
	"railyard/internal/result"
	"railyard/internal/scenariofile"
	"railyard/unit"
)

const three = `name: three
fabric: {kind: rail-only, hosts: 4, host_link: {rate: 100Gbps, delay: 1us}, fabric_link: {rate: 100Gbps, delay: 1us}}
workload: {traffic: {alltoall: {bytes: 64KiB}}}
`

func scenarioFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "three.yaml")
	if err := os.WriteFile(path, []byte(three), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNeedsOfPathChoice checks that a comparison of path choices reports which of them need NICs that place packets
// in any order, and the scenario's NICs.
func TestNeedsOfPathChoice(t *testing.T) {
	for set, want := range map[string][2]string{
		"transport.recovery=go-back-n": {"packets in order",
			"any order of packets, which go-back-N treats as loss (transport.recovery)"},
		"transport.recovery=selective": {"packets in order",
			"any order of packets: reorder memory for First/Middle/Last headers (transport.write, server.reorder)"},
		"transport.write=only transport.recovery=selective": {"packets in order",
			"any order of packets, which have their addresses (WRITE Only)"},
		"transport=srd": {"any order of packets, which SRD has", "any order of packets, which SRD has"},
	} {
		c := &Comparison{Matrix: Matrix{Scenarios: []string{scenarioFile(t)},
			Set: append(strings.Fields(set), "lb=ecmp,spray")}, Seeds: 1}
		if err := c.Prepare(); err != nil {
			t.Fatal(err)
		}
		if got := [2]string{c.columns[0].NIC, c.columns[1].NIC}; got != want || c.columns[1].Switch != "spraying in turn" {
			t.Errorf("%s: %q, %q, want %q", set, got, c.columns[1].Switch, want)
		}
	}
}

// A second list of a key is refused: overrides of a variant would hide the first.
func TestCrossTakesAKeyOnce(t *testing.T) {
	_, err := Cross([]string{"lb=ecmp", "seed=1,2", "lb=spray"})
	if want := "--set lb: set twice; accepted: one list, --set lb=ecmp,spray"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestZeros checks that compared values 0 that mean something else are described.
func TestZeros(t *testing.T) {
	for _, c := range []struct{ set, want string }{
		{"switch.queues.3.headroom=0B,100KB", "switch.queues.3.headroom=0B: computed from rate, cable, MTU and response time"},
		{"workload.traffic.collective.channels=1,0", "workload.traffic.collective.channels=0: as many as use all NICs, one per GPU of a server"},
		{"switch.queues.3.headroom=0B", ""}, // not compared
		{"fabric.host_link.bit_error_rate=0,1e-9", ""}, {"lb=ecmp,spray", ""}, {"no.such.key=0,1", ""},
	} {
		m := Matrix{Set: []string{c.set}}
		if got := strings.Join(m.Zeros(), "; "); got != c.want {
			t.Errorf("%s: %q", c.set, got)
		}
	}
}

// All combinations, the last list fastest, with labels of what differs.
func TestCross(t *testing.T) {
	m := Matrix{Scenarios: []string{"a.yaml", "b.yaml"}, Set: []string{"lb=ecmp,spray", "seed=1"},
		Config: []string{"x/leaf.cfg", "y/leaf.cfg"}}
	all, err := m.Variants()
	if err != nil || len(all) != 8 {
		t.Fatal(len(all), err)
	}
	want := Variant{Path: "a.yaml", Sets: []string{"lb=ecmp", "seed=1", "switches.config=y/leaf.cfg"},
		Label: "a ecmp y/leaf.cfg"}
	if !reflect.DeepEqual(all[1], want) {
		t.Errorf("%+v", all[1])
	}
	for _, bad := range []string{"lb", "seed=" + strings.Repeat("1,", MaxVariants)} {
		if _, err := Cross([]string{bad}); err == nil || !strings.Contains(err.Error(), "--set") {
			t.Errorf("%.20s: %v", bad, err)
		}
	}
	if got := reason(field.New("cc.algorithm", "eqds needs trimming")); got != "eqds needs trimming" {
		t.Error(got)
	}
	if got := reason(field.New("cc.hpcc.hops", "5 of 7")); got != "cc.hpcc.hops: 5 of 7" {
		t.Error(got)
	}
	if got := reason(errors.New("odd")); got != "odd" {
		t.Error(got)
	}
}

// With any number of workers a comparison is equal, in its order. Variants that do not fit are omitted with the
// reason, and seeds continue from the scenario's.
func TestComparison(t *testing.T) {
	path := scenarioFile(t)
	var first []result.Variant
	for _, workers := range []int{1, 4} {
		c := Comparison{Matrix: Matrix{Scenarios: []string{path}, Set: []string{"transport=roce,mrc,uec"}}, Seeds: 2}
		if err := c.Prepare(); err != nil {
			t.Fatal(err)
		}
		kept := map[string]bool{}
		var mu sync.Mutex
		got, err := c.Run(context.Background(), &Pool{Workers: workers, Memory: unit.GB},
			func(_ int, label string, o *Outcome) {
				mu.Lock()
				kept[label] = o.Tables != nil
				mu.Unlock()
			})
		if err != nil || len(got)+len(c.Unfit) != 3 || len(kept) != len(got) {
			t.Fatalf("%d variants, %v, kept %v, %v", len(got), c.Unfit, kept, err)
		}
		for i := range got {
			for n, s := range got[i].Runs {
				s.WallSeconds, s.SimSeconds, s.PeakMemory = 0, 0, 0
				if s.Seed != got[i].Runs[0].Seed+uint64(n) {
					t.Errorf("%s: run %d has seed %d", got[i].Label, n, s.Seed)
				}
			}
		}
		if workers == 1 {
			first = got
		} else if !reflect.DeepEqual(first, got) {
			t.Errorf("one worker %+v, four %+v", first, got)
		}
	}
}

// A run whose estimate equals the memory runs when no other does, and one that needs more is rejected.
func TestMemory(t *testing.T) {
	plan, err := scenariofile.Plan(scenarioFile(t), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&Pool{Memory: unit.KB}).Simulate(context.Background(), "", plan, 0); err == nil ||
		!strings.Contains(err.Error(), "memory") {
		t.Error(err)
	}
	plan, err = scenariofile.Plan(scenarioFile(t), []string{"workload.traffic.alltoall.bytes=64MiB"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := (&Pool{}).Simulate(context.Background(), "", plan, unit.Nanosecond)
	if err != nil || !o.Late || o.Why() != nil {
		t.Errorf("%+v, %v", o, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (&Pool{}).Simulate(ctx, "", plan, 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Each runs as many at a time as there are workers, and its error is that of the lowest number, whichever fails
// first.
func TestEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, most, ran := 0, 0, 0
		err := (&Pool{Workers: 3}).Each(context.Background(), 12, func(i int) error {
			mu.Lock()
			running, ran = running+1, ran+1
			most = max(most, running)
			mu.Unlock()
			time.Sleep(time.Duration(12-i) * time.Second) // later ones end first
			mu.Lock()
			running--
			mu.Unlock()
			if i == 4 || i == 5 {
				return fmt.Errorf("number %d", i)
			}
			return nil
		})
		if most != 3 || err == nil || err.Error() != "number 4" || ran == 12 {
			t.Errorf("%d at a time, %d ran, %v", most, ran, err)
		}
	})
}

// A journal continues after its last complete line, and one process owns it.
func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "trials.jsonl")
	var had []string
	each := func(_ int64, line []byte) error { had = append(had, string(line)); return nil }
	j, err := OpenLines(path, false, each)
	if err != nil || had != nil {
		t.Fatal(had, err)
	}
	if _, err := j.Append([]byte("1")); err != nil {
		t.Error(err)
	}
	if _, err := OpenLines(path, false, each); err == nil || !strings.Contains(err.Error(), "another process simulates") {
		t.Error(err)
	}
	j.Close()
	os.WriteFile(path, []byte("1\n{\"a"), 0o600)
	if j, err = OpenLines(path, false, each); err != nil || !slices.Equal(had, []string{"1"}) {
		t.Fatal(had, err)
	}
	if at, err := j.Append([]byte("2")); err != nil || at != 2 {
		t.Error(at, err)
	}
	j.Close()
	if b, _ := os.ReadFile(path); string(b) != "1\n2\n" {
		t.Errorf("%q", b)
	}
	_, err = OpenLines(path, false, func(int64, []byte) error { return errors.New("of another") })
	if err == nil || !strings.Contains(err.Error(), "line 1: of another") {
		t.Error(err)
	}
	had = nil
	if j, err = OpenLines(path, true, each); err != nil || had != nil {
		t.Error(had, err)
	} else {
		j.Close()
	}
}

// A simulation that panics counts as failed, and the pool continues.
func TestPanic(t *testing.T) {
	p := &Pool{Workers: 1, Memory: unit.GB}
	o, err := p.Simulate(context.Background(), "", nil, 0)
	if err != nil || o.Why() == nil || !strings.HasPrefix(o.Why().Error(), "internal error: ") {
		t.Fatalf("%v, %+v", err, o)
	}
	plan, err := scenariofile.Plan(scenarioFile(t), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s, _, err := p.Whole(context.Background(), "", plan); err != nil || s.StepTime == 0 {
		t.Error(err)
	}
}

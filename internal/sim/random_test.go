package sim

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"testing"

	"railyard/internal/exec"
	"railyard/internal/long"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/topo"

	"pgregory.net/rapid"
)

// The number of random scenarios, and their first seed. go test ./internal/sim -run Random -random 5000
// -random.from 1000 takes an afternoon and covers seeds that were never tested. Properties of rapid are drawn 40
// times, or 300.
var (
	randomRuns = flag.Int("random", long.N(48, 480), "scenarios that TestRandomScenarios draws")
	randomFrom = flag.Uint64("random.from", 1, "seed of the first")
	_          = long.Draws(40, 300)
)

// drawUntil draws for a property, and again while too few events have occurred to show it; few draws have all that
// a property needs.
func drawUntil(t *testing.T, enough func() bool, property func(*rapid.T)) {
	t.Helper()
	for range 10 {
		if rapid.Check(t, property); t.Failed() || enough() {
			return
		}
	}
}

// longEnough is the number of simulated events of a random scenario. A run truncated there must be possible so far,
// and one that ends must be correct.
const longEnough = 3_000_000

// For any scenario: bytes are conserved, no figure exceeds its bound, and no message is faster than alone. Causes
// add up, lossless classes lose nothing, selective repeat sends little more than what was lost, and a second run is
// identical. A failure names its seed.
func TestRandomScenarios(t *testing.T) {
	ran := 0
	for seed := *randomFrom; seed < *randomFrom+uint64(*randomRuns); seed++ {
		d := draw(seed)
		d.breakLinks(betweenSwitches(d))
		r := d.start(t)
		if r == nil {
			continue
		}
		ran++
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("this was -random 1 -random.from %d:\n%s", seed, d)
				}
			}()
			d.run(t, r)
		})
	}
	if 10*ran < 7**randomRuns {
		t.Errorf("%d of %d scenarios were taken", ran, *randomRuns)
	}
}

// start builds a random scenario. It returns nil if its fabric is partitioned or cannot be cabled, the buffers are
// too small for its headroom, its load balancing needs another fabric, or its congestion control lacks a feature.
// No other reason for a rejection is accepted.
func (d *drawn) start(t testing.TB) *Run {
	t.Helper()
	doc, err := scenario.Parse("drawn.yaml", []byte(d.text), d.sets)
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", d.seed, err, d)
	}
	p, err := doc.Resolve(nil)
	if err == nil {
		var r *Run
		if r, err = New(p); err == nil {
			return r
		}
	}
	for _, why := range []string{"headroom", "fabric.uplinks", "--set lb=", "--set cc.algorithm=",
		"that name packets need", "with these links down",
		"no path in the fabric"} {
		if strings.Contains(err.Error(), why) {
			return nil
		}
	}
	t.Fatalf("seed %d: %v\n%s", d.seed, err, d)
	return nil
}

// betweenSwitches names the cables between switches of a scenario.
func betweenSwitches(d *drawn) (names []string) {
	doc, err := scenario.Parse("drawn.yaml", []byte(d.text), d.sets)
	if err != nil {
		return nil
	}
	p, err := doc.Resolve(nil)
	if err != nil {
		return nil
	}
	for i, l := range p.Graph.Links {
		if p.Graph.Nodes[l.A].Role != topo.Host && p.Graph.Nodes[l.B].Role != topo.Host {
			names = append(names, p.Graph.End(i, l.A))
		}
	}
	return names
}

// run checks all properties of a random scenario.
func (d *drawn) run(t *testing.T, r *Run) {
	err := r.Go(func(exec.Progress) bool {
		if err := r.Net.Audit(); err != nil {
			t.Fatal(err)
		}
		return r.Net.Q.Popped() < longEnough
	})
	if err != nil {
		t.Fatal(err)
	}
	s, tab, _ := r.Outcome("test")
	possible(t, r, s, tab)
	if r.Interrupted() {
		rootsAddUp(t, r, s, tab)
		pathIsTheStep(t, s, tab)
		return
	}
	if f := r.Failed(); f != nil {
		if !d.mayFail(r) {
			t.Fatal(f)
		}
		return
	}
	if !s.Complete {
		t.Error("the run ended without having done all")
	}
	addsUp(t, r, s, tab)
	invariants(t, r)
	d.losses(t, s, tab)
	if d.seed%5 == 0 {
		d.again(t, s, tab)
	}
}

// mayFail reports whether a queue pair may give up. It may if its timeout is about as long as queues, if it
// considers every overtaken packet lost, if no answer arrived for longer than its retries last, or if no path is
// left.
func (d *drawn) mayFail(r *Run) bool {
	const retries, tick = 3, 4 // minimum of timeouts until one is the last; microseconds
	if d.timeout < 10 || !d.selective && !d.fixed || retries*tick*(1<<d.timeout) < d.longestOut {
		return true
	}
	down := map[int]bool{}
	for _, e := range r.Plan.Events {
		if !e.Up {
			down[e.Link] = true
		}
	}
	g := r.Graph
	whole, left := g.Route(nil), g.Route(down)
	for a := range g.NICs {
		for b := range g.NICs {
			if a != b && g.Reachable(whole, a, b) && !g.Reachable(left, a, b) {
				return true
			}
		}
	}
	return false
}

// losses checks the lost and retransmitted packets against the possible losses.
func (d *drawn) losses(t *testing.T, s *result.Summary, tab *result.Tables) {
	t.Helper()
	lost := s.Drops
	if d.cnps {
		lost -= s.DropsWRED
	}
	if d.lossless && d.breaks == 0 && !d.errors && !d.dog && lost > 0 {
		t.Errorf("%d drops in a lossless class (%d by WRED, %d of storms, %d without a route)",
			s.Drops, s.DropsWRED, s.DropsStorm, s.DropsNoRoute)
	}
	if !d.selective || d.timeout < 10 { // timeouts of 4 ms and more: queues are shorter
		return
	}
	if again := s.Drops*11/10 + 5 + int64(len(tab.QPs)); d.fixed && d.nak >= 32 && d.window >= 4096 &&
		s.Retransmissions > again {
		t.Errorf("%d packets retransmitted for %d lost, with %d timeouts", s.Retransmissions, s.Drops,
			s.Timeouts)
	}
	if s.Timeouts > 0 && d.breaks == 0 && !d.dog {
		t.Errorf("%d timeouts for %d lost packets", s.Timeouts, s.Drops)
	}
}

// again runs the scenario once more.
func (d *drawn) again(t *testing.T, s *result.Summary, tab *result.Tables) {
	t.Helper()
	r := d.start(t)
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	s2, tab2, _ := r.Outcome("test")
	a, _ := json.Marshal([]any{s, tab})
	b, _ := json.Marshal([]any{s2, tab2})
	if !bytes.Equal(a, b) {
		t.Error("a second run is another one")
	}
}

// A lone message in a fabric of one rate takes no less time when one more cable is broken. (With other traffic this
// is not so: a hash over fewer paths may collide less, and a link that breaks earlier may keep a flow away from one
// that breaks later.)
func TestOneMoreBrokenLinkIsNeverFaster(t *testing.T) {
	slower := 0
	for seed := *randomFrom; seed < *randomFrom+uint64(*randomRuns)/4; seed++ {
		d := draw(seed)
		rate, cable := d.of(drawnRates...), d.of("1m", "30m", "300m")
		d.sets = []string{"fabric.host_link.rate=" + rate, "fabric.fabric_link.rate=" + rate,
			"fabric.host_link.cable=" + cable, "fabric.fabric_link.cable=" + cable,
			"lb=" + d.of("ecmp", "flowlet")}
		d.text = fmt.Sprintf("name: alone\nseed: %d\nfabric: {kind: dragonfly, k: 1, groups: %d, "+
			"allow_deadlock: true, group_size: 3}\n"+
			"workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-%d/gpu-1, bytes: %s}]}}\nfailures:\n",
			seed, d.between(2, 4), d.between(2, 6), d.of("1B", "4097B", "300KB"))
		links := betweenSwitches(&drawn{text: strings.TrimSuffix(d.text, "failures:\n"), sets: d.sets})
		last := int64(0)
		for range 6 {
			if len(links) == 0 {
				break
			}
			i := d.Intn(len(links))
			d.text += fmt.Sprintf("  - {link: '%s', at: 0s}\n", links[i])
			links = append(links[:i:i], links[i+1:]...)
			r := d.start(t)
			if r == nil {
				break // the fabric is partitioned
			}
			if err := r.Go(nil); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, d)
			}
			s, _, _ := r.Outcome("test")
			if s.StepTime < last {
				t.Errorf("seed %d: %d ps, and %d with one more broken link\n%s", seed, last, s.StepTime, d)
			}
			if last > 0 && s.StepTime > last {
				slower++
			}
			last = s.StepTime
		}
	}
	if slower == 0 {
		t.Error("no broken link made anything slower: the property was not tried")
	}
}

package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/exec"
	"railyard/internal/long"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/unit"

	"pgregory.net/rapid"
)

// randomEvents draws events of a scenario's cables, as lines of a scenario: flaps, other rates, bit errors. In the
// end all cables work, so everything sent arrives.
func randomEvents(rt *rapid.T, text string, sets []string) string {
	p, err := parsed(text, sets)
	if err != nil {
		rt.Fatal(err)
	}
	g := p.Graph
	var b strings.Builder
	b.WriteString("events:\n")
	at := map[int]unit.Time{}
	for range rapid.IntRange(1, 12).Draw(rt, "events") {
		l := rapid.IntRange(0, len(g.Links)-1).Draw(rt, "link")
		at[l] += unit.Time(rapid.IntRange(0, 60_000).Draw(rt, "after"))*unit.Nanosecond + unit.Nanosecond
		fmt.Fprintf(&b, "  - {link: '%s', at: %dps", g.End(l, g.Links[l].B), int64(at[l]))
		what := rapid.IntRange(1, 7).Draw(rt, "what")
		if what&1 != 0 { // a flap shorter than the routes' convergence; any cable may flap
			fmt.Fprintf(&b, ", up: %v, converge: 10s", rapid.Bool().Draw(rt, "up"))
		}
		if what&2 != 0 {
			share := rapid.SampledFrom([]int{1, 2, 3, 10, 50}).Draw(rt, "share")
			fmt.Fprintf(&b, ", rate: %dbps", int64(g.Links[l].Rate)/int64(share))
		}
		if what&4 != 0 {
			ber := rapid.SampledFrom([]float64{0, 1e-8, 1e-6}).Draw(rt, "errors")
			fmt.Fprintf(&b, ", bit_error_rate: %g", ber)
		}
		b.WriteString("}\n")
	}
	for l := range len(g.Links) {
		if from, ok := at[l]; ok {
			fmt.Fprintf(&b, "  - {link: '%s', at: %dps, up: true, rate: %dbps, bit_error_rate: 0}\n",
				g.End(l, g.Links[l].B), int64(from+200*unit.Microsecond), int64(g.Links[l].Rate))
		}
	}
	return b.String()
}

// parsed resolves a scenario.
func parsed(text string, sets []string) (*scenario.Plan, error) {
	d, err := scenario.Parse("random.yaml", []byte(text), sets)
	if err != nil {
		return nil, err
	}
	return d.Resolve(nil)
}

// For any cable events, every byte arrives. A lossless class loses packets only in broken cables and to bit errors.
// No figure is above its bound, no message arrives before its ideal time, and no state of the events is left over.
func TestRandomEvents(t *testing.T) {
	ended, enough := 0, uint64(long.N(longEnough/4, 1<<40))
	rapid.Check(t, func(rt *rapid.T) {
		text, sets := randomScenario(rt)
		sets = append(sets, "output.sample="+rapid.SampledFrom([]string{"1us", "10us"}).Draw(rt, "sample"),
			fmt.Sprintf("fabric.cut_through=%v", rapid.Bool().Draw(rt, "cut")), "switch.watchdog.on=false",
			"server.bond="+rapid.SampledFrom([]string{"hash", "affinity", "spray"}).Draw(rt, "bond"))
		text += randomEvents(rt, text, sets)
		p, err := parsed(text, sets)
		if err != nil {
			rt.Fatal(err)
		}
		r, err := New(p)
		if err != nil {
			rt.Skip(err)
		}
		if err := r.Go(func(exec.Progress) bool { return r.Net.Q.Popped() < enough }); err != nil {
			rt.Fatal(err)
		}
		s, tab, _ := r.Outcome("test")
		possible(rt, r, s, tab)
		if s.FailedQPs > 0 || r.Interrupted() {
			return // too many bit errors for seven retries, or a time-out for each packet
		}
		ended++
		if !s.Complete || unit.Bytes(s.NetworkBytes) != r.Exec.NetBytes {
			rt.Fatalf("complete: %v, %d bytes of %d arrived", s.Complete, s.NetworkBytes, r.Exec.NetBytes)
		}
		if s.Drops != s.DropsDown+s.DropsCorrupt+s.DropsWRED {
			rt.Fatalf("%d packets lost: %d in broken cables, %d to bit errors, %d to WRED",
				s.Drops, s.DropsDown, s.DropsCorrupt, s.DropsWRED)
		}
		if err := r.Net.Audit(); err != nil {
			rt.Fatal(err)
		}
	})
	if ended < 10 {
		t.Errorf("%d runs came to their end", ended)
	}
}

// onePath is a message whose packets all take one path.
const onePath = `
name: one path
fabric:
  kind: fat-tree
  k: 4
  host_link: {rate: 100Gbps, cable: 3m}
  fabric_link: {rate: 100Gbps, cable: 30m}
  pipeline: 300ns
cc: {algorithm: none}
transport: {timeout: 8}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-9/gpu-1, bytes: 4MB}]}}
`

// On one path each further slow period of a cable delays later packets, and never makes them earlier. The
// exceptions are a frame that begins in the period and keeps its rate afterwards, and one that starts just after
// it.
func TestMoreBadEventsAreNeverFaster(t *testing.T) {
	r := load(t, onePath)
	way := map[int]bool{}
	r.ways(way, 0, 8)
	var names []string
	for l, link := range r.Graph.Links {
		if way[l] || r.Graph.NICs[0].Links[0] == l || r.Graph.NICs[8].Links[0] == l {
			names = append(names, r.Graph.End(l, link.B))
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		text, before, frames := onePath+"events:\n", unit.Time(0), unit.Time(0)
		free := map[string]unit.Time{}
		for range rapid.IntRange(1, 5).Draw(rt, "events") {
			name := rapid.SampledFrom(names).Draw(rt, "link")
			from := free[name] + unit.Time(rapid.IntRange(1, 200).Draw(rt, "from"))*unit.Microsecond
			long := unit.Time(rapid.IntRange(1, 200).Draw(rt, "long")) * unit.Microsecond
			free[name] = from + long
			slow := rapid.IntRange(10, 99).Draw(rt, "rate")
			frames += unit.Serialize(4096+62+20, unit.Rate(slow)*unit.Gbps)
			text += fmt.Sprintf("  - {link: '%s', at: %v, rate: %dGbps}\n", name, from, slow)
			text += fmt.Sprintf("  - {link: '%s', at: %v, rate: 100Gbps}\n", name, from+long)
			_, s, _ := runAll(t, text)
			took := unit.Time(s.StepTime)
			if took < before-frames || !s.Complete || s.Drops > 0 {
				rt.Fatalf("%v, and %v with one event less; %d drops\n%s", took, before, s.Drops, text)
			}
			before = took
		}
	})
}

// An event without effect changes nothing: every table is equal to the picosecond.
func TestAnEventThatChangesNothing(t *testing.T) {
	text := strings.Replace(fourSpines, "failures:", `events:
  - {link: 'rail-1:Eth6', at: 7us, up: true, rate: 100Gbps}
  - {link: 'rail-1:Eth5', at: 120us, up: false, bit_error_rate: 0}
failures:`, 1)
	_, one, with := runAll(t, fourSpines)
	_, two, without := runAll(t, text)
	if one.Events != two.Events || one.StepTime != two.StepTime || one.Slowest.Why != two.Slowest.Why {
		t.Errorf("with events that change nothing %v and %d events, without %v and %d",
			unit.Time(two.StepTime), two.Events, unit.Time(one.StepTime), one.Events)
	}
	if !slices.Equal(with.Links, without.Links) || !slices.Equal(with.Flows, without.Flows) ||
		!slices.Equal(with.Ports, without.Ports) || !slices.Equal(with.Pauses, without.Pauses) ||
		!slices.Equal(with.Signals, without.Signals) {
		t.Error("tables differ")
	}
}

// A cable flaps every 100 us, another fails meanwhile, and then the first again. After that the network behaves as
// if nothing had happened, to the picosecond.
func TestNothingIsLeftOfFlaps(t *testing.T) {
	base := `
name: flaps
fabric:
  kind: rail
  hosts: 2
  spines: 2
  uplinks: 1
  host_link: {rate: 100Gbps, cable: 3m}
  fabric_link: {rate: 100Gbps, cable: 30m}
server: {gpus: 2, nics: 2, pxn: false}
cc: {algorithm: none}
transport: {timeout: 8, recovery: selective, write: only}
workload: {traffic: {flows: [
  {from: host-1/gpu-1, to: host-2/gpu-2, bytes: 10MB},
  {from: host-2/gpu-1, to: host-1/gpu-2, bytes: 10MB},
  {from: host-1/gpu-1, to: host-2/gpu-2, bytes: 10MB, start: 50ms},
  {from: host-2/gpu-1, to: host-1/gpu-2, bytes: 10MB, start: 50ms}]}}
`
	late := func(text string, sets ...string) (times []unit.Time, r *Run, s *result.Summary) {
		r, s, tab := runAll(t, base+text, sets...)
		for _, f := range tab.Flows[len(tab.Flows)-2:] {
			times = append(times, unit.Time(f.Done-f.Posted))
		}
		return times, r, s
	}
	events := "events:\n"
	for i := range 20 { // to 2 ms: down, then up at half rate with errors
		at := unit.Time(i+1) * 100 * unit.Microsecond
		change := "up: false, converge: 30us"
		if i%2 == 1 {
			change = "up: true, rate: 50Gbps, bit_error_rate: 1e-6, converge: 30us"
		}
		events += fmt.Sprintf("  - {link: 'rail-1:Eth3', at: %v, %s}\n", at, change)
	}
	events += "  - {link: 'rail-1:Eth3', at: 3ms, rate: 100Gbps, bit_error_rate: 0}\n" +
		"failures: [{link: 'rail-2:Eth3', at: 150us, until: 420us, converge: 50us}, " +
		"{link: 'rail-2:Eth3', at: 500us, until: 900us, converge: 10us}]\n"
	for _, lb := range []string{"ecmp", "spray-least"} {
		want, _, _ := late("", "lb="+lb)
		got, r, s := late(events, "lb="+lb)
		if !s.Complete || s.DropsDown == 0 || s.DropsCorrupt == 0 {
			t.Errorf("%s: complete %v, %d and %d packets lost: was anything there?",
				lb, s.Complete, s.DropsDown, s.DropsCorrupt)
		}
		if lb == "ecmp" && !slices.Equal(got, want) {
			t.Errorf("%s: 40 ms behind the last event messages take %v, without events %v", lb, got, want)
		}
		for i, x := range got { // its choices are random: those of another time
			if x > want[i]*21/20 {
				t.Errorf("%s: 40 ms behind the last event a message takes %v, without events %v",
					lb, x, want[i])
			}
		}
		if len(r.routed) != 0 {
			t.Errorf("%s: routes still avoid %v", lb, r.routed)
		}
		for i := range r.Net.Ports {
			if p := &r.Net.Ports[i]; p.Paused != 0 || p.Flags != 0 || p.Rate != r.Net.Rate(int32(i)) {
				t.Errorf("%s: %s is %+v", lb, r.PortName(int32(i)), p)
			}
		}
	}
}

// A slower cable may forward a frame earlier, because a cut-through switch makes the frame wait for its end only if
// the next cable is faster. The ideal knows of cables that are slower at times.
func TestSlowerCableThatCutsThrough(t *testing.T) {
	for _, events := range []string{"", "events: [{link: 's:Eth2', at: 1us, rate: 50Gbps}, " +
		"{link: 's:Eth2', at: 1s, rate: 100Gbps}]\n"} {
		_, s, tab := runAll(t, `
name: cut
fabric:
  kind: graph
  cut_through: true
  graph:
    hosts: [A, B]
    switches: [{name: s, role: leaf}]
    links: [{from: A, to: s, rate: 50Gbps}, {from: B, to: s, rate: 100Gbps}]
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
workload: {traffic: {flows: [{from: A/gpu-1, to: B/gpu-1, bytes: 4KB, start: 10us}]}}
`+events)
		f := tab.Flows[0]
		if took := f.Done - f.Posted; !s.Complete || took < f.Ideal || events == "" && took != f.Ideal {
			t.Errorf("%q: %v, ideal %v", events, unit.Time(took), unit.Time(f.Ideal))
		}
	}
}

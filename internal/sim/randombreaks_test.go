package sim

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/field"
	"railyard/internal/topo"

	"pgregory.net/rapid"
)

// randomThings draws failures of a fabric, as lines of a scenario; some are impossible.
func randomThings(rt *rapid.T, g *topo.Graph) string {
	var b strings.Builder
	b.WriteString("events:\n")
	for i := range rapid.IntRange(1, 6).Draw(rt, "things") {
		l := &g.Links[rapid.IntRange(0, len(g.Links)-1).Draw(rt, "link")]
		nic := g.NICName(rapid.IntRange(0, len(g.NICs)-1).Draw(rt, "nic"))
		server := g.Nodes[g.Hosts[rapid.IntRange(0, len(g.Hosts)-1).Draw(rt, "server")]].Name
		thing := rapid.SampledFrom([]string{"link: '" + g.Nodes[l.B].Name + ":" + l.BPort + "'",
			"nic: " + nic, "switch: " + g.Nodes[l.B].Name, "server: " + server,
			"switch: " + g.Nodes[l.B].Name + ", ports: [" + l.BPort + "]"}).Draw(rt, "thing")
		what := rapid.SampledFrom([]string{"up: false", "up: true", "boot: 300us", "storm: true",
			"storm: false", "rate_share: 0.3", "rate_share: 0.1, direction: in", "rate_share: 1",
			"flap: {period: 40us, duty: 30, count: 4}", "bit_error_rate: 1e-7",
			"up: false, detect: 5us, converge: 60us"}).Draw(rt, "what")
		fmt.Fprintf(&b, "  - {%s, at: %dus, %s}\n", thing, rapid.IntRange(0, 40).Draw(rt, "at")*5+i/3, what)
	}
	return b.String()
}

// For any failures a job ends, with its result or with an outcome that names the lost ranks. A rejection always
// names a place. Nothing panics, buffers add up, and no figure exceeds its bound.
func TestRandomBreaks(t *testing.T) {
	refused, lost, done := 0, 0, 0
	enough := func() bool { return refused > 0 && lost > 0 && done > 0 }
	drawUntil(t, enough, func(rt *rapid.T) {
		text, sets := randomScenario(rt)
		lb := rapid.SampledFrom([]string{"ecmp", "ecmp-resilient", "spray", "flowlet"}).Draw(rt, "policy")
		sets = append(sets, "transport.timeout=4", "switch.watchdog.poll=100us",
			"switch.watchdog.detect=200us", "switch.watchdog.restore=200us", "lb="+lb)
		whole, err := parsed(text, sets)
		if err != nil {
			rt.Skip(err)
		}
		text += randomThings(rt, whole.Graph)
		p, err := parsed(text, sets)
		if err != nil {
			for _, e := range field.All(err) {
				if e.Line == 0 || !strings.HasPrefix(e.Path, "events[") {
					rt.Fatalf("%s\n%v", text, err)
				}
			}
			refused++
			return
		}
		r, err := New(p)
		if err != nil {
			rt.Fatalf("%s\n%v", text, err)
		}
		if err := r.Go(nil); err != nil {
			rt.Fatalf("%s\n%s\n%v", text, sets, err)
		}
		s, tab, _ := r.Outcome("test")
		possible(rt, r, s, tab)
		if s.Complete == (s.Outcome != nil) {
			rt.Fatalf("%s\ncomplete %v, outcome %+v", text, s.Complete, s.Outcome)
		}
		if err := r.Net.Audit(); err != nil {
			rt.Fatal(err)
		}
		if s.Complete {
			done++
			return
		}
		lost++
		if o := s.Outcome; o.Job < o.At || o.Why == "" || o.Waited == 0 || o.At > int64(r.Net.Q.Now()) {
			rt.Fatalf("%+v", o)
		}
	})
	if !enough() {
		t.Errorf("%d refused, %d lost a rank, %d finished", refused, lost, done)
	}
}

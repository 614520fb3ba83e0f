package flows_test

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"railyard/internal/flows"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/roce"
	"railyard/scenarios"
	"railyard/unit"
)

// rail is servers of one GPU at one switch, without congestion control.
const rail = `
name: rail
fabric: {kind: rail-only, hosts: 6, host_link: {rate: 100Gbps}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
`

// fataler is a test, or a property's draw.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// planned resolves a scenario text.
func planned(t fataler, text string, sets ...string) *scenario.Plan {
	t.Helper()
	d, err := scenario.Parse("test", []byte(text), sets)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Resolve(scenarios.File)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// run simulates a scenario text.
func run(t testing.TB, text string, sets ...string) (*flows.Run, *result.Summary, *result.Tables) {
	t.Helper()
	p := planned(t, text, sets...)
	r, err := flows.Build(p, flows.Estimate(p))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	s, tab, _ := r.Outcome("test")
	return r, s, tab
}

// traffic spells transfers out.
func traffic(all ...[3]int) string {
	var b strings.Builder
	b.WriteString("workload:\n  traffic:\n    flows:\n")
	for _, f := range all {
		fmt.Fprintf(&b, "      - {from: host-%d/gpu-1, to: host-%d/gpu-1, bytes: %dB}\n", f[0], f[1], f[2])
	}
	return b.String()
}

// wire returns the bytes on the wire of a message of full packets of 4,096 bytes (RETH in the first).
func wire(bytes int) float64 {
	return float64(bytes + bytes/4096*(roce.DataLen(roce.WriteMiddle, 0)+roce.PreambleIFG) + 16)
}

// TestClosedForms compares times with closed forms: bytes on the wire over the available rate, and the latency of a
// lone flow.
func TestClosedForms(t *testing.T) {
	const mb = 1 << 20
	_, _, tab := run(t, rail+traffic([3]int{1, 2, mb}))
	latency := float64(tab.Flows[0].Done) - wire(mb)*80
	line := func(bytes float64) float64 { return latency + bytes*80 } // ps at 100 Gbit/s
	two, five := line(2*wire(mb)), line(5*wire(mb))
	for _, c := range []struct {
		name  string
		flows [][3]int
		sets  []string
		want  []float64
	}{
		{"two share a receiver", [][3]int{{1, 2, mb}, {3, 2, mb}}, nil, []float64{two, two}},
		{"the longer one goes on alone", [][3]int{{1, 2, mb}, {3, 2, 2 * mb}}, nil,
			[]float64{line(2 * wire(mb)), line(wire(mb) + wire(2*mb))}},
		{"incast of five", [][3]int{{1, 6, mb}, {2, 6, mb}, {3, 6, mb}, {4, 6, mb}, {5, 6, mb}}, nil,
			[]float64{five, five, five, five, five}},
		{"a sender divides its NIC", [][3]int{{1, 2, mb}, {1, 3, mb}}, nil, []float64{two, two}},
		{"a queue pair's messages go one after another", [][3]int{{1, 2, mb}, {1, 2, mb}}, nil,
			[]float64{line(wire(mb)), line(2 * wire(mb))}},
		{"what one leaves another takes: thirds, and two thirds",
			[][3]int{{1, 2, mb}, {3, 2, mb}, {4, 2, mb}, {4, 5, mb}}, nil,
			[]float64{line(3 * wire(mb)), line(3 * wire(mb)), line(3 * wire(mb)), line(1.5 * wire(mb))}},
		{"PCIe of half the rate", [][3]int{{1, 2, mb}}, []string{"server.pcie=50Gbps"},
			[]float64{latency + float64(mb)*160 + (wire(4096)-16)*80}},
	} {
		_, _, tab := run(t, rail+traffic(c.flows...), c.sets...)
		for i, want := range c.want {
			if got := float64(tab.Flows[i].Done); math.Abs(got-want) > 2e-4*want {
				t.Errorf("%s: flow %d ends at %v, want %v", c.name, i+1, unit.Time(got), unit.Time(want))
			}
		}
	}
}

// TestMessagesApart has two hosts send at twice their rate. Messages on separate queue pairs share the line; on the
// pair's queue pair they are sequential. The line is always busy and the last message ends at the same time, but
// equal messages that share take longer on average.
func TestMessagesApart(t *testing.T) {
	const two = "name: two\nfabric: {kind: single-rail, hosts: 2, host_link: {rate: 100Gbps}}\n" +
		"server: {gpus: 1, nics: 1}\ncc: {algorithm: none}\n" +
		"workload: {traffic: {background: {load: 200, sizes: 256KB, for: 1ms}}}\n"
	_, own, each := run(t, two)
	_, shared, pair := run(t, two, "workload.traffic.background.queue_pairs=per-pair")
	if len(each.QPs) != len(each.Flows) || len(pair.QPs) != 2 || len(pair.Flows) != len(each.Flows) {
		t.Errorf("%d messages on %d queue pairs; per pair %d on %d", len(each.Flows), len(each.QPs), len(pair.Flows),
			len(pair.QPs))
	}
	off := float64(own.StepTime)/float64(shared.StepTime) - 1
	if math.Abs(off) > 1e-3 || own.Flows.Mean < shared.Flows.Mean {
		t.Errorf("ends after %v, per pair %v; messages take %v, %v", unit.Time(own.StepTime), unit.Time(shared.StepTime),
			unit.Time(own.Flows.Mean), unit.Time(shared.Flows.Mean))
	}
}

// pair is two segments connected by two spines, at the rate of one NIC.
const pair = `
name: pair
fabric: {kind: rail, segments: 2, hosts: 2, spines: 2, uplinks: 1, host_link: {rate: 100Gbps},
         fabric_link: {rate: 100Gbps}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
`

// TestEvents breaks and slows down links in the middle of a flow.
func TestEvents(t *testing.T) {
	const mb = 1 << 20
	text := pair + traffic([3]int{1, 3, 8 * mb})
	_, _, whole := run(t, text)
	r, _, _ := run(t, text)
	o := r.Observe()
	uplink := o.Ports[r.Hosts.Path(0)[1]].Link
	name := r.Graph.End(int(uplink), r.Graph.Links[uplink].A)
	before := float64(whole.Flows[0].Done)
	half := fmt.Sprintf("events:\n  - {at: 300us, link: %q, rate: 50Gbps}\n", name)
	_, s, tab := run(t, text+half)
	got, want := float64(tab.Flows[0].Done), 300e6+2*(before-300e6)
	if math.Abs(got-want) > 0.01*want || !s.Complete {
		t.Errorf("at half rate from 300 us on it ends at %v, want %v", unit.Time(got), unit.Time(want))
	}
	// Routes converge after 1 ms. The local ACK timeout (code 14) is 67.1 ms, after which the transfer goes on over
	// the other spine.
	down := fmt.Sprintf("events:\n  - {at: 300us, link: %q, up: false}\n", name)
	_, s, tab = run(t, text+down, "fabric.routing.converge=1ms")
	want = before + float64(4096*unit.Nanosecond<<14)
	if got := float64(tab.Flows[0].Done); math.Abs(got-want) > 0.001*want || !s.Complete {
		t.Errorf("over a link that breaks at 300 us it ends at %v, want %v", unit.Time(got), unit.Time(want))
	}
	if len(s.Moves) != 1 || s.Moves[0].Moved != 1 || s.Moves[0].Needless != 0 {
		t.Errorf("moves: %+v, want one of one connection", s.Moves)
	}
	// A server whose only cable fails is lost when the retries are exhausted.
	nic := r.Graph.End(r.Graph.NICs[0].Links[0], r.Graph.Hosts[0])
	gone := fmt.Sprintf("events:\n  - {at: 300us, link: %q, up: false}\n", nic)
	_, s, _ = run(t, text+gone)
	if s.Outcome == nil || len(s.Outcome.Errors) != 1 {
		t.Errorf("a server without its cable: outcome %+v, want one connection that gave up", s.Outcome)
	}
}

// TestConserved draws fabrics and transfers with every congestion control. No link exceeds its rate, every port has
// carried the bytes of the messages that cross it, and a run is identical on any number of processors.
func TestConserved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := []string{
			"{kind: rail-only, hosts: 4, host_link: {rate: 100Gbps}}",
			"{kind: rail, segments: 2, hosts: 2, spines: 2, uplinks: 1, host_link: {rate: 200Gbps}, " +
				"fabric_link: {rate: 200Gbps}}",
			"{kind: fat-tree, k: 4, host_link: {rate: 100Gbps}}",
		}
		text := "name: drawn\nserver: {gpus: 1, nics: 1}\nfabric: " +
			rapid.SampledFrom(kinds).Draw(t, "fabric") + "\n" +
			"cc: {algorithm: " + rapid.SampledFrom([]string{"none", "dcqcn", "swift"}).Draw(t, "cc") + "}\n"
		if rapid.Bool().Draw(t, "spray") {
			text += "lb: spray\ntransport: {recovery: selective, write: only}\n"
		}
		var all [][3]int
		for range rapid.IntRange(1, 12).Draw(t, "flows") {
			from := rapid.IntRange(1, 4).Draw(t, "from")
			to := rapid.IntRange(1, 4).Filter(func(x int) bool { return x != from }).Draw(t, "to")
			all = append(all, [3]int{from, to, rapid.IntRange(1, 3000).Draw(t, "kb") * 1000})
		}
		text += traffic(all...)
		once := func() (*flows.Run, *result.Tables, string) {
			p := planned(t, text)
			r, err := flows.Build(p, flows.Estimate(p))
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Go(nil); err != nil {
				t.Fatal(err)
			}
			s, tab, _ := r.Outcome("test")
			b, err := json.Marshal([]any{s, tab})
			if err != nil {
				t.Fatal(err)
			}
			return r, tab, string(b)
		}
		r, tab, first := once()
		old := runtime.GOMAXPROCS(1)
		_, _, second := once()
		if runtime.GOMAXPROCS(old); first != second {
			t.Fatal("a second run on one processor differs")
		}
		for _, row := range tab.Links {
			most := unit.InTime(unit.Rate(tab.Ports[row.Port].Rate), unit.Time(row.Length))
			if row.Bytes > int64(most)+1 {
				t.Fatalf("%s carried %d bytes in %v, at most %v", tab.Ports[row.Port].Name, row.Bytes,
					unit.Time(row.Length), most)
			}
		}
		o := r.Observe()
		sum, into := int64(0), int64(0)
		for i := range o.Messages {
			sum += int64(o.Rules.Wire(o.Messages[i].Bytes))
		}
		for _, nic := range r.Graph.NICs {
			for _, p := range tab.Ports {
				port := o.Ports[p.Port]
				if int(port.Link) == nic.Links[0] && int(port.Node) != r.Graph.Hosts[nic.Host] {
					into += p.WireBytes
				}
			}
		}
		if math.Abs(float64(into-sum)) > 1e-6*float64(sum)+float64(len(r.Graph.NICs)) {
			t.Fatalf("%d bytes were sent, %d came out of ports to servers", sum, into)
		}
	})
}

package swconf

import (
	"regexp"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/topo"
	"railyard/unit"

	"pgregory.net/rapid"
)

// The two figures of rule headroom are for the same frames. They differ by the bytes that arrive within the
// response time of IEEE 802.3, 31B.3.7, in quanta of 64 bytes, minus preambles and gaps. Headroom below the second
// figure may suffice for RoCE's frames, which are shorter than the MTU; the third figure is their requirement.
func TestHeadroomOfTwoResponses(t *testing.T) {
	two := regexp.MustCompile(` needs (\S+) if its neighbor takes the whole response time of IEEE 802.3 ` +
		`to obey a pause, (\S+) if none(?: \((\S+) with frames of path MTU 4096\))?$`)
	size := func(t *rapid.T, s string) unit.Bytes {
		b, err := unit.ParseBytes(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	rapid.Check(t, func(t *rapid.T) {
		gbps := rapid.SampledFrom([]int64{100, 200, 400, 800, 1600}).Draw(t, "Gbit/s")
		quanta := map[int64]int64{100: 394, 200: 453, 400: 905, 800: 905, 1600: 905}[gbps]
		mtu := unit.Bytes(rapid.IntRange(4160, 9216).Draw(t, "MTU"))
		mm := rapid.Int64Range(1000, 300_000).Draw(t, "mm") // up to 1 MB, which is printed to the byte
		rate := unit.Rate(gbps) * unit.Gbps
		most := queue.Headroom(rate, topo.CableDelay(mm), queue.Response(rate), 0, mtu) - 1
		least := queue.Headroom(rate, topo.CableDelay(mm), 0, 0, 4096+Headers)
		have := unit.Bytes(rapid.Int64Range(int64(least), int64(most)).Draw(t, "headroom"))
		c := leaf()
		p := c.Ports[0]
		p.Speed.V, p.MTU.V, p.CableMM = rate, mtu, Say(mm, at(93))
		c.QoS.Queues[3].MTU.V, c.QoS.Queues[3].PG.V.Headroom = mtu, have
		found := false
		in := Input{Configs: []*Config{c}, DataDSCP: 24, CNPDSCP: 48, PathMTU: 4096, Base: queue.Default()}
		for _, f := range Lint(in) {
			m := two.FindStringSubmatch(f.Message)
			if f.Rule != "headroom" {
				continue
			}
			if found = true; m == nil || f.Severity != Warning {
				t.Fatalf("%s: %s", f.Severity, f.Message)
			}
			whole, none := size(t, m[1]), size(t, m[2])
			if diff, want := whole-none, unit.Bytes(64*quanta)*mtu/(mtu+20); diff < want || diff > want+1 {
				t.Fatalf("%s: the figures differ by %d bytes, the response time's are %d", f.Message, diff, want)
			}
			if short := m[3] != ""; short != (have < none) || short && have < size(t, m[3]) {
				t.Fatalf("%d bytes: %s", have, f.Message)
			}
		}
		if !found {
			t.Fatal("no finding")
		}
	})
}

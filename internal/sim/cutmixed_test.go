package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"railyard/internal/cause"
	"railyard/internal/route"
)

// No message arrives before its ideal time, for cables with different rates: NICs of one or several ports, GPUs
// with several NICs or a share of one, leaves and spines between them, cut-through or not.
func TestIdealWhereCablesDiffer(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		of := func(name string, words ...string) string { return rapid.SampledFrom(words).Draw(rt, name) }
		rate := func(name string) string { return of(name, drawnRates...) }
		b := &strings.Builder{}
		fmt.Fprintf(b, "seed: %d\nfabric:\n  cut_through: %v\n  pipeline: %s\n  types:\n",
			rapid.IntRange(1, 1000).Draw(rt, "seed"), rapid.IntRange(0, 3).Draw(rt, "cut") > 0,
			of("pipeline", "0ns", "400ns", "1us"))
		shapes := []string{"gpus: 2, nics: 2", "gpus: 2, nics: 1", "gpus: 1, nics: 4", "gpus: 1, nics: 1"}
		for _, name := range []string{"a", "b"} {
			fmt.Fprintf(b, "    %s: {%s, nic_ports: %d}\n", name, of("shape "+name, shapes...),
				rapid.IntRange(1, 3).Draw(rt, "ports "+name))
		}
		b.WriteString("    leaf: {role: leaf}\n    spine: {role: spine}\n  nodes:\n" +
			"    a: {type: a, count: 2}\n    b: {type: b, count: 2}\n    leaf: {type: leaf, count: 2}\n" +
			"    spine: {type: spine, count: 3}\n  cables:\n")
		for _, from := range []string{"a", "b"} {
			for n := 1; n <= 2; n++ {
				fmt.Fprintf(b, "    - {from: %s-%d, to: leaf-%d, rate: %s, length: %s}\n", from, n, n,
					rate("cable"), of("length", "1m", "100m"))
			}
		}
		for l := 1; l <= 2; l++ {
			for s := 1; s <= 3; s++ {
				fmt.Fprintf(b, "    - {from: leaf-%d, to: spine-%d, rate: %s, length: %s, count: %d}\n", l, s,
					rate("up"), of("up length", "1m", "3m", "300m"), rapid.IntRange(1, 2).Draw(rt, "count"))
			}
		}
		load := of("load", "permutation: {bytes: %s}", "alltoall: {bytes: %s}",
			"incast: {bytes: %s, fan_in: 3}")
		fmt.Fprintf(b, "workload: {traffic: {"+load+"}}\n", of("bytes", "1B", "4097B", "100KB", "1MB"))
		policies := slices.DeleteFunc(route.Names(), func(n string) bool { // policies for other fabrics and NICs
			p := route.Lookup(n)
			return route.Is[route.Riser](p) || route.Is[route.EVReader](p)
		})
		sets := []string{"lb=" + of("lb", policies...),
			"server.bond=" + of("bond", "hash", "affinity", "spray"),
			"transport.mtu=" + of("mtu", "256", "1024", "4096"), "transport.recovery=selective",
			fmt.Sprintf("transport.qps=%d", rapid.IntRange(1, 4).Draw(rt, "qps")),
			"transport.write=" + of("write", "first-middle-last", "only"),
			"cc.algorithm=" + of("cc", "none", "dcqcn")}
		if rapid.IntRange(0, 3).Draw(rt, "pcie") == 0 {
			sets = append(sets, "server.pcie="+of("pcie rate", "20Gbps", "126Gbps", "512Gbps"))
		}
		_, _, tab := runAll(t, b.String(), sets...)
		for _, f := range tab.Flows {
			if f.Done >= 0 && f.Done-f.Posted < f.Ideal {
				rt.Fatalf("%s to %s: %d, ideal %d\n%s%s", f.From, f.To, f.Done-f.Posted, f.Ideal, b, sets)
			}
		}
		for _, c := range tab.Collectives {
			if c.End-c.Start < c.Lost.Of(cause.LineRate) {
				rt.Fatalf("%s: %d, ideal %d\n%s%s", c.Name, c.End-c.Start, c.Lost.Of(cause.LineRate), b, sets)
			}
		}
	})
}

package explain_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// Over a scheduled fabric with room a message of one packet takes its ideal time to the picosecond: request,
// grant, cells. A longer one takes no less, and hardly more: messages and cells wait for one another, a few
// cells of 20 ns.
func TestIdealOverAScheduledFabric(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pick := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(rt, name) }
		bytes := rapid.SampledFrom([]int{1, 255, 4096, 4097, 8192, 1_000_001}).Draw(rt, "bytes")
		to := pick("to", "host-4/gpu-1", "host-2/gpu-1")
		text := fmt.Sprintf(`
name: alone
fabric: {kind: rail, hosts: 2, segments: 2, spines: %s, uplinks: %s, host_link: {rate: %s, cable: 3m},
  fabric_link: {rate: %s, cable: %s}, pipeline: %s, scheduled: {cell: %s, credit: %s}}
server: {gpus: 1, nics: 1, nic_latency: %s}
cc: {algorithm: none}
transport: {mtu: %s}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: %s, bytes: %dB}]}}
`, pick("spines", "8", "16"), pick("uplinks", "1", "2"), pick("host", "100Gbps", "400Gbps"),
			pick("fabric", "100Gbps", "400Gbps"), pick("cable", "3m", "100m"),
			pick("pipeline", "0ns", "350ns"),
			pick("cell", "128B", "256B"), pick("credit", "4KiB", "9KB"), pick("nic", "0ns", "700ns"),
			pick("mtu", "1024", "4096"), to, bytes)
		_, _, tab := runAll(t, text)
		f := tab.Flows[0]
		over := f.Done - f.Posted - f.Ideal
		if over < 0 || bytes <= 255 && over != 0 || over > f.Ideal/50+4*20_480 {
			rt.Fatalf("took %d ps alone, ideal is %d (%+d)\n%s", f.Done-f.Posted, f.Ideal, -over, text)
		}
	})
}

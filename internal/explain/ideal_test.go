package explain_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A message alone in the fabric takes its ideal time to the picosecond, whatever its
// size, the path, the rates on it, the MTU, and whether switches store or cut through.
func TestIdealOfALoneFlow(t *testing.T) {
	fabrics := []string{
		`{kind: fat-tree, k: 4, host_link: {rate: %s, cable: 7m}, fabric_link: {rate: %s, cable: 100m},
  cut_through: %v, pipeline: %s}`,
		`{kind: rail, hosts: 4, spines: 2, uplinks: 2, host_link: {rate: %s, cable: 3m},
  fabric_link: {rate: %s, cable: 30m}, cut_through: %v, pipeline: %s}`,
		`{kind: pod, segments: 2, hosts: 2, spines: 2, host_link: {rate: %s, cable: 3m},
  fabric_link: {rate: %s, cable: 300m}, cut_through: %v, pipeline: %s}`,
	}
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.IntRange(0, len(fabrics)-1).Draw(rt, "fabric")
		rate := rapid.SampledFrom([]string{"100Gbps", "150Gbps", "400Gbps"})
		bytes := rapid.SampledFrom([]int{1, 255, 256, 257, 4095, 4096, 4097, 8192, 1_000_001}).Draw(rt,
			"bytes")
		if rapid.Bool().Draw(rt, "any size") {
			bytes = rapid.IntRange(1, 400_000).Draw(rt, "size")
		}
		gpus, ports, to := 2, 1, "host-4/gpu-2"
		switch kind {
		case 0:
			gpus, to = 1, "host-16/gpu-1"
		case 2:
			ports, to = 2, "host-4/gpu-1"
		}
		pcie := rapid.SampledFrom([]string{"0Gbps", "0Gbps", "60Gbps", "128Gbps"}).Draw(rt, "pcie")
		text := fmt.Sprintf(`
name: alone
fabric: %s
server: {gpus: %d, nics: %d, nic_ports: %d, nic_latency: %s, pcie: %s}
cc: {algorithm: none}
lb: %s
transport: {recovery: selective, write: %s, mtu: %d}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: %s, bytes: %dB}]}}
`, fmt.Sprintf(fabrics[kind], rate.Draw(rt, "host link"),
			rate.Draw(rt, "fabric link"), rapid.Bool().Draw(rt, "cut through"),
			rapid.SampledFrom([]string{"0ns", "350ns"}).Draw(rt, "pipeline")), gpus, gpus, ports,
			rapid.SampledFrom([]string{"0ns", "700ns"}).Draw(rt, "nic"), pcie,
			rapid.SampledFrom([]string{"ecmp", "flowlet"}).Draw(rt, "lb"),
			rapid.SampledFrom([]string{"only", "first-middle-last"}).Draw(rt, "write"),
			rapid.SampledFrom([]int{256, 1024, 4096}).Draw(rt, "mtu"), to, bytes)
		if rapid.Bool().Draw(rt, "IPv6") {
			text = strings.Replace(text, "fabric: {", "fabric: {ip: 6, ", 1)
		}
		_, _, tab := runAll(t, text)
		if f := tab.Flows[0]; f.Done-f.Posted != f.Ideal {
			rt.Fatalf("took %d ps alone, ideal is %d (%+d)\n%s", f.Done-f.Posted, f.Ideal,
				f.Ideal-f.Done+f.Posted, text)
		}
	})
}

// Sprayed over ports that are alike a lone message takes its ideal time too; where the
// fabric's cables are slower than the NIC's it may take longer, but never less.
func TestIdealOfASprayedFlow(t *testing.T) {
	for _, lb := range []string{"spray", "spray-random", "spray-least", "flowlet"} {
		for _, bond := range []string{"hash", "spray"} {
			for _, slower := range []bool{false, true} {
				sets := []string{"lb=" + lb, "server.bond=" + bond}
				if slower {
					sets = append(sets, "fabric.fabric_link.rate=100Gbps")
				}
				_, _, tab := runAll(t, `
name: sprayed
fabric: {kind: pod, segments: 2, hosts: 2, spines: 4, host_link: {rate: 400Gbps, cable: 3m},
  fabric_link: {rate: 800Gbps, cable: 300m}}
server: {gpus: 2, nics: 2, nic_ports: 2}
cc: {algorithm: none}
transport: {recovery: selective, write: only}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-4/gpu-1, bytes: 2MB}]}}
`, sets...)
				f := tab.Flows[0]
				over := float64(f.Done-f.Posted)/float64(f.Ideal) - 1
				if over < 0 || !slower && bond == "hash" && over != 0 || over > 3 {
					t.Errorf("%v: %d ps, ideal %d (%+.2f %%)", sets, f.Done-f.Posted, f.Ideal, 100*over)
				}
			}
		}
	}
}

// The last packet of a message is of another size than the others, longer where it has immediate data, and on
// parallel ways a shorter one goes past one that it follows: two packets may be there as soon as the longer is, not
// one behind the other.
func TestIdealOfAShortPacketThatOvertakes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fabric := rapid.SampledFrom([]string{
			`{kind: fat-tree, k: 4, host_link: {rate: 400Gbps, cable: 7m}, fabric_link: {rate: %s,
  cable: 100m}, cut_through: %v}`,
			`{kind: pod, segments: 2, hosts: 8, spines: 4, host_link: {rate: 400Gbps, cable: 3m},
  fabric_link: {rate: %s, cable: 300m}, cut_through: %v}`,
		}).Draw(rt, "fabric")
		ports := 1
		if strings.Contains(fabric, "pod") {
			ports = 2
		}
		pick := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(rt, name) }
		link, bond, pcie := pick("fabric link", "40Gbps", "400Gbps", "800Gbps"), pick("bond", "hash",
			"spray"), pick("pcie", "0Gbps", "128Gbps")
		_, _, tab := runAll(t, fmt.Sprintf(`
name: overtaken
fabric: %s
server: {gpus: 1, nics: 1, nic_ports: %d, bond: %s, pcie: %s}
cc: {algorithm: none}
lb: %s
transport: {recovery: selective, write: %s}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-16/gpu-1, bytes: %dB}]}}
`, fmt.Sprintf(fabric, link, rapid.Bool().Draw(rt, "cut through")), ports, bond, pcie,
			pick("lb", "spray", "spray-random", "spray-least"), pick("write", "only", "first-middle-last"),
			4096*rapid.IntRange(1, 9).Draw(rt, "full")+
				rapid.OneOf(rapid.IntRange(1, 4096), rapid.IntRange(4092, 4096)).Draw(rt, "rest")))
		f := tab.Flows[0]
		if over := f.Done - f.Posted - f.Ideal; over < 0 || over > f.Ideal/50 && link != "40Gbps" &&
			bond == "hash" {
			rt.Fatalf("took %d ps, ideal is %d (%+d)", f.Done-f.Posted, f.Ideal, over)
		}
	})
}

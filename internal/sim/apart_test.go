package sim

import (
	"strings"
	"testing"

	"railyard/internal/scenario"
	"railyard/unit"
)

// apartPod is a pod whose NICs have two ports, connected to two rail switches.
const apartPod = `
name: apart
fabric:
  kind: pod
  segments: 2
  hosts: 2
  spines: 2
  host_link: {rate: 200Gbps, cable: 5m}
  fabric_link: {rate: 400Gbps, cable: 30m}
  routing: {detect: 10us, converge: 500us}
server: {gpus: 1, nics: 1, nic_ports: 2, bond: apart}
transport: {timeout: 8}
cc: {algorithm: none}
`

// oneFlow goes to the other segment. exchange adds another flow, which is done before a port fails.
const (
	oneFlow  = "workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-3/gpu-1, bytes: 16MB}]}}\n"
	exchange = "workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-3/gpu-1, bytes: 16MB}, " +
		"{from: host-2/gpu-1, to: host-4/gpu-1, bytes: 1MB}]}}\n"
)

// Two ports without a bundle carry half of a transfer each, from first port to first port and from second to
// second, at the rate of both.
func TestPortsApartCarryHalves(t *testing.T) {
	r, s, _ := runAll(t, apartPod+oneFlow)
	for _, port := range []string{"rail-3:Eth1", "rail-4:Eth1"} {
		if n := r.sent(t, port); n < 8_000_000 || n > 9_000_000 {
			t.Errorf("%s has sent %d bytes", port, n)
		}
	}
	// 16 MB at 400 Gbit/s; a bundle may end both halves at one port, because its switches are one destination
	if took := unit.Time(s.StepTime); took < 320*unit.Microsecond || took > 335*unit.Microsecond {
		t.Errorf("it takes %v", took)
	}
	_, slow, _ := runAll(t, apartPod+oneFlow, "server.pcie=200Gbps")
	if d := float64(slow.StepTime) / float64(s.StepTime); d < 1.8 {
		t.Errorf("behind one link of PCIe of 200Gbps it takes %.2f of the time", d)
	}
}

// Data on a failed port have no path through the other one, so the rank is lost. A bundle goes on at half of its
// rate. Every event that breaks a port does so; a rail switch does so for all of its servers.
func TestAPortOfTwoBreaks(t *testing.T) {
	for event, lost := range map[string]bool{
		"link: 'rail-3:Eth1', at: 100us, up: false":                               true,
		"nic: host-3/nic-1p2, at: 100us, up: false":                               true,
		"nic: host-3/nic-1, at: 100us, up: false":                                 true,
		"switch: rail-4, at: 100us, up: false":                                    true,
		"nic: host-4/nic-1, at: 100us, up: false":                                 false, // another's
		"link: 'rail-3:Eth1', at: 100us, flap: {period: 1ms, duty: 90, count: 1}": false, // back in time
	} {
		text := apartPod + exchange + "events:\n  - {" + event + "}\n"
		if _, s, _ := runAll(t, text); s.Complete == lost || lost != (s.Outcome != nil) {
			t.Errorf("%s: complete %v, %+v", event, s.Complete, s.Outcome)
		}
		if strings.Contains(event, "nic-1p") || strings.Contains(event, "host-3/nic-1,") {
			continue // a bundle has no port of that name, or no port left
		}
		if _, s, _ := runAll(t, text, "server.bond=affinity", "transport.qps=2"); !s.Complete {
			t.Errorf("%s with a bundle: %+v", event, s.Outcome)
		}
	}
}

// A card with separate ports pauses continuously on both.
func TestStormOfACard(t *testing.T) {
	const event = "events:\n  - {nic: host-3/nic-1, at: 1us, storm: true}\n"
	d, err := scenario.Parse("x.yaml", []byte(apartPod+oneFlow+event), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if i := p.Incidents; len(i) != 2 || i[0].(scenario.Storm).NIC == i[1].(scenario.Storm).NIC {
		t.Errorf("%+v", i)
	}
	for want, sets := range map[string][]string{
		"bond=apart: apart is of NICs with several ports": {"server.nic_ports=1", "fabric.kind=rail",
			"server.bond=apart"},
		"mrc takes the ports of a NIC as planes already": {"transport.kind=mrc"},
	} {
		d, err := scenario.Parse("x.yaml", []byte(apartPod+oneFlow), sets)
		if err == nil {
			_, err = d.Resolve(nil)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

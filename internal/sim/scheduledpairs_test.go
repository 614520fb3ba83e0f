package sim

import (
	"fmt"
	"testing"

	"railyard/unit"
)

// pairs is a scheduled fabric of switch pairs; each NIC has a port at both switches of a pair.
func pairs(flows, more string) string {
	return fmt.Sprintf(`
name: pairs
seed: 3
fabric: {kind: pod, segments: 2, hosts: 4, spines: 2, uplinks: 4, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 30m}, scheduled: {}}
server: {gpus: 1, nics: 1, nic_ports: 2, bond: affinity}
cc: {algorithm: none}
transport: {qps: 16}
workload: {traffic: {flows: [%s]}}
%s`, flows, more)
}

// A NIC's ports are separate egress ports. The flows of one sender are hashed over both, and switches of its own
// segment use their own ports. No flow's packets arrive out of order.
func TestScheduledOverBothPorts(t *testing.T) {
	for _, c := range []struct {
		from, hops int
	}{{5, 4}, {2, 2}} { // in another segment, and a neighbour
		flow := fmt.Sprintf("{from: host-%d/gpu-1, to: host-1/gpu-1, bytes: 32MB}", c.from)
		r, _, _ := runAll(t, pairs(flow, ""))
		flows := map[int32]int64{} // by the port at the end of a queue pair's path
		for conn := range r.Hosts.Conns() {
			path := r.Hosts.Path(int32(conn))
			if len(path) != c.hops {
				t.Fatalf("from host %d: a path of %d ports, want %d", c.from, len(path), c.hops)
			}
			flows[path[len(path)-1]]++
		}
		for _, l := range r.Graph.NICs[0].Links {
			port := r.Port(l, r.Graph.Links[l].A+r.Graph.Links[l].B-r.Graph.Hosts[0])
			got, want := r.Net.Ports[port].TxBytes, 2e6*flows[port]
			if flows[port] < 4 || float64(got) < 1.01*float64(want) || float64(got) > 1.04*float64(want) {
				t.Errorf("from host %d: a port sent %d bytes for %d flows of 2 MB", c.from, got, flows[port])
			}
		}
		if r.Hosts.Count.OutOfOrder > 0 || r.Net.Drops+r.Net.NoRoute > 0 {
			t.Errorf("from host %d: %+v", c.from, r.Hosts.Count)
		}
		if inside := r.Net.Cells > 0; inside != (c.hops == 4) {
			t.Errorf("from host %d: %d cells", c.from, r.Net.Cells)
		}
	}
}

// The cable of one port fails under load. Its queued packets are dropped, flows use the other port, and after the
// recovery they use both.
func TestScheduledLosesAPort(t *testing.T) {
	const flows = "{from: host-5/gpu-1, to: host-1/gpu-1, bytes: 16MB}, " +
		"{from: host-2/gpu-1, to: host-1/gpu-1, bytes: 16MB}"
	for _, until := range []string{"", ", until: 900us"} {
		r, s, _ := runAll(t, pairs(flows, "failures: [{link: 'host-1:nic1', at: 200us, converge: 50us"+
			until+"}]\n"))
		if r.Hosts.Count.Retransmissions == 0 {
			t.Errorf("%q: nobody noticed", until)
		}
		held := 0
		for node := range r.Graph.Nodes {
			f, _ := r.Net.Interface(int32(node))
			held += int(f.Held + f.Egress)
		}
		if held > 0 {
			t.Errorf("%q: %d bytes still wait", until, held)
		}
		// 32 MB, half of it at 100 Gbit/s from 250 us on
		if took := unit.Time(s.StepTime); until == "" && took < 2300*unit.Microsecond {
			t.Errorf("%v is faster than one port can be", took)
		}
		if err := r.Net.Audit(); err != nil {
			t.Error(err)
		}
	}
}

// Traffic within one switch needs no fabric link. It gets credit at its port's rate, however long others wait for
// the links, and other sources have the links' full capacity.
func TestScheduledLocalNeedsNoFabric(t *testing.T) {
	const text = `
name: local
fabric: {kind: rail, segments: 2, hosts: 6, spines: 1, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 30m}, scheduled: {}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
workload: {traffic: {flows: [{from: host-8/gpu-1, to: host-7/gpu-1, bytes: 8MB},
  {from: host-9/gpu-1, to: host-7/gpu-1, bytes: 8MB}%s]}}
`
	took := func(more string) (local, others unit.Time) {
		r, _, _ := runAll(t, fmt.Sprintf(text, more))
		for i := range r.Hosts.Messages {
			if m := &r.Hosts.Messages[i]; i < 2 {
				local = max(local, m.Done)
			} else {
				others = max(others, m.Done)
			}
		}
		return local, others
	}
	alone, _ := took("")
	local, others := took(`, {from: host-1/gpu-1, to: host-10/gpu-1, bytes: 4MB},
  {from: host-2/gpu-1, to: host-11/gpu-1, bytes: 4MB}, {from: host-3/gpu-1, to: host-12/gpu-1, bytes: 4MB}`)
	if local > alone+alone/100 {
		t.Errorf("beside three flows over the fabric's only link: %v, alone %v", local, alone)
	}
	if want := unit.Serialize(12*unit.MB, 90*unit.Gbps); others > want+want/25 {
		t.Errorf("12 MB over the link take %v, want %v", others, want)
	}
	// a flow that shares an egress port with local flows has a third of it until it is done
	_, others = took(", {from: host-1/gpu-1, to: host-7/gpu-1, bytes: 4MB}")
	if want := unit.Serialize(12*unit.MB, 100*unit.Gbps); others > want+want/10 {
		t.Errorf("4 MB beside two local flows take %v, want %v", others, want)
	}
}

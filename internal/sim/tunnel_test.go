package sim

import (
	"fmt"
	"testing"

	"railyard/roce"
	"railyard/unit"
)

// TestTunnel: with any inner transport all messages arrive, the far edge restores the order, only acknowledgements
// are left at the end, and a repeated run is identical.
func TestTunnel(t *testing.T) {
	const text = `
name: tunnel
fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps, delay: 1us}}
workload: {traffic: {%s}}
transport: {tunnel: eqds}
`
	for _, traffic := range []string{"incast: {bytes: 300KB, fan_in: 15}", "alltoall: {bytes: 1MB}"} {
		for _, sets := range [][]string{{"cc.algorithm=dcqcn"}, {"transport.kind=tcp"}, {"cc.algorithm=dctcp", "fabric.ip=6"},
			{"transport.recovery=selective", "transport.qps=2", "transport.mtu=1024"}, {"cc.algorithm=swift", "lb=entropy"}} {
			name := fmt.Sprint(traffic, sets)
			run := func() (*Run, string) {
				r := load(t, fmt.Sprintf(text, traffic), sets...)
				if err := r.Go(nil); err != nil {
					t.Fatal(name, err)
				}
				s, _, _ := r.Outcome("")
				return r, fmt.Sprint(s.StepTime, s.Flows, r.Net.Trims, r.Net.PacketHops, r.Tunnel.Peak)
			}
			r, first := run()
			if _, again := run(); again != first {
				t.Errorf("%s: %s, again %s", name, first, again)
			}
			if r.Hosts.Count.OutOfOrder > 0 || r.Net.PauseFrames > 0 || r.Net.Drops > r.Net.TrimDrops ||
				(r.Net.Trims > 0) != (traffic[0] == 'i') {
				t.Errorf("%s: %+v, %+v", name, r.Hosts.Count, r.Net.Totals)
			}
			if got := r.Tunnel.queued; got < 0 || got > 100*unit.KB {
				t.Errorf("%s: %v bytes wait at the end", name, got)
			}
		}
	}
}

// TestTunnelInCaptures: a captured tunnel packet has the inner NIC's packet as payload, byte for byte. The inner
// packet decodes with a valid ICRC, and each PSN is captured. Each has the length that the simulator counted.
func TestTunnelInCaptures(t *testing.T) {
	r := load(t, `
name: tunnel
fabric: {kind: rail, hosts: 3, spines: 1}
server: {gpus: 1, nics: 1}
workload: {traffic: {incast: {bytes: 400KB, fan_in: 2}}}
transport: {tunnel: eqds}
`)
	c, err := r.Capture([]string{"rail-1:Eth1"}, 0, unit.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	seen, i := map[[2]uint32]bool{}, 0
	c.Frames(func(_ unit.Time, _ int, out bool, b []byte, comment string) {
		s := &c.seen[i]
		i++
		var f, in roce.Frame
		if comment == "trimmed" {
			return
		}
		if err := f.Decode(b); err != nil || len(b)+roce.FCSLen != int(s.p.Size) || f.ComputeICRC() != f.ICRC {
			t.Fatalf("%v: %v, %d bytes for %d", &f, err, len(b), s.p.Size)
		}
		if !out || f.BTH.Opcode != roce.WriteOnlyImm {
			return
		}
		if err := in.DecodeIP(f.Payload()); err != nil || in.ComputeICRC() != in.ICRC {
			t.Fatalf("payload of %v: %v", &f, err)
		}
		if len(in.Payload()) == 0 { // an acknowledgement
			return
		}
		if psn := [2]uint32{in.BTH.DestQP, in.BTH.PSN}; seen[psn] && comment != "retransmission" {
			t.Errorf("%v again", &in)
		} else {
			seen[psn] = true
		}
	})
	if len(seen) != 2*98 {
		t.Errorf("%d packets of data", len(seen))
	}
	if _, err := r.Follow([]Named{{}}); err == nil {
		t.Error("a packet of a connection is followed through a tunnel")
	}
}

package sim

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/story"
	"railyard/roce"
	"railyard/unit"
)

// twoLeaves is one flow over a leaf, a spine and a leaf, and another flow that shares the last port.
const twoLeaves = `
fabric: {kind: graph, host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 400Gbps, cable: 30m},
  graph: {
  hosts: [host-1, host-2, host-3], switches: [{name: leaf-1, role: leaf}, {name: leaf-2, role: leaf},
    {name: spine-1, role: spine}],
  links: [{from: host-1, to: leaf-1}, {from: leaf-1, to: spine-1}, {from: spine-1, to: leaf-2},
    {from: host-2, to: leaf-2}, {from: host-3, to: leaf-2}]}}
server: {gpus: 1, nics: 1}
cc: {algorithm: hpcc}
workload: {traffic: {flows: [
  {from: host-1/gpu-1, to: host-2/gpu-1, bytes: 64KB}, {from: host-3/gpu-1, to: host-2/gpu-1, bytes: 64KB}]}}
`

// wires are the frames that crossed some ports, in order, by port and direction.
func wires(t *testing.T, text string, ports []string) (r *Run, of map[string][]seen) {
	t.Helper()
	r = load(t, text)
	c, err := r.Capture(ports, 0, unit.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	of = map[string][]seen{}
	c.Frames(func(at unit.Time, port int, out bool, b []byte, _ string) {
		s := seen{at: at, wire: int64(len(b) + roce.FCSLen + roce.PreambleIFG)}
		if err := s.Decode(append([]byte(nil), b...)); err != nil {
			t.Fatal(err)
		}
		key := ports[port] + " in"
		if out {
			key = ports[port] + " out"
		}
		of[key] = append(of[key], s)
	})
	return r, of
}

type seen struct {
	roce.Frame
	at   unit.Time
	wire int64
}

// A switch writes the state of its port: the time of the frame's first bit, the bytes sent before it, and its rate.
// The receiver's acknowledgement returns the content of the acknowledged packet, bit by bit, and no switch writes
// into it.
func TestStampsAreTrue(t *testing.T) {
	_, of := wires(t, twoLeaves, []string{"leaf-1:Eth1", "leaf-1:Eth2", "leaf-2:Eth2", "spine-1:Eth2"})
	for _, x := range []struct {
		port string
		hop  int
		rate unit.Rate
	}{{"leaf-1:Eth2", 0, 400 * unit.Gbps}, {"spine-1:Eth2", 1, 400 * unit.Gbps}} {
		before, packets := int64(0), 0
		for _, s := range of[x.port+" out"] {
			if len(s.Payload()) > 0 {
				packets++
				stamps := s.BTH.INT.Stamps()
				if len(stamps) != x.hop+1 {
					t.Fatalf("%s: %v", x.port, &s.Frame)
				}
				code, _ := roce.StampRate(x.rate)
				got, want := stamps[x.hop], roce.NewStamp(code, s.at, before, 0)
				if got.At() != want.At() || got.Sent() != want.Sent() || got.Rate() != x.rate {
					t.Fatalf("%s: %v, want %v", x.port, got, want)
				}
			}
			before += s.wire
		}
		if packets < 16 {
			t.Errorf("%s: %d packets", x.port, packets)
		}
	}
	came := map[string]roce.INT{}
	queued := false
	for _, s := range of["leaf-2:Eth2 out"] {
		if len(s.Payload()) > 0 {
			came[fmt.Sprint(s.IP.Src, s.BTH.PSN)] = s.BTH.INT
			for _, stamp := range s.BTH.INT.Stamps() {
				queued = queued || stamp.Queue() > 0
			}
		}
	}
	acks := of["leaf-2:Eth2 in"]
	for _, s := range acks {
		want, ok := came[fmt.Sprint(s.IP.Dst, s.BTH.PSN)]
		if !ok || s.BTH.INT != want || s.BTH.Telemetry != roce.TelemetryINT {
			t.Errorf("%v, want %v", &s.Frame, &want)
		}
	}
	for _, s := range of["leaf-1:Eth1 out"] { // the same values at the sender
		if s.BTH.Opcode == roce.Acknowledge && s.BTH.INT != came[fmt.Sprint(s.IP.Dst, s.BTH.PSN)] {
			t.Errorf("on its way back: %v", &s.Frame)
		}
	}
	if len(acks) < 30 || !queued {
		t.Errorf("%d acknowledgements, queue seen %v", len(acks), queued)
	}
}

// The story of a capture with telemetry, at the sender's leaf.
func TestTelemetryStory(t *testing.T) {
	short := strings.ReplaceAll(twoLeaves, "64KB", "12KB")
	_, of := wires(t, short, []string{"leaf-1:Eth1", "leaf-2:Eth2"})
	var b strings.Builder
	b.WriteString("# Two flows of 12 KB through leaf-2's port to host-2 with HPCC: what leaves it,\n" +
		"# and what comes back to host-1.\n\n")
	for _, key := range []string{"leaf-2:Eth2 out", "leaf-1:Eth1 out"} {
		fmt.Fprintf(&b, "%s\n", key)
		for _, s := range of[key] {
			fmt.Fprintf(&b, "%10v  %v\n", s.at, &s.Frame)
		}
	}
	story.Check(t, "hpcc-capture", b.String())
}

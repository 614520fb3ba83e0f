package sim

import (
	"os"
	"strings"
	"testing"

	"railyard/roce"
	"railyard/unit"
)

// An incast under PFC without congestion control is captured at the receiver's leaf port and at a leaf's uplink.
// Every frame decodes, and has the ICRC and the length that the simulator charged for it. Times never decrease,
// pauses are captured, and each data packet that left arrives at the far end. With HPCC the same holds for packets
// with telemetry.
func TestCaptureFrames(t *testing.T) {
	for _, set := range []string{"cc.algorithm=none", "cc.algorithm=hpcc", "cc.hpcc.csig=4",
		"cc.hpcc.csig=8", "cc.hpcc.ifa=true", "cc.swift.csig=4", "cc.swift.csig=8"} {
		t.Run(set, func(t *testing.T) { captureFrames(t, set) })
		t.Run("IPv6 "+set, func(t *testing.T) { captureFrames(t, set, "fabric.ip=6") })
	}
}

func captureFrames(t *testing.T, set string, more ...string) {
	algorithm := "hpcc"
	switch {
	case set == "cc.algorithm=none":
		algorithm = "none"
	case strings.HasPrefix(set, "cc.swift"):
		algorithm = "swift"
	}
	text, err := os.ReadFile("../../scenarios/fattree128-incast32.yaml")
	if err != nil {
		t.Fatal(err)
	}
	run := load(t, string(text), append(more, "cc.algorithm="+algorithm, set)...)
	host := run.Graph.Links[run.Graph.NICs[0].Links[0]]
	leaf := run.Graph.End(run.Graph.NICs[0].Links[0], host.A+host.B-run.Graph.Hosts[run.Graph.NICs[0].Host])
	up := uplinkOf(t, run, leaf)
	c, err := run.Capture([]string{leaf, up}, 0, 300*unit.Microsecond)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Go(nil); err != nil {
		t.Fatal(err)
	}
	var pauses, data, acks int
	last, i := unit.Time(0), 0
	c.Frames(func(at unit.Time, iface int, out bool, b []byte, _ string) {
		s := &c.seen[i]
		i++
		var f roce.Frame
		if err := f.Decode(b); err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
		if at < last || at > 300*unit.Microsecond {
			t.Errorf("frame %d at %v after %v", i, at, last)
		}
		last = at
		if f.Kind == roce.KindPause {
			pauses++
			return
		}
		if len(b)+roce.FCSLen != int(s.p.Size) || f.ComputeICRC() != f.ICRC || f.IP.TOS != s.p.TOS ||
			f.BTH.PSN != s.p.PSN {
			t.Errorf("%v: %d bytes, the simulator charged %d", &f, len(b), s.p.Size)
		}
		if (f.IP.Version == 6) != run.Plan.IPv6 || f.IP.Flow>>20 != 0 || (f.IP.Flow != 0) != run.Plan.IPv6 {
			t.Errorf("%v: flow label %#x", &f, f.IP.Flow)
		}
		if (f.BTH.Telemetry != roce.NoTelemetry || f.Tagged || f.Analyzed) != (algorithm != "none") {
			t.Errorf("telemetry of %v", &f)
		}
		if f.BTH.Opcode == roce.Acknowledge {
			acks++
		} else {
			data++
		}
	})
	if pauses == 0 && algorithm == "none" || pauses > 0 && algorithm == "hpcc" || data == 0 || acks == 0 ||
		i != c.Len() {
		t.Errorf("%d pauses, %d data packets, %d ACKs of %d frames", pauses, data, acks, c.Len())
	}
	if _, err := run.Capture([]string{"nowhere:Eth1"}, 0, 1); err == nil {
		t.Error("a port that does not exist is taken")
	}
}

// uplinkOf returns a port of the same switch that leads to another switch.
func uplinkOf(t *testing.T, r *Run, port string) string {
	_, node, _ := r.Graph.FindPort(port)
	for l, link := range r.Graph.Links {
		if far := link.A + link.B - node; (link.A == node || link.B == node) && r.Net.Sw[far].Spec != nil {
			return r.Graph.End(l, node)
		}
	}
	t.Fatal("no uplink")
	return ""
}

// A trimmed packet is captured as on the wire: with the trimmed size, consistent lengths and no valid ICRC. It
// still has its queue pair and PSN. A size below the headers truncates these as well.
func TestCaptureOfTrimmedPackets(t *testing.T) {
	text, err := os.ReadFile("../../scenarios/fattree128-incast32.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []string{"64B", "200B"} {
		run := load(t, string(text), "cc.algorithm=ndp", "transport.recovery=selective",
			"switch.queues.3.lossless=false", "switch.queues.3.trim=true", "switch.queues.3.limit=100KB",
			"switch.trim.size="+size)
		nic := run.Graph.NICs[0]
		host := run.Graph.Hosts[nic.Host]
		l := run.Graph.Links[nic.Links[0]]
		c, err := run.Capture([]string{run.Graph.End(nic.Links[0], l.A+l.B-host)}, 0, 100*unit.Microsecond)
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Go(nil); err != nil {
			t.Fatal(err)
		}
		trimmed, i := 0, 0
		c.Frames(func(_ unit.Time, _ int, _ bool, b []byte, comment string) {
			s := &c.seen[i]
			i++
			if comment != "trimmed" {
				return
			}
			trimmed++
			var f roce.Frame
			err := f.Decode(b)
			if size == "64B" {
				err = f.BTH.DecodeBTH(b[roce.EthernetLen+roce.IPv4Len+roce.UDPLen:])
			} else if err == nil && f.ComputeICRC() == f.ICRC {
				t.Error("the ICRC holds")
			}
			if err != nil || len(b)+roce.FCSLen != int(s.p.Size) || f.BTH.PSN != s.p.PSN ||
				f.IP.DSCP() != 48 || int(f.IP.Len) != len(b)-roce.EthernetLen {
				t.Fatalf("%v: %v, %d bytes of %d", &f, err, len(b), s.p.Size)
			}
		})
		if trimmed == 0 {
			t.Error("nothing was trimmed")
		}
	}
}

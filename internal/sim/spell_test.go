package sim

import (
	"bufio"
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"railyard/falcon"
	"railyard/internal/capture"
	"railyard/internal/exec"
	"railyard/internal/fabric"
	"railyard/mrc"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// carried is a run whose connections use a transport protocol.
func carried(t *testing.T, of *transport.Protocol, ipv6 bool, sets ...string) *Run {
	t.Helper()
	text, err := os.ReadFile("../../scenarios/fattree128-incast32.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := load(t, string(text), append(sets, "cc.algorithm=none",
		"switch.queues.3.lossless=false", "switch.queues.3.limit=100KB")...).Plan
	jobs, err := p.Mix()
	if err != nil {
		t.Fatal(err)
	}
	s := setup(p)
	s.Host.Services[0].Protocol = of.New(of.Defaults, transport.Common{MTU: unit.Bytes(s.Host.RC.MTU),
		Planes: 1, IPv6: ipv6})
	n, err := NewNetwork(s)
	if err != nil {
		t.Fatal(err)
	}
	r := &Run{Network: n, Plan: p, carrier: newCarrier(n, len(jobs.DAG.Ops))}
	r.Exec = exec.New(r.carrier, Machine(p), jobs)
	r.carrier.exec = r.Exec
	r.sampler = newSampler(n, p.Sample, p.Rows)
	r.sampler.signals = newSignals(p.Services)
	n.Net.Waits, n.Net.Trace = fabric.NewWaitTable(), r.trace
	return r
}

// atFirstNIC runs it and returns the frames at the first NIC's port to its leaf.
func (r *Run) atFirstNIC(t *testing.T, upto unit.Time) *Capture {
	t.Helper()
	nic := r.Graph.NICs[0]
	l := r.Graph.Links[nic.Links[0]]
	c, err := r.Capture([]string{r.Graph.End(nic.Links[0], l.A+l.B-r.Graph.Hosts[nic.Host])}, 0, upto)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	return c
}

// MRC's packets are captured as frames that decode, have a valid ICRC, and have the length that the simulator
// charged. They show the run's events: writes over many paths, SACKs, trims at the last hop, retransmissions.
func TestCaptureOfMRC(t *testing.T) {
	for _, ipv6 := range []bool{false, true} {
		run := carried(t, &mrc.Protocol, ipv6, "switch.queues.3.trim=true",
			"switch.trim.size=128B", "switch.trim.last_hop_dscp=49", "switch.dscp.49=7")
		c := run.atFirstNIC(t, 200*unit.Microsecond)
		var buf bytes.Buffer
		w, err := capture.NewWriter(&buf, "test", "port")
		if err != nil {
			t.Fatal(err)
		}
		i, trimmed, paths := 0, 0, map[roce.EV]bool{}
		c.Frames(func(at unit.Time, _ int, out bool, b []byte, comment string) {
			s := &c.seen[i]
			i++
			w.Frame(time.Unix(0, int64(at/unit.Nanosecond)), 0, out, b, comment)
			if want := int(s.p.Size); len(b)+roce.FCSLen != want && len(b)+roce.FCSLen < 64 {
				t.Fatalf("frame %d has %d bytes, %d were charged", i, len(b)+roce.FCSLen, want)
			}
			if comment == "trimmed" {
				trimmed++
				return
			}
			var f roce.Frame
			if err := f.Decode(b); err != nil || f.ComputeICRC() != f.ICRC || !f.BTH.Opcode.IsMRC() ||
				(f.IP.Version == 6) != ipv6 {
				t.Fatalf("frame %d: %v, %v", i, err, &f)
			}
			if f.BTH.Opcode.IsMRCWrite() {
				paths[roce.EVOf(&f.IP, &f.UDP)] = true
			}
		})
		if _, err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := capture.NewReader(bufio.NewReader(&buf))
		if err != nil {
			t.Fatal(err)
		}
		tl := capture.NewTeller(1000, func(capture.Event) {})
		if err := tl.Tell(r, nil); err != nil {
			t.Fatal(err)
		}
		var cut, again, late int64
		for _, f := range tl.Story.Flows {
			cut, again = cut+f.MRC.Trimmed, again+f.Again
			for _, n := range f.MRC.Nacks {
				if n.Reason == "TRIMMED_LASTHOP" {
					late += n.N
				}
			}
		}
		if s := &tl.Story; trimmed == 0 || cut != int64(trimmed) || again == 0 || late == 0 ||
			len(paths) < 64 || s.ICRCBad+s.Broken+s.Other > 0 {
			t.Errorf("IPv6 %v: %d trimmed, %d told; %d again, %d NACKs of the last hop, %d paths; %+v", ipv6,
				trimmed, cut, again, late, len(paths), s)
		}
	}
}

// A protocol without a codec is captured as frames of the right length with an EtherType for experiments, and
// comments.
func TestCaptureOfUnspelled(t *testing.T) {
	run := carried(t, &falcon.Protocol, false)
	c, i := run.atFirstNIC(t, 20*unit.Microsecond), 0
	said := ""
	c.Frames(func(_ unit.Time, _ int, _ bool, b []byte, comment string) {
		if len(b)+roce.FCSLen != int(c.seen[i].p.Size) || b[12] != 0x88 || b[13] != 0xb5 {
			t.Fatalf("frame %d: % x, %d were charged", i, b[:20], c.seen[i].p.Size)
		}
		i++
		said += comment + "\n"
	})
	if !strings.Contains(said, "data from 10.0.0.") || !strings.Contains(said, "ACK from 10.0.0.1") {
		t.Error(said)
	}
}

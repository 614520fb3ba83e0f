package sim

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/result"
	"railyard/internal/topo"
	"railyard/roce"
	"railyard/unit"
)

// squeezed is an incast of four through a spine.
const squeezed = `fabric: {kind: rail, hosts: 4, segments: 2, spines: 1, uplinks: 1,
  host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 400Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
workload: {traffic: {flows: [
  {from: host-1/gpu-1, to: host-5/gpu-1, bytes: 1MB}, {from: host-2/gpu-1, to: host-5/gpu-1, bytes: 1MB},
  {from: host-3/gpu-1, to: host-5/gpu-1, bytes: 1MB}, {from: host-4/gpu-1, to: host-5/gpu-1, bytes: 1MB}]}}
`

// A queue pair that no message can use is refused before the run.
func TestFollowRefusesQueuePairs(t *testing.T) {
	for _, c := range []struct {
		set  string
		last int32
	}{{"lb=ecmp", 3}, {"transport.qps=3", 11}} {
		r := load(t, squeezed, c.set)
		if _, err := r.Follow([]Named{{QP: c.last + 1, PSN: 3, Behind: true}}); err == nil ||
			!strings.Contains(err.Error(), fmt.Sprintf("accepted: 0 to %d", c.last)) {
			t.Errorf("%s: %v", c.set, err)
		}
		if _, err := r.Follow([]Named{{QP: c.last, PSN: 3, Behind: true}}); err != nil {
			t.Errorf("%s: %v", c.set, err)
		}
		if err := r.Go(nil); err != nil || r.Hosts.Conns() != int(c.last)+1 {
			t.Errorf("%s: %d queue pairs, %v", c.set, r.Hosts.Conns(), err)
		}
	}
}

// follow runs a scenario and returns the traces of packets.
func follow(t *testing.T, text string, names []string, sets ...string) ([]result.Followed, *result.Summary,
	*Run) {
	t.Helper()
	r := load(t, text, sets...)
	var all []Named
	for _, s := range names {
		n, err := ParseNamed(s)
		if err != nil || n.String() != s {
			t.Fatal(n, err)
		}
		all = append(all, n)
	}
	f, err := r.Follow(all)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	s, _, _ := r.Outcome("test")
	return f.Packets(), s, r
}

// chained checks that a copy's hops are consecutive over cables and ordered in time. It also checks that waits
// match the queue found at an unpaused port.
func chained(t *testing.T, r *Run, c *result.Copy) {
	t.Helper()
	for i, h := range c.Hops {
		tx := &r.Net.Ports[h.Port]
		if i == 0 {
			if r.Graph.Nodes[tx.Node].Role != topo.Host {
				t.Errorf("%s is not a NIC's", h.Name)
			}
			continue
		}
		before := c.Hops[i-1]
		if at := r.Net.Ports[before.Port].Peer; r.Net.Ports[at].Node != tx.Node {
			t.Errorf("%s does not lead to %s", before.Name, h.Name)
		}
		if h.Came <= before.Left || h.Ready < h.Came || h.Left < h.Ready {
			t.Errorf("%s: left at %d, came at %d, ready at %d, left at %d", h.Name, before.Left, h.Came,
				h.Ready, h.Left)
		}
		// Each queued frame has a preamble and a gap of 20 bytes in addition, for at least 64 bytes; three others
		// may arrive at the same time. Headers of what was trimmed go first.
		least := int64(unit.Serialize(unit.Bytes(h.Found), tx.Rate))
		most := least + least/100*32 + 3*int64(unit.Serialize(4300, tx.Rate))
		if w := h.Left - h.Ready; !h.Paused && (w < least-1000 && !h.Trimmed || w > most) {
			t.Errorf("%s: found %d bytes, %d ps of them, and waited %d", h.Name, h.Found, least, w)
		}
	}
}

// A packet of an incast is traced from NIC to NIC. Its waits match the queues that it found, and tracing changes
// nothing in the run.
func TestFollow(t *testing.T) {
	names := []string{"0/+0", "1/+3", "2/+40", "3/+100", "0/+240"}
	all, s, r := follow(t, squeezed, names)
	_, plain, _ := runAll(t, squeezed)
	if s.StepTime != plain.StepTime || s.ECNMarks != plain.ECNMarks || s.PacketHops != plain.PacketHops ||
		s.PFCPauses != plain.PFCPauses {
		t.Errorf("step %d, %d marks, %d hops; not followed: %d, %d, %d", s.StepTime, s.ECNMarks, s.PacketHops,
			plain.StepTime, plain.ECNMarks, plain.PacketHops)
	}
	found := int64(0)
	for i, f := range all {
		if f.Asked != names[i] || f.To != "host-5/nic-1" || len(f.Copies) == 0 {
			t.Fatalf("%+v", f)
		}
		c := &f.Copies[0]
		if c.End != "arrived" || c.EndedAt != "host-5" || len(c.Hops) != 4 ||
			!strings.HasPrefix(c.Kind, "WRITE") {
			t.Fatalf("%s: %+v", f.Asked, c)
		}
		chained(t, r, c)
		last := c.Hops[3]
		found = max(found, last.Found)
		for _, c := range f.Copies[1:] {
			if c.Kind == roce.Acknowledge.String() && c.EndedAt == f.To[:6] {
				t.Errorf("an answer arrived at %s", c.EndedAt)
			}
		}
	}
	if found < 50_000 {
		t.Errorf("nobody found more than %d bytes before the NIC that four send to", found)
	}
}

// A packet that a switch trims or drops is reported so, and so is its retransmission.
func TestFollowLost(t *testing.T) {
	var names []string
	for n := 0; n <= 105; n += 7 {
		for qp := range 4 {
			names = append(names, fmt.Sprintf("%d/+%d", qp, n))
		}
	}
	small := []string{"switch.queues.3.limit=40KB", "switch.queues.3.wred_min=0B",
		"switch.queues.3.wred_max=0B"}
	for set, how := range map[string]string{"transport=mrc": "trimmed",
		"transport=roce-selective": "dropped"} {
		all, s, r := follow(t, squeezed, names, append(small, set)...)
		lost := 0
		for _, f := range all {
			for i := range f.Copies {
				c := &f.Copies[i]
				chained(t, r, c)
				cut := c.End == "dropped"
				for _, h := range c.Hops {
					cut = cut || h.Trimmed
				}
				if !cut {
					continue
				}
				if lost++; !again(f.Copies[i+1:]) {
					t.Errorf("%s: %s was lost and never retransmitted: %+v", set, f.Asked, f.Copies)
				}
			}
		}
		if lost == 0 {
			t.Errorf("%s: none of %d was %s; %d drops, %d trims", set, len(all), how, s.Drops, s.Trims)
		}
	}
}

func again(later []result.Copy) bool {
	for _, c := range later {
		if c.Again && c.End == "arrived" {
			return true
		}
	}
	return false
}

// What cannot be followed is refused.
func TestFollowRefuses(t *testing.T) {
	for _, bad := range []string{"", "0", "0/", "/7", "-1/0", "0/-1", "0/16777216", "2147483648/0", "0/++1",
		"0/1x", "a/b"} {
		if n, err := ParseNamed(bad); err == nil {
			t.Errorf("%q is %v", bad, n)
		}
	}
	r := load(t, squeezed)
	if _, err := r.Follow([]Named{{QP: 1, PSN: 2}, {QP: 1, PSN: 2}}); err == nil ||
		!strings.Contains(err.Error(), "1/2 is named twice") {
		t.Error(err)
	}
	if _, err := r.Follow(make([]Named, MaxFollowed+1)); err == nil {
		t.Error("too many are followed")
	}
	if _, err := load(t, squeezed, "transport=scheduled").Follow([]Named{{}}); err == nil ||
		!strings.Contains(err.Error(), "cells") {
		t.Error(err)
	}
	all, _, _ := follow(t, squeezed, []string{"3/+70000", "0/+16000000"})
	if len(all[0].Copies)+len(all[1].Copies) != 0 {
		t.Errorf("%+v", all)
	}
}

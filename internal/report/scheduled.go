package report

import (
	"fmt"
	"io"

	"railyard/internal/result"
	"railyard/unit"
)

// scheduled says what a scheduled fabric did.
func scheduled(w io.Writer, s *result.Scheduled) {
	if s == nil {
		return
	}
	said := fmt.Sprintf("%s cells, %s requests, %s grants", count(s.Cells), count(s.Requests),
		count(s.Grants))
	if s.LinkLeast > 0 {
		said += fmt.Sprintf("; fabric links of one interface node differ by %.1f %% at most",
			100*(float64(s.LinkMost)/float64(s.LinkLeast)-1))
	}
	if s.CellsLost > 0 {
		said += fmt.Sprintf("; %s cells lost, %s packets given up, %s requests repeated", count(s.CellsLost),
			count(s.GaveUp), count(s.Repeats))
	}
	Labelled(w, "Scheduled  ", said)
	n := s.Fullest()
	if n == nil {
		return
	}
	wait, packets, most, port := 0.0, int64(0), int64(0), int64(0)
	for i := range s.Nodes {
		x := &s.Nodes[i]
		wait += float64(x.WaitMean) * float64(x.Packets)
		packets += x.Packets
		most, port = max(most, x.WaitMost), max(port, x.PortPeak)
	}
	Labelled(w, "VOQs       ", fmt.Sprintf("packets waited %v there, at most %v; %s held %s in %s, %s in "+
		"one; an egress port may be granted %s ahead and held %s at most",
		unit.Time(wait/float64(max(1, packets))), unit.Time(most), n.Name, size(n.HeldPeak),
		unit.Plural(n.VOQs, "VOQ"), size(n.VOQPeak), size(s.Egress), size(port)))
}

// lacking is how many packets were given up for want of cells.
func lacking(s *result.Summary) int64 {
	if s.Scheduled == nil {
		return 0
	}
	return s.Scheduled.GaveUp
}

// ScheduledFabric says what a scheduled fabric needs, by the names of its figures; nothing of other fabrics.
func ScheduledFabric(w io.Writer, f map[string]string) {
	if len(f) == 0 {
		return
	}
	fmt.Fprintln(w)
	Labelled(w, "Scheduled  ", fmt.Sprintf("interface nodes %s, with up to %s egress ports each, and "+
		"fabric nodes %s; a packet is %s cells, which with credit leaves %s of fabric links to packets",
		f["interface_nodes"], f["egress_ports"], f["fabric_nodes"], f["cells_of_a_packet"], f["efficiency"]))
	Labelled(w, "           ", fmt.Sprintf("VOQs %s, %s in each interface node; egress buffers %s for "+
		"what is granted ahead, %s in the largest node", f["voqs"], f["voqs_of_a_node"], f["egress_buffer"],
		f["egress_buffer_of_a_node"]))
}

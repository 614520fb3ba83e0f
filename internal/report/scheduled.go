package report

import (
	"fmt"
	"io"

	"railyard/internal/result"
	"railyard/unit"
)

// scheduled prints the cells, credits and VOQs of a scheduled fabric.
func scheduled(w io.Writer, s *result.Scheduled) {
	if s == nil {
		return
	}
	said := fmt.Sprintf("%s cells, %s requests, %s grants", count(s.Cells), count(s.Requests), count(s.Grants))
	if s.LinkLeast > 0 {
		said += fmt.Sprintf("; load of the fabric links of an interface node differs by up to %s",
			percent(float64(s.LinkMost)/float64(s.LinkLeast)-1))
	}
	if s.CellsLost > 0 {
		said += fmt.Sprintf("; %s cells lost, %s incomplete packets discarded, %s requests repeated", count(s.CellsLost),
			count(s.GaveUp), count(s.Repeats))
	}
	Labelled(w, "Scheduled fabric: ", said)
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
	Labelled(w, "VOQs: ", fmt.Sprintf("wait %s mean, %s max; fullest node %s: %s in %s, %s in one; egress credit limit %s, egress queue peak %s",
		dur(int64(wait/float64(max(1, packets)))), dur(most), n.Name, size(n.HeldPeak),
		unit.Plural(n.VOQs, "VOQ"), size(n.VOQPeak), size(s.Egress), size(port)))
}

// lacking returns the number of packets that were discarded because cells were missing.
func lacking(s *result.Summary) int64 {
	if s.Scheduled == nil {
		return 0
	}
	return s.Scheduled.GaveUp
}

// ScheduledFabric describes the requirements of a scheduled fabric, by the names of its figures; nothing for other
// fabrics.
func ScheduledFabric(w io.Writer, f map[string]string) {
	if len(f) == 0 {
		return
	}
	fmt.Fprintln(w)
	Labelled(w, "Scheduled fabric: ", fmt.Sprintf("%s interface nodes with up to %s egress ports, %s fabric nodes; %s cells per packet, efficiency %s",
		f["interface_nodes"], f["egress_ports"], f["fabric_nodes"], f["cells_of_a_packet"], f["efficiency"]))
	Wrap(w, "  ", fmt.Sprintf("VOQs %s, %s per interface node; egress buffers %s for granted bytes, %s in the largest node", f["voqs"], f["voqs_of_a_node"], f["egress_buffer"],
		f["egress_buffer_of_a_node"]))
}

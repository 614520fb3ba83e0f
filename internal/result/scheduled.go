package result

// Scheduled is the activity of a scheduled fabric: VOQs, credit and cells.
type Scheduled struct {
	Cells     int64 `json:"cells"` // over all fabric links
	CellsLost int64 `json:"cells_lost"`
	GaveUp    int64 `json:"packets_given_up"` // that lacked cells
	Requests  int64 `json:"requests"`
	Repeats   int64 `json:"requests_repeated"` // after the time-out
	Grants    int64 `json:"grants"`

	Egress int64 `json:"egress_room_bytes"` // per egress port and class: what may be granted ahead
	// bytes on the wire of the least and the most busy fabric link of the interface node where they
	// differ most, one direction; and how many directions of links there are
	LinkLeast int64           `json:"link_least_bytes"`
	LinkMost  int64           `json:"link_most_bytes"`
	Links     int             `json:"links"`
	Nodes     []InterfaceNode `json:"interface_nodes"` // those that held anything
}

// InterfaceNode is the occupancy of a switch with servers.
type InterfaceNode struct {
	Name       string `json:"name"`
	VOQs       int    `json:"voqs"`              // that were used
	HeldPeak   int64  `json:"held_peak_bytes"`   // in all of them
	VOQPeak    int64  `json:"voq_peak_bytes"`    // in one
	EgressPeak int64  `json:"egress_peak_bytes"` // that waited for cells, their turn, or their port
	PortPeak   int64  `json:"port_peak_bytes"`   // of these at one port and class, whole
	Granted    int64  `json:"granted_bytes"`
	Packets    int64  `json:"packets"` // that left its VOQs
	WaitMean   int64  `json:"wait_mean_ps"`
	WaitMost   int64  `json:"wait_most_ps"`
}

// Fullest is the interface node whose VOQs held most, nil when none held anything.
func (s *Scheduled) Fullest() (top *InterfaceNode) {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; top == nil || n.HeldPeak > top.HeldPeak {
			top = n
		}
	}
	return top
}

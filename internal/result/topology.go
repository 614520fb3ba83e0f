package result

// Topology is topology.json: the fabric as it was built, and what its switches were
// configured to do with data packets. Ports are rows of ports.parquet.
type Topology struct {
	Kind    string         `json:"kind"`
	GPUs    int            `json:"gpus_per_host"`
	Nodes   []TopologyNode `json:"nodes"`
	Links   []TopologyLink `json:"links"`
	NICs    []TopologyNIC  `json:"nics"`
	Configs []QueueConfig  `json:"configs"`
	// Changes are the changes of links, by time: the last of a link holds. Links without one are whole, at their
	// rate.
	Changes []TopologyChange `json:"changes,omitempty"`
	// Domains are the GPUs that NVLink joins, or what else is inside servers, two or more each.
	Domains []TopologyDomain `json:"domains,omitempty"`
}

// TopologyNode is a server or a switch.
type TopologyNode struct {
	Name   string `json:"name"`
	Role   string `json:"role"`
	Tier   int    `json:"tier"`
	Config int    `json:"config"` // of its data queue; -1: a server
	GPUs   int    `json:"gpus,omitempty"`
	// Of a fabric that is described by places: its group, and where it stands, the widest place first.
	Group  string          `json:"group,omitempty"`
	Places []TopologyPlace `json:"places,omitempty"`
}

// TopologyPlace is a word and a number: rack 12.
type TopologyPlace struct {
	Word string `json:"word"`
	At   int    `json:"at"`
}

// TopologyLink is a cable; ports transmit towards the other end.
type TopologyLink struct {
	A        int    `json:"a"`
	B        int    `json:"b"`
	APort    string `json:"a_port"`
	BPort    string `json:"b_port"`
	FromA    int32  `json:"from_a"` // port that sends from A to B
	FromB    int32  `json:"from_b"`
	Rate     int64  `json:"rate_bps"`
	LengthMM int64  `json:"length_mm"`
}

// TopologyChange is the state of a link from a time on.
type TopologyChange struct {
	At    int64 `json:"at_ps"`
	Link  int   `json:"link"`
	Down  bool  `json:"down,omitempty"`
	RateA int64 `json:"rate_from_a_bps"` // of what its A sends
	RateB int64 `json:"rate_from_b_bps"`
}

// TopologyNIC is a network card of a server.
type TopologyNIC struct {
	Name  string `json:"name"`
	Host  int    `json:"host"` // a node
	Rail  int    `json:"rail"`
	Links []int  `json:"links"`
	GPUs  []int  `json:"gpus,omitempty"` // those of its server that send by it, from 1
}

// TopologyDomain is GPUs that reach each other without the network: those of a server, or of trays of a
// rack.
type TopologyDomain struct {
	Name  string `json:"name"`     // the server's, or of the place that trays share
	By    string `json:"by"`       // NVLink, or pair link where GPUs are joined directly
	Rate  int64  `json:"rate_bps"` // of a GPU to all others, each way; by pair links to the one that has least
	GPUs  int    `json:"gpus"`
	Nodes []int  `json:"nodes"`
}

// QueueConfig is the configuration of the queue of data packets.
type QueueConfig struct {
	Queue       int     `json:"queue"`
	Lossless    bool    `json:"lossless"`
	WREDMin     int64   `json:"wred_min_bytes"`
	WREDMax     int64   `json:"wred_max_bytes"`
	Probability float64 `json:"probability"`
	XOff        int64   `json:"xoff_bytes"` // of ingress; 0: dynamic
	XOn         int64   `json:"xon_bytes"`
	Buffer      int64   `json:"buffer_bytes"`
}

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

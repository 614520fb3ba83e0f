package result

// Topology is topology.json: the fabric as it was built, and its switches' configuration for data packets. Ports are
// rows of ports.parquet.
type Topology struct {
	Kind    string         `json:"kind"`
	GPUs    int            `json:"gpus_per_host"`
	Nodes   []TopologyNode `json:"nodes"`
	Links   []TopologyLink `json:"links"`
	NICs    []TopologyNIC  `json:"nics"`
	Configs []QueueConfig  `json:"configs"`
	// Changes are the changes of links, by time: the last of a link holds. Links without an entry work at their rate.
	Changes []TopologyChange `json:"changes,omitempty"`
	// Domains are the groups of two or more GPUs connected by NVLink, or by another fabric inside servers.
	Domains []TopologyDomain `json:"domains,omitempty"`
}

// TopologyNode is a server or a switch.
type TopologyNode struct {
	Name   string `json:"name"`
	Role   string `json:"role"`
	Tier   int    `json:"tier"`
	Config int    `json:"config"` // configuration of its data queue; -1: a server
	GPUs   int    `json:"gpus,omitempty"`
	// For a site description with locations: its group, and its location with the widest part first.
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
	RateA int64 `json:"rate_from_a_bps"` // rate of A's direction
	RateB int64 `json:"rate_from_b_bps"`
}

// TopologyNIC is a network card of a server.
type TopologyNIC struct {
	Name  string `json:"name"`
	Host  int    `json:"host"` // a node
	Rail  int    `json:"rail"`
	Links []int  `json:"links"`
	GPUs  []int  `json:"gpus,omitempty"` // GPUs of its server that use it, from 1
}

// TopologyDomain is a group of GPUs connected without the network: the GPUs of a server, or of trays of a rack.
type TopologyDomain struct {
	Name  string `json:"name"`     // the server's name, or that of the location shared by trays
	By    string `json:"by"`       // NVLink, or pair link for directly connected GPUs
	Rate  int64  `json:"rate_bps"` // rate from a GPU to all others, each direction; with pair links the lowest
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
	XOff        int64   `json:"xoff_bytes"` // xOFF of ingress; 0: dynamic
	XOn         int64   `json:"xon_bytes"`
	Buffer      int64   `json:"buffer_bytes"`
}

// Scheduled is the activity of a scheduled fabric: VOQs, credit and cells.
type Scheduled struct {
	Cells     int64 `json:"cells"` // over all fabric links
	CellsLost int64 `json:"cells_lost"`
	GaveUp    int64 `json:"packets_given_up"` // packets with missing cells
	Requests  int64 `json:"requests"`
	Repeats   int64 `json:"requests_repeated"` // after the time-out
	Grants    int64 `json:"grants"`

	Egress int64 `json:"egress_room_bytes"` // per egress port and class: maximum bytes granted ahead
	// bytes on the wire of the least and the most busy fabric link of the interface node with the largest difference,
	// one direction; and the number of link directions
	LinkLeast int64           `json:"link_least_bytes"`
	LinkMost  int64           `json:"link_most_bytes"`
	Links     int             `json:"links"`
	Nodes     []InterfaceNode `json:"interface_nodes"` // nodes that held data
}

// InterfaceNode is the occupancy of a switch with servers.
type InterfaceNode struct {
	Name       string `json:"name"`
	VOQs       int    `json:"voqs"`              // VOQs in use
	HeldPeak   int64  `json:"held_peak_bytes"`   // maximum in all of them
	VOQPeak    int64  `json:"voq_peak_bytes"`    // in one
	EgressPeak int64  `json:"egress_peak_bytes"` // bytes blocked on cells, order, or their port
	PortPeak   int64  `json:"port_peak_bytes"`   // maximum in complete packets at one port and class
	Granted    int64  `json:"granted_bytes"`
	Packets    int64  `json:"packets"` // packets that left its VOQs
	WaitMean   int64  `json:"wait_mean_ps"`
	WaitMost   int64  `json:"wait_most_ps"`
}

// Fullest returns the interface node with the largest content of its VOQs, nil if none held data.
func (s *Scheduled) Fullest() (top *InterfaceNode) {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; top == nil || n.HeldPeak > top.HeldPeak {
			top = n
		}
	}
	return top
}

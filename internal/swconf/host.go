package swconf

import (
	"path"
	"slices"
	"strings"

	"railyard/unit"
)

// Host is the configuration of a server's NICs and of the software that sends by them: the host side of a switch's
// configuration. Package hostconf fills it from scripts and the output of tools, and writes it.
type Host struct {
	File     string
	Hostname Said[string]
	NICs     []*HostNIC
	Env      []HostVar // variables of NCCL, in the order in which they are set; the last one of a name applies
	Notes    []string  // assumptions
	Faults   []Finding // findings of the reader itself
	Unknown  []Unknown
	Read     int // lines that were understood
	Passed   int // lines that do not matter here
	Total    int // lines with content
}

// HostNIC is one NIC, by its network device and its RDMA device. Settings for every NIC of the host belong to one
// named *.
type HostNIC struct {
	Dev, RDMA string
	Kind      string // NIC family: mlx5, bnxt, ionic; "": unknown
	At        Place

	Trust   Said[string]        // dscp or pcp: what decides a received packet's priority
	DSCP    [64]Said[uint8]     // to priority
	TC      [8]Said[uint8]      // priority to traffic class
	Sched   [8]Said[string]     // scheduler of a traffic class: ets, strict, vendor
	Share   [8]Said[int]        // share of a traffic class, percent
	Limit   [8]Said[int]        // limit of a traffic class, Gbit/s; 0: none
	PFC     [8]Said[bool]       // of a priority
	Buffer  [8]Said[uint8]      // priority to receive buffer
	Size    [8]Said[unit.Bytes] // size of a receive buffer
	Cable   Said[int]           // metres, for the thresholds of receive buffers
	DCBX    Said[string]        // side that negotiates: os, fw
	Willing Said[bool]          // accepts the switch's configuration in DCBX
	NP, RP  [8]Said[bool]       // ECN of a priority: sends CNPs for marks, slows down for CNPs
	CC      Said[bool]          // congestion control, if it is on or off as a whole
	Marking Said[bool]          // packets are ECN-capable, if that is a setting
	CNPDSCP Said[uint8]         // of CNPs
	CNPPrio Said[uint8]         // of CNPs
	Params  []HostParam         // parameters of congestion control, in the NIC's form
	ToS     Said[uint8]         // TOS of connections that rdma_cm makes (cma_roce_tos)
	Class   Said[uint8]         // traffic class of all RoCE packets, overriding programs
	Data    Said[uint8]         // DSCP of all RoCE packets (bnxt)
	Prio    Said[uint8]         // priority of RoCE packets (bnxt)
	Mode    Said[string]        // RoCE version of rdma_cm: RoCE v1, RoCE v2
	MTU     Said[unit.Bytes]    // MTU of the network device
	PathMTU Said[int]           // payload of a RoCE packet (active_mtu)
	Pause   Said[bool]          // link-level pause, which stops all classes
	FEC     Said[string]        // FEC name of ethtool
	Nego    Said[bool]          // negotiates speed and FEC with the other end
	GIDs    []Said[HostGID]
}

// HostParam is a parameter of a NIC's congestion control: its name there, and its value as written.
type HostParam struct {
	Name string
	V    int64
	At   Place
}

// HostVar is a variable of the environment.
type HostVar struct {
	Name, Value string
	At          Place
}

// HostGID is an address of an RDMA device.
type HostGID struct {
	Index int
	V2    bool // else RoCE v1
	Local bool // link-local
}

// Every is the name of the entry for all NICs.
const Every = "*"

// Name is the hostname, or is derived from the file or directory name if no configuration has one: host-1 of host-1.sh.
func (h *Host) Name() string {
	if h.Hostname.V != "" {
		return h.Hostname.V
	}
	return HostName(h.File)
}

// HostName returns the host of a configuration file, by its name: host-1 of host-1.sh, host-1.nccl.conf and host-1.
func HostName(file string) string {
	name := strings.TrimSuffix(path.Base(file), ".nccl.conf")
	if base := strings.TrimSuffix(name, path.Ext(name)); base != "" {
		return base
	}
	return file
}

// Title returns the name of a NIC: both its devices if they are known.
func (n *HostNIC) Title() string {
	switch {
	case n.Dev == Every && (n.RDMA == Every || n.RDMA == "") || n.Dev == "" && n.RDMA == Every:
		return "every NIC"
	case n.Dev == "":
		return n.RDMA
	case n.RDMA == "" || n.RDMA == n.Dev:
		return n.Dev
	}
	return n.Dev + " (" + n.RDMA + ")"
}

// Var returns a variable that the configuration sets.
func (h *Host) Var(name string) (HostVar, bool) {
	for _, v := range slices.Backward(h.Env) {
		if v.Name == name {
			return v, true
		}
	}
	return HostVar{}, false
}

// nccl returns the first of NCCL's own variables; without a position if there is none.
func (h *Host) nccl() HostVar {
	for _, v := range h.Env {
		if strings.HasPrefix(v.Name, "NCCL_") {
			return v
		}
	}
	return HostVar{}
}

// Param returns a parameter of congestion control that the configuration sets.
func (n *HostNIC) Param(name string) (HostParam, bool) {
	i := slices.IndexFunc(n.Params, func(p HostParam) bool { return p.Name == name })
	if i < 0 {
		return HostParam{}, false
	}
	return n.Params[i], true
}

// SetParam sets a parameter, replacing an earlier value.
func (n *HostNIC) SetParam(name string, v int64, at Place) {
	i := slices.IndexFunc(n.Params, func(p HostParam) bool { return p.Name == name })
	if i < 0 {
		n.Params = append(n.Params, HostParam{name, v, at})
		return
	}
	n.Params[i] = HostParam{name, v, at}
}

// Marked is a DSCP of packets, with its source.
type Marked struct {
	DSCP uint8
	At   Place
	By   string
	TC   int // the traffic class (ToS) byte that holds the DSCP, where the host sets that; 0: none
	// Partly: it applies to programs that connect by rdma_cm, which NCCL does not
	Partly bool
}

// DataDSCP returns the DSCP of RoCE data. A setting of the whole device precedes NCCL's, and that precedes the one
// of rdma_cm's connections.
func (h *Host) DataDSCP(n *HostNIC) (m Marked, ok bool) {
	tc, asked := h.number("NCCL_IB_TC")
	switch {
	case n.Class.Is():
		return Marked{n.Class.V >> 2, n.Class.At, "traffic_class", int(n.Class.V), false}, true
	case n.Data.Is():
		return Marked{n.Data.V, n.Data.At, "roce_dscp", 0, false}, true
	case asked:
		return Marked{uint8(tc.V>>2) & 63, tc.At, "NCCL_IB_TC", tc.V, false}, true
	case n.ToS.Is():
		return Marked{n.ToS.V >> 2, n.ToS.At, "rdma_cm's ToS", int(n.ToS.V), true}, true
	}
	return Marked{}, false
}

// number is a variable that holds a number from 0 to 255.
func (h *Host) number(name string) (Said[int], bool) {
	v, ok := h.Var(name)
	if !ok || v.Value == "" {
		return Said[int]{}, false
	}
	n := 0
	for _, c := range v.Value {
		if c < '0' || c > '9' || n > 255 {
			return Said[int]{}, false
		}
		n = n*10 + int(c-'0')
	}
	return Say(n, v.At), n < 256
}

// Number is a variable of the environment that holds a number up to 255.
func (h *Host) Number(name string) (Said[int], bool) { return h.number(name) }

// Priority returns the priority of packets with a DSCP, and the deciding position, if it is configured. Without a
// map ConnectX uses the upper three bits of the DSCP (its firmware's default). Broadcom's and Pensando's NICs use
// priority 0.
func (n *HostNIC) Priority(dscp uint8) (uint8, Place) {
	m := n.DSCP[dscp&63]
	switch {
	case m.Is():
		return m.V & 7, m.At
	case n.Kind == "bnxt" && n.Prio.Is() && n.Data.Is() && n.Data.V == dscp:
		return n.Prio.V & 7, n.Prio.At
	case n.Kind == "bnxt" && n.CNPPrio.Is() && n.CNPDSCP.Is() && n.CNPDSCP.V == dscp:
		return n.CNPPrio.V & 7, n.CNPPrio.At
	case n.Kind == "mlx5":
		return dscp >> 3 & 7, n.Trust.At
	case n.Kind == "":
		return dscp >> 3 & 7, Place{}
	}
	return 0, n.Trust.At
}

// Paused returns the priorities with PFC at the NIC, and the position of the setting, if it is configured.
func (n *HostNIC) Paused() (m uint8, at Place, said bool) {
	for i, p := range n.PFC {
		if p.Is() {
			at, said = p.At, true
			if p.V {
				m |= 1 << i
			}
		}
	}
	return m, at, said
}

// HostRow is one priority of the table that show prints.
type HostRow struct {
	Priority int    `json:"priority"`
	DSCP     string `json:"dscp"`
	Class    string `json:"class"`
	PFC      string `json:"pfc"`
	ECN      string `json:"ecn"`
	For      string `json:"for,omitempty"` // what RoCE sends there
}

// Rows returns the treatment of packets by priority.
func (h *Host) Rows(n *HostNIC) (rows []HostRow) {
	var dscps [8][]int
	for d := range 64 {
		p, at := n.Priority(uint8(d))
		if n.DSCP[d].Is() || n.Trust.V == "dscp" && (at.Line > 0) {
			dscps[p] = append(dscps[p], d)
		}
	}
	for i := 7; i >= 0; i-- {
		r := HostRow{Priority: i, DSCP: ranges(dscps[i]), PFC: onOff(n.PFC[i]), ECN: halves(n.NP[i], n.RP[i]),
			Class: n.class(i), For: h.purpose(n, i)}
		if r.DSCP != "" || n.PFC[i].V || n.NP[i].V || n.RP[i].V ||
			r.For != "" { // otherwise it is unused
			if r.DSCP == "" {
				r.DSCP = "none"
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// purpose returns the RoCE packets that have a priority.
func (h *Host) purpose(n *HostNIC, prio int) (what string) {
	if m, ok := h.DataDSCP(n); ok {
		if p, _ := n.Priority(m.DSCP); int(p) == prio {
			what = "data"
		}
	}
	p := -1
	if n.CNPDSCP.Is() {
		q, _ := n.Priority(n.CNPDSCP.V)
		p = int(q)
	} else if n.CNPPrio.Is() {
		p = int(n.CNPPrio.V)
	}
	if p == prio {
		if what != "" {
			what += ", "
		}
		what += "CNPs"
	}
	return what
}

package counters

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// rdmaName is a counter of queue pairs. mlx5's queue counters have 32 bits (query_q_counter), its congestion
// counters 64.
type rdmaName struct {
	name string
	bits uint8
	at   func(r *RoCE) *Count
}

var mlx5RDMA = []rdmaName{
	{"out_of_buffer", 32, func(r *RoCE) *Count { return &r.OutOfBuffer }},
	{"out_of_sequence", 32, func(r *RoCE) *Count { return &r.OutOfSequence }},
	{"duplicate_request", 32, func(r *RoCE) *Count { return &r.Duplicates }},
	{"rnr_nak_retry_err", 32, func(r *RoCE) *Count { return &r.RNR }},
	{"packet_seq_err", 32, func(r *RoCE) *Count { return &r.SeqErr }},
	{"implied_nak_seq_err", 32, func(r *RoCE) *Count { return &r.ImpliedNAK }},
	{"local_ack_timeout_err", 32, func(r *RoCE) *Count { return &r.Timeouts }},
	{"rp_cnp_ignored", 0, func(r *RoCE) *Count { return &r.CNPIgnored }},
	{"rp_cnp_handled", 0, func(r *RoCE) *Count { return &r.CNPHandled }},
	{"np_ecn_marked_roce_packets", 0, func(r *RoCE) *Count { return &r.MarkedGot }},
	{"np_cnp_sent", 0, func(r *RoCE) *Count { return &r.CNPSent }},
}

// otherRDMA are the names of bnxt_re and ionic for the same.
var otherRDMA = []rdmaName{
	{"rx_cnp_pkts", 0, func(r *RoCE) *Count { return &r.CNPHandled }},
	{"tx_cnp_pkts", 0, func(r *RoCE) *Count { return &r.CNPSent }},
	{"rx_ecn_marked_pkts", 0, func(r *RoCE) *Count { return &r.MarkedGot }},
	{"oos_drop_count", 0, func(r *RoCE) *Count { return &r.OutOfSequence }},
	{"seq_err_naks_rcvd", 0, func(r *RoCE) *Count { return &r.SeqErr }},
	{"to_retransmits", 0, func(r *RoCE) *Count { return &r.Timeouts }},
	{"rnr_naks_rcvd", 0, func(r *RoCE) *Count { return &r.RNR }},
	{"dup_req", 0, func(r *RoCE) *Count { return &r.Duplicates }},
	{"rx_rdma_cnp_pkts", 0, func(r *RoCE) *Count { return &r.CNPHandled }},
	{"tx_rdma_cnp_pkts", 0, func(r *RoCE) *Count { return &r.CNPSent }},
	{"rx_rdma_ecn_pkts", 0, func(r *RoCE) *Count { return &r.MarkedGot }},
	{"req_rx_pkt_seq_err", 0, func(r *RoCE) *Count { return &r.SeqErr }},
	{"resp_rx_outouf_seq", 0, func(r *RoCE) *Count { return &r.OutOfSequence }},
	{"tx_rdma_ack_timeout", 0, func(r *RoCE) *Count { return &r.Timeouts }},
	{"resp_rx_dup_request", 0, func(r *RoCE) *Count { return &r.Duplicates }},
	{"resp_rx_outof_buf", 0, func(r *RoCE) *Count { return &r.OutOfBuffer }},
}

// Wraps reports whether a counter of that name in Each has 32 bits.
func Wraps(name string) bool {
	for _, n := range mlx5RDMA {
		if n.name == name {
			return n.bits == 32
		}
	}
	return false
}

// count stores a counter by its name and returns its place; unsupported ones are ignored.
func (r *RoCE) count(name string, c Count) *Count {
	for _, list := range [][]rdmaName{mlx5RDMA, otherRDMA} {
		for _, n := range list {
			if n.name == name {
				c.Bits = n.bits
				*n.at(r) = c
				return n.at(r)
			}
		}
	}
	return nil
}

// readRDMA parses link DEVICE/PORT followed by names and values, on one line or, with -p, on one line each.
func readRDMA(r *reading) {
	name, half := "", ""
	last := (*Count)(nil)
	for _, l := range r.lines {
		cells := strings.Fields(l.text)
		if len(cells) >= 2 && cells[0] == "link" {
			name, half, last = cells[1], "", nil
			r.port(name, l)
			cells = cells[2:]
		}
		if len(cells) == 0 {
			continue
		}
		if name == "" {
			r.not(l, "precedes the first link name")
			continue
		}
		for _, c := range cells {
			if half == "" && c[0] >= '0' && c[0] <= '9' { // the rest of the number before
				if r.not(l, "has %s where the name of a counter is expected", quote(c)); last != nil {
					*last = Count{}
				}
				break
			}
			if half == "" {
				half = c
				continue
			}
			n, ok := number(c, l)
			if !ok {
				r.not(l, "has %s where a counter of %s is expected", quote(c), half)
				half = ""
				break
			}
			last, half = r.port(name, l).RoCE.count(half, n), ""
		}
	}
	if half != "" {
		r.not(r.lines[len(r.lines)-1], "the value of %s is missing", half)
	}
}

func writeRDMA(w *bytes.Buffer, s *Snapshot) {
	for i := range s.Ports {
		p := &s.Ports[i]
		var all []string
		for _, n := range mlx5RDMA {
			if c := n.at(&p.RoCE); c.Is {
				all = append(all, n.name+" "+c.wrapped(n.bits))
			}
		}
		if len(all) > 0 {
			fmt.Fprintf(w, "link %s %s\n", p.Name, strings.Join(all, " "))
		}
	}
}

// wrapped returns a counter as a register of n bits shows it.
func (c Count) wrapped(bits uint8) string {
	if bits == 32 {
		c.V &= 1<<32 - 1
	}
	return c.String()
}

var hwCounter = regexp.MustCompile(`^(?:/sys/class/infiniband/)?([\w.-]+)/ports/(\d+)/` +
	`(?:hw_)?counters/(\w+)(?::|\s+)(\S+)$`)

// readHWCounters reads what grep . prints of sysfs' files, path:value, or a loop, path value.
func readHWCounters(r *reading) {
	for _, l := range r.lines {
		s := strings.TrimSpace(l.text)
		if s == "" {
			continue
		}
		m := hwCounter.FindStringSubmatch(s)
		if m == nil {
			r.not(l, "is not a path of a counter with its value")
			continue
		}
		c, ok := number(m[4], l)
		if !ok {
			r.not(l, "has %s where a counter is expected", quote(m[4]))
			continue
		}
		r.port(m[1]+"/"+m[2], l).RoCE.count(m[3], c)
	}
}

func writeHWCounters(w *bytes.Buffer, s *Snapshot) {
	for i := range s.Ports {
		p := &s.Ports[i]
		device, port, ok := strings.Cut(p.Name, "/")
		if !ok {
			continue
		}
		for _, n := range mlx5RDMA {
			if c := n.at(&p.RoCE); c.Is {
				fmt.Fprintf(w, "/sys/class/infiniband/%s/ports/%s/hw_counters/%s:%s\n", device, port, n.name,
					c.wrapped(n.bits))
			}
		}
	}
}

var rdmaLink = regexp.MustCompile(`^link (\S+/\d+) state (\S+) physical_state \S+(?: netdev (\S+))?`)

// linkStates are the states of a port in iproute2's rdma link.
var linkStates = []string{"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"}

func readRDMALink(r *reading) {
	for _, l := range r.lines {
		s := strings.TrimSpace(l.text)
		if s == "" {
			continue
		}
		m := rdmaLink.FindStringSubmatch(s)
		if m == nil {
			r.not(l, "is not a link with its state")
			continue
		}
		p := r.port(m[1], l)
		if p.NetDev = m[3]; slices.Contains(linkStates, m[2]) {
			p.Up = Said[bool]{m[2] == "ACTIVE", l.n, true}
		}
	}
}

func writeRDMALink(w *bytes.Buffer, s *Snapshot) {
	for i := range s.Ports {
		if p := &s.Ports[i]; p.NetDev != "" {
			fmt.Fprintf(w, "link %s state %s physical_state LINK_UP netdev %s\n", p.Name,
				p.state("ACTIVE", "DOWN"), p.NetDev)
		}
	}
}

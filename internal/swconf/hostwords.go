package swconf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// onOff formats a setting as a word; - if it is unset.
func onOff(s Said[bool]) string {
	switch {
	case !s.Is():
		return "-"
	case s.V:
		return "on"
	}
	return "off"
}

// halves formats both parts of ECN: the one that answers marks with CNPs, and the one that slows down.
func halves(np, rp Said[bool]) string {
	switch {
	case !np.Is() && !rp.Is():
		return "-"
	case np.Is() && rp.Is() && np.V == rp.V:
		return onOff(np)
	}
	return "np " + onOff(np) + ", rp " + onOff(rp)
}

// class returns the traffic class of a priority in words.
func (n *HostNIC) class(prio int) string {
	t := n.TC[prio]
	if !t.Is() {
		return "-"
	}
	i := t.V & 7
	s := strconv.Itoa(int(i))
	if n.Sched[i].Is() {
		s += " " + n.Sched[i].V
	}
	if n.Share[i].Is() && n.Share[i].V > 0 {
		s += fmt.Sprintf(" %d %%", n.Share[i].V)
	}
	if n.Limit[i].Is() && n.Limit[i].V > 0 {
		s += fmt.Sprintf(", up to %d Gbps", n.Limit[i].V)
	}
	return s
}

// Lines returns the settings of a NIC besides its priorities, a line each.
func (h *Host) Lines(n *HostNIC) (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if n.Trust.Is() {
		add("priorities by %s", n.Trust.V)
	}
	if m, ok := h.DataDSCP(n); ok {
		p, _ := n.Priority(m.DSCP)
		by := m.By
		if m.Partly {
			by += ", not NCCL's"
		}
		add("data: DSCP %d, priority %d (%s)", m.DSCP, p, by)
	}
	if n.CNPDSCP.Is() {
		add("CNPs: DSCP %d%s", n.CNPDSCP.V, inPriority(n.CNPPrio))
	} else if n.CNPPrio.Is() {
		add("CNPs: 802.1p priority %d", n.CNPPrio.V)
	}
	if mask, _, said := n.Paused(); said && mask == 0 {
		add("PFC: off for every priority")
	}
	if n.ToS.Is() {
		add("rdma_cm: ToS %d (DSCP %d)", n.ToS.V, n.ToS.V>>2)
	}
	if n.Mode.Is() {
		add("rdma_cm: %s", n.Mode.V)
	}
	if n.MTU.Is() || n.PathMTU.Is() {
		add("MTU %s, path MTU %s", orDash(n.MTU.Is(), int64(n.MTU.V)), orDash(n.PathMTU.Is(), int64(n.PathMTU.V)))
	}
	if n.CC.Is() {
		add("congestion control %s", onOff(n.CC))
	}
	if n.Marking.Is() {
		add("ECN-capable packets %s", onOff(n.Marking))
	}
	if n.Pause.Is() {
		add("link-level pause %s", onOff(n.Pause))
	}
	if n.FEC.Is() {
		add("FEC %s", n.FEC.V)
	}
	if n.Nego.Is() {
		add("autonegotiation %s", onOff(n.Nego))
	}
	if n.DCBX.Is() {
		add("DCBX by %s", n.DCBX.V)
	}
	if n.Willing.Is() {
		add("willing to take the switch's word in DCBX: %s", onOff(n.Willing))
	}
	if n.Cable.Is() {
		add("receive buffers for %d m of cable", n.Cable.V)
	}
	if s := n.sizes(); s != "" {
		add("receive buffers %s bytes", s)
	}
	if s := n.buffers(); s != "" {
		add("receive buffers of priorities 0 to 7: %s", s)
	}
	var params []string
	for _, p := range n.Params {
		params = append(params, fmt.Sprintf("%s %d", p.Name, p.V))
	}
	if len(params) > 0 {
		add("DCQCN: %s", strings.Join(params, ", "))
	}
	return out
}

// sizes are the receive buffers' as mlnx_qos has them.
func (n *HostNIC) sizes() string {
	var s []string
	some := false
	for _, b := range n.Size {
		some = some || b.Is()
		s = append(s, strconv.FormatInt(int64(b.V), 10))
	}
	if !some {
		return ""
	}
	return strings.Join(s, ",")
}

// buffers returns the receive buffer of each priority, if all are known.
func (n *HostNIC) buffers() string {
	var s []string
	for _, b := range n.Buffer {
		if !b.Is() {
			return ""
		}
		s = append(s, strconv.Itoa(int(b.V)))
	}
	return strings.Join(s, ",")
}

func inPriority(p Said[uint8]) string {
	if !p.Is() {
		return ""
	}
	return fmt.Sprintf(", priority %d", p.V)
}

func orDash(is bool, v int64) string {
	if !is {
		return "not set"
	}
	return strconv.FormatInt(v, 10)
}

// HostView is the table of NICs with equal settings.
type HostView struct {
	NICs  []string  `json:"nics"`
	Title string    `json:"-"`
	Lines []string  `json:"settings"`
	Rows  []HostRow `json:"rows"`
}

// Views returns the treatment of packets by a host's NICs, equal ones together.
func (h *Host) Views() (out []HostView) {
	index := map[string]int{}
	for _, n := range h.NICs {
		v := HostView{NICs: []string{n.Title()}, Lines: h.Lines(n), Rows: h.Rows(n)}
		key := fmt.Sprint(v.Lines, v.Rows)
		i, ok := index[key]
		if !ok {
			index[key] = len(out)
			out = append(out, v)
			continue
		}
		out[i].NICs = append(out[i].NICs, v.NICs...)
	}
	for i := range out {
		out[i].Title = strings.Join(out[i].NICs, ", ")
	}
	return out
}

// Variables returns the variables of the environment, each once, with their final values.
func (h *Host) Variables() (out []HostVar) {
	for i, v := range h.Env {
		if last, _ := h.Var(v.Name); last == v && !slices.Contains(h.Env[i+1:], v) {
			out = append(out, v)
		}
	}
	return out
}

package hostconf

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"railyard/cc"
	"railyard/internal/field"
	"railyard/internal/swconf"
	"railyard/unit"
)

// Kinds are the NICs whose tools are written for.
var Kinds = []string{"mlx5", "bnxt", "ionic"}

// Wanted is the wanted host side of a fabric.
type Wanted struct {
	Host             string
	Kind             string // of its NICs
	NICs             int
	DSCP, CNPDSCP    int
	Prio, CNPPrio    int   // priorities of data and CNPs, equal to the numbers of the switches' queues
	Lossless         uint8 // the priorities that PFC protects
	MTU              unit.Bytes
	QPs              int
	Timeout, Retries int
	Params           cc.Values // parameters of DCQCN; nil: another congestion control
	Split            bool      // every queue pair has its part of a message
}

// here is the position of values that are derived and not read.
var here = swconf.Place{Line: 1, Col: 1}

func say[T any](v T) swconf.Said[T] { return swconf.Say(v, here) }

// devices are a NIC's default names on systems.
func devices(kind string, i int) (dev, rdma string) {
	switch kind {
	case "bnxt":
		return fmt.Sprintf("eth%d", i), fmt.Sprintf("bnxt_re%d", i)
	case "ionic":
		return fmt.Sprintf("eth%d", i), fmt.Sprintf("ionic_%d", i)
	}
	return fmt.Sprintf("eth%d", i), fmt.Sprintf("mlx5_%d", i)
}

// Make returns the intended host as if parsed from its configuration, and notes of settings that cannot be written for
// its NICs.
func Make(w Wanted) (h *swconf.Host, notes []string, err error) {
	if !slices.Contains(Kinds, w.Kind) {
		return nil, nil, field.Choice("--nic", w.Kind, Kinds, "found %s", field.Quote(w.Kind))
	}
	if w.Kind == "bnxt" && bits.OnesCount8(w.Lossless) > 1 {
		return nil, nil, fmt.Errorf("%s: bnxt_setupcc.sh protects one priority, and the switches pause %s", w.Host,
			swconf.Priorities(w.Lossless))
	}
	h = &swconf.Host{File: w.Host, Hostname: say(w.Host)}
	params, more, err := w.params()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", w.Host, err)
	}
	notes = append(notes, more...)
	for i := range w.NICs {
		n := &swconf.HostNIC{Kind: w.Kind, At: here, MTU: say(w.MTU)}
		n.Dev, n.RDMA = devices(w.Kind, i)
		w.shape(n)
		for _, p := range params {
			n.SetParam(p.Name, p.V, here)
		}
		h.NICs = append(h.NICs, n)
	}
	h.Env = w.environment(h)
	return h, notes, nil
}

// shape gives a NIC its classes, as its vendor's tool sets them.
func (w Wanted) shape(n *swconf.HostNIC) {
	n.Trust = say("dscp")
	n.CNPDSCP = say(uint8(w.CNPDSCP))
	for i := range n.PFC {
		n.PFC[i] = say(w.Lossless>>i&1 == 1)
	}
	switch w.Kind {
	case "mlx5":
		n.CNPPrio, n.Mode, n.Pause = say(uint8(w.CNPPrio)), say("RoCE v2"), say(false)
		n.Class, n.ToS = say(uint8(w.DSCP<<2)), say(uint8(w.DSCP<<2))
		n.NP[w.Prio], n.RP[w.Prio] = say(true), say(true)
		for _, m := range [][2]int{{w.DSCP, w.Prio}, {w.CNPDSCP, w.CNPPrio}} {
			if m[0]>>3 != m[1] { // else the firmware's own
				n.DSCP[m[0]] = say(uint8(m[1]))
			}
		}
	case "bnxt":
		r := reader{h: &swconf.Host{}, lines: map[int]state{}}
		r.setUp(n, w.setup(), here)
	case "ionic":
		n.Pause = say(false)
		for d := range n.DSCP {
			n.DSCP[d] = say(uint8(0))
		}
		n.DSCP[w.DSCP], n.DSCP[w.CNPDSCP] = say(uint8(w.Prio)), say(uint8(w.CNPPrio))
		for _, s := range w.shares() {
			n.TC[s[0]], n.Share[s[0]], n.Limit[s[0]] = say(uint8(s[0])), say(s[1]), say(s[2])
			n.Sched[s[0]] = say(map[bool]string{true: "strict", false: "ets"}[s[1] == 0])
		}
	}
}

// setup are the options of bnxt_setupcc.sh.
func (w Wanted) setup() map[byte]option {
	mode := "3"
	if w.Lossless == 0 {
		mode = "2"
	}
	by := map[byte]option{}
	for _, o := range []struct {
		letter byte
		value  string
	}{{'m', mode}, {'s', strconv.Itoa(w.DSCP)}, {'r', strconv.Itoa(w.Prio)}, {'p', strconv.Itoa(w.CNPDSCP)},
		{'c', strconv.Itoa(w.CNPPrio)}, {'C', "1"}} {
		by[o.letter] = option{value: o.value, at: here}
	}
	return by
}

// shares are priorities with shares and limits (Gbit/s) of a Pensando NIC: data, the default, and CNPs
// before both, as AMD's guide has them.
func (w Wanted) shares() (out [][3]int) {
	out = append(out, [3]int{w.Prio, 99, 0})
	if w.Prio != 0 && w.CNPPrio != 0 {
		out = append(out, [3]int{0, 1, 0})
	}
	if w.CNPPrio != w.Prio {
		out = append(out, [3]int{w.CNPPrio, 0, 10})
	}
	return out
}

// params returns DCQCN's parameters in the NIC's form.
func (w Wanted) params() (list []swconf.HostParam, notes []string, err error) {
	if w.Params == nil {
		return nil, []string{"congestion control is not DCQCN: no parameters of it are written"}, nil
	}
	if w.Kind != "mlx5" {
		return nil, []string{"the units of " + w.Kind + "'s parameters of DCQCN are not public: none is written, and what the NIC ships with holds (--nic mlx5 writes them)"}, nil
	}
	if v, ok := w.Params["cut_interval"].(unit.Time); ok && v == 0 {
		return nil, nil, fmt.Errorf("cc.dcqcn.cut_interval 0s is DCQCN as in its paper, which reduces rates on every CNP; ConnectX NICs do so at intervals: cc.dcqcn.profile nic can be written")
	}
	list, err = Numbers(w.Params)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range list {
		p := paramNamed(n.Name)
		if held := p.get(n.V); held != w.Params[p.of] {
			notes = append(notes, fmt.Sprintf("cc.dcqcn.%s %v is written as %s %d, which is %v", p.of,
				w.Params[p.of], p.name, n.V, held))
		}
	}
	return list, notes, nil
}

// environment is NCCL's.
func (w Wanted) environment(h *swconf.Host) (env []swconf.HostVar) {
	set := func(name, value string) { env = append(env, swconf.HostVar{Name: name, Value: value, At: here}) }
	var hcas []string
	for _, n := range h.NICs {
		hcas = append(hcas, n.RDMA)
	}
	if len(hcas) > 0 {
		set("NCCL_IB_HCA", "="+strings.Join(hcas, ","))
	}
	set("NCCL_IB_TC", strconv.Itoa(w.DSCP<<2))
	set("NCCL_IB_SL", strconv.Itoa(w.Prio))
	if w.Kind == "mlx5" {
		set("NCCL_IB_GID_INDEX", "3")
	}
	set("NCCL_IB_QPS_PER_CONNECTION", strconv.Itoa(w.QPs))
	if w.Split && w.QPs > 1 {
		set("NCCL_IB_SPLIT_DATA_ON_QPS", "1")
	}
	if w.Timeout > 0 {
		set("NCCL_IB_TIMEOUT", strconv.Itoa(w.Timeout))
	}
	set("NCCL_IB_RETRY_CNT", strconv.Itoa(w.Retries))
	return env
}

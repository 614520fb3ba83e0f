package gnmi

import (
	"regexp"
	"strconv"
	"strings"

	"railyard/internal/counters"
	"railyard/unit"

	pb "github.com/openconfig/gnmi/proto/gnmi"
)

// question is a requested subtree. Origin and target are vendors'.
type question struct {
	target string
	elems  []string // key=* for each list
}

// questions are sent one by one, so that a device that does not support one of them answers the rest. Sources:
// openconfig-interfaces, -if-ethernet, -qos, -lldp; openconfig-qos-ext as Dell Enterprise SONiC and Broadcom serve
// it (pfc-priorities); NVIDIA's switch-priority as the Cumulus Linux guide lists it; SONiC's COUNTERS_DB with the
// names of its telemetry.
var questions = []question{
	{elems: []string{"system", "state", "hostname"}},
	{elems: []string{"interfaces", "interface[name=*]", "state"}},
	{elems: []string{"interfaces", "interface[name=*]", "ethernet", "state"}},
	{elems: []string{"qos", "interfaces", "interface[interface-id=*]"}},
	{elems: []string{"lldp", "interfaces", "interface[name=*]", "neighbors"}},
	{target: "COUNTERS_DB", elems: []string{"COUNTERS", "Ethernet*"}},
	{target: "COUNTERS_DB", elems: []string{"COUNTERS", "Ethernet*", "Queues"}},
}

// name is a question as people write it.
func (q question) name() string {
	if q.target != "" {
		return q.target + "/" + strings.Join(q.elems, "/")
	}
	return "/" + strings.Join(q.elems, "/")
}

// wild reports whether a request covers all entries of a list.
func (q question) wild() bool { return strings.Contains(strings.Join(q.elems, "/"), "=*") }

// parent returns the container of the first list.
func (q question) parent() question {
	for i, e := range q.elems {
		if strings.Contains(e, "=*") {
			q.elems = q.elems[:i]
			break
		}
	}
	return q
}

func (q question) prefix() *pb.Path {
	if q.target == "" {
		return nil
	}
	return &pb.Path{Target: q.target}
}

func (q question) path() *pb.Path {
	p := &pb.Path{}
	for _, e := range q.elems {
		name, key, ok := strings.Cut(strings.TrimSuffix(e, "]"), "[")
		x := &pb.PathElem{Name: name}
		if ok {
			k, v, _ := strings.Cut(key, "=")
			x.Key = map[string]string{k: v}
		}
		p.Elem = append(p.Elem, x)
	}
	return p
}

// leaf stores a value: key is that of the innermost list below the interface (a queue, a priority), -1 for none.
type leaf func(p *counters.Port, key int, v value)

// value returns a leaf's, as a number if it is one.
type value struct {
	text string
	n    uint64
	num  bool
}

func count(of func(p *counters.Port, key int) *counters.Count) leaf {
	return func(p *counters.Port, key int, v value) {
		if v.num && (key < counters.Priorities) {
			if c := of(p, max(key, 0)); c != nil {
				*c = counters.Count{V: v.n, Is: true}
			}
		}
	}
}

// whole stores a counter of the interface itself.
func whole(of func(p *counters.Port) *counters.Count) leaf {
	return count(func(p *counters.Port, _ int) *counters.Count { return of(p) })
}

const (
	ifState  = "interfaces/interface/state/"
	ifCount  = "interfaces/interface/state/counters/"
	ethCount = "interfaces/interface/ethernet/state/counters/"
	qosQueue = "qos/interfaces/interface/output/queues/queue/state/"
	qosPFC   = "qos/interfaces/interface/pfc/pfc-priorities/pfc-priority/state/"
	nvidia   = "qos/interfaces/interface/state/switch-priority/counters/"
	neighbor = "lldp/interfaces/interface/neighbors/neighbor/state/"
)

// leaves maps paths without their keys to the counters of their values.
var leaves = map[string]leaf{
	ifState + "oper-status": func(p *counters.Port, _ int, v value) { p.Up = counters.Say(v.text == "UP") },
	ifState + "mtu": func(p *counters.Port, _ int, v value) {
		if v.num && v.n < 1<<20 {
			p.MTU = counters.Say(unit.Bytes(v.n))
		}
	},
	"interfaces/interface/ethernet/state/port-speed":            speed,
	"interfaces/interface/ethernet/state/negotiated-port-speed": speed,

	ifCount + "in-octets":             whole(func(p *counters.Port) *counters.Count { return &p.RxBytes }),
	ifCount + "out-octets":            whole(func(p *counters.Port) *counters.Count { return &p.TxBytes }),
	ifCount + "in-pkts":               whole(func(p *counters.Port) *counters.Count { return &p.RxPackets }),
	ifCount + "out-pkts":              whole(func(p *counters.Port) *counters.Count { return &p.TxPackets }),
	ifCount + "in-errors":             whole(func(p *counters.Port) *counters.Count { return &p.InErrors }),
	ifCount + "out-errors":            whole(func(p *counters.Port) *counters.Count { return &p.OutErrors }),
	ifCount + "in-discards":           whole(func(p *counters.Port) *counters.Count { return &p.InDiscards }),
	ifCount + "out-discards":          whole(func(p *counters.Port) *counters.Count { return &p.OutDiscards }),
	ifCount + "in-fcs-errors":         whole(func(p *counters.Port) *counters.Count { return &p.CRC }),
	ifCount + "carrier-transitions":   transitions,
	ethCount + "in-crc-errors":        whole(func(p *counters.Port) *counters.Count { return &p.CRC }),
	ethCount + "in-oversize-frames":   whole(func(p *counters.Port) *counters.Count { return &p.Giants }),
	ethCount + "in-mac-pause-frames":  whole(func(p *counters.Port) *counters.Count { return &p.RxPause }),
	ethCount + "out-mac-pause-frames": whole(func(p *counters.Port) *counters.Count { return &p.TxPause }),

	qosQueue + "transmit-pkts": count(func(p *counters.Port, k int) *counters.Count {
		return &p.Queues[k].TxPackets
	}),
	qosQueue + "transmit-octets": count(func(p *counters.Port, k int) *counters.Count {
		return &p.Queues[k].TxBytes
	}),
	qosQueue + "dropped-pkts": count(func(p *counters.Port, k int) *counters.Count {
		return &p.Queues[k].DropPackets
	}),
	qosQueue + "dropped-octets": count(func(p *counters.Port, k int) *counters.Count {
		return &p.Queues[k].DropBytes
	}),
	qosQueue + "ecn-marked-pkts": count(func(p *counters.Port, k int) *counters.Count { return &p.Queues[k].Marked }),
	qosQueue + "max-queue-len":   count(func(p *counters.Port, k int) *counters.Count { return &p.Queues[k].Peak }),

	qosPFC + "statistics/pause-frames-rx": pfcGot, qosPFC + "pause-frames-rx": pfcGot,
	qosPFC + "statistics/pause-frames-tx": pfcSent, qosPFC + "pause-frames-tx": pfcSent,
	nvidia + "in-pause-pkts": pfcGot, nvidia + "out-pause-pkts": pfcSent,
	qosPFC + "enable": func(p *counters.Port, k int, v value) {
		if k < 0 || k >= counters.Priorities {
			return
		}
		m := p.Lossless.V
		if v.text == "true" {
			m |= 1 << k
		}
		p.Lossless, p.PFC = counters.Say(m), counters.Say(m != 0)
	},

	neighbor + "system-name": func(p *counters.Port, _ int, v value) { p.Peer.Device = v.text },
	neighbor + "port-id": func(p *counters.Port, _ int, v value) {
		if p.Peer.Port == "" || !hardware.MatchString(v.text) {
			p.Peer.Port = v.text
		}
	},
	neighbor + "port-description": func(p *counters.Port, _ int, v value) {
		if (p.Peer.Port == "" || hardware.MatchString(p.Peer.Port)) && v.text != "" &&
			!strings.ContainsAny(v.text, " \t") {
			p.Peer.Port = v.text
		}
	},
}

// hardware reports whether a port's name is a MAC address; its description is better then.
var hardware = regexp.MustCompile(`(?i)^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$|^([0-9a-f]{4}\.){2}[0-9a-f]{4}$`)

var (
	pfcGot  = count(func(p *counters.Port, k int) *counters.Count { return &p.RxPFC[k] })
	pfcSent = count(func(p *counters.Port, k int) *counters.Count { return &p.TxPFC[k] })
)

// transitions counts both directions: a link that failed and recovered made two.
func transitions(p *counters.Port, _ int, v value) {
	if v.num {
		p.Flaps = counters.Count{V: v.n / 2, Is: true}
	}
}

// speeds are openconfig-if-ethernet's identities.
var speeds = regexp.MustCompile(`SPEED_(\d+)(MB|GB)$`)

func speed(p *counters.Port, _ int, v value) {
	m := speeds.FindStringSubmatch(v.text)
	if m == nil {
		return
	}
	n, _ := strconv.Atoi(m[1])
	r := unit.Rate(n) * unit.Gbps
	if m[2] == "MB" {
		r = unit.Rate(n) * unit.Gbps / 1000
	}
	p.Speed = counters.Say(r)
}

// sai are SONiC's names in COUNTERS_DB, of ports and of queues.
var (
	saiPort = map[string]func(p *counters.Port) *counters.Count{
		"SAI_PORT_STAT_IF_IN_ERRORS":           func(p *counters.Port) *counters.Count { return &p.InErrors },
		"SAI_PORT_STAT_IF_IN_DISCARDS":         func(p *counters.Port) *counters.Count { return &p.InDiscards },
		"SAI_PORT_STAT_IF_OUT_DISCARDS":        func(p *counters.Port) *counters.Count { return &p.OutDiscards },
		"SAI_PORT_STAT_IF_IN_OCTETS":           func(p *counters.Port) *counters.Count { return &p.RxBytes },
		"SAI_PORT_STAT_IF_OUT_OCTETS":          func(p *counters.Port) *counters.Count { return &p.TxBytes },
		"SAI_PORT_STAT_PAUSE_RX_PKTS":          func(p *counters.Port) *counters.Count { return &p.RxPause },
		"SAI_PORT_STAT_PAUSE_TX_PKTS":          func(p *counters.Port) *counters.Count { return &p.TxPause },
		"SAI_PORT_STAT_ETHER_RX_OVERSIZE_PKTS": func(p *counters.Port) *counters.Count { return &p.Giants },
	}
	saiQueue = map[string]func(q *counters.Queue) *counters.Count{
		"SAI_QUEUE_STAT_PACKETS":                 func(q *counters.Queue) *counters.Count { return &q.TxPackets },
		"SAI_QUEUE_STAT_BYTES":                   func(q *counters.Queue) *counters.Count { return &q.TxBytes },
		"SAI_QUEUE_STAT_DROPPED_PACKETS":         func(q *counters.Queue) *counters.Count { return &q.DropPackets },
		"SAI_QUEUE_STAT_DROPPED_BYTES":           func(q *counters.Queue) *counters.Count { return &q.DropBytes },
		"SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS": func(q *counters.Queue) *counters.Count { return &q.Marked },
	}
	saiPFC = regexp.MustCompile(`^SAI_PORT_STAT_PFC_([0-7])_([RT])X_PKTS$`)
)

// sonic takes a counter of SONiC's database; name is Ethernet8 or Ethernet8:3.
func (t *tree) sonic(name, stat string, v value) {
	port, q, _ := strings.Cut(name, ":")
	if !v.num || !strings.HasPrefix(port, "Ethernet") {
		return
	}
	p := t.port(port)
	if m := saiPFC.FindStringSubmatch(stat); m != nil {
		k := int(m[1][0] - '0')
		if m[2] == "R" {
			pfcGot(p, k, v)
		} else {
			pfcSent(p, k, v)
		}
		return
	}
	if of := saiPort[stat]; of != nil && q == "" {
		*of(p) = counters.Count{V: v.n, Is: true}
	}
	if k, err := strconv.Atoi(q); err == nil && k >= 0 && k < counters.Priorities {
		if of := saiQueue[stat]; of != nil {
			*of(&p.Queues[k]) = counters.Count{V: v.n, Is: true}
		}
	}
}

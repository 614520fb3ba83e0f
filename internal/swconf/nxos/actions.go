package nxos

import (
	"fmt"
	"strconv"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

// Units of thresholds: Cisco, Nexus 9000 QoS guide, "Configuring WRED" and "Configuring Queuing".
const units = "bytes|kbytes|mbytes|packets|ms|us"

var scale = map[string]float64{"bytes": 1, "kbytes": 1e3, "mbytes": 1e6, "": 1}

// threshold parses a number with its unit, in powers of ten; a value not in bytes is stored as written.
func threshold(m *cli.Match, n, u string) (b unit.Bytes, said string) {
	if by, ok := scale[m.Word(u)]; ok {
		return unit.Bytes(min(m.Num(n)*by, 1e15)), ""
	}
	return 0, m.Word(n) + " " + m.Word(u)
}

// policyClassMode returns the commands of a class in a policy.
func (p *parser) policyClassMode(pm *policy, q *policyClass) *cli.Mode {
	r := cli.NewMode("pmap-c-" + pm.typ)
	switch pm.typ {
	case "qos":
		p.qosActions(r, q)
	case "queuing":
		p.queuingActions(r, q)
		p.pauseActions(r, q)
	case "network-qos":
		p.networkActions(r, q)
	}
	return r
}

func (p *parser) qosActions(r *cli.Mode, q *policyClass) {
	r.Set("[no] set qos-group <n:int>", func(m *cli.Match) {
		if m.No {
			q.group = swconf.Said[int]{}
			return
		}
		q.group = swconf.SaidAt(p.c, m, "n", int(min(m.Int("n"), 1000)))
		if m.Int("n") > 7 {
			p.fault(m, "n", swconf.Error, "bad-value",
				fmt.Sprintf("qos-group %d does not exist, they are 0 to 7", m.Int("n")),
				"the switch refuses the line and the class stays in group 0", "use a group from 0 to 7")
			q.group.V = 0
		}
	})
	r.Set("[no] set [ ip ] <what:dscp|cos|precedence> [ tunnel ] <v> [ table <table> ]", func(*cli.Match) {})
	r.Set("[no] police <more...>", func(*cli.Match) {})
	r.Skip(p.pass, "description", "set discard-class", "set mpls", "dlb-mode", "set nat-stateful")
}

func (p *parser) queuingActions(r *cli.Mode, q *policyClass) {
	r.Set("[no] bandwidth [ remaining ] percent <n:int>", func(m *cli.Match) {
		swconf.Assign(p.c, m, &q.Share, "n", int(min(m.Int("n"), 1000)))
	})
	r.Set("[no] bandwidth <n:num> [ <u:bps|kbps|mbps|gbps> ]", func(*cli.Match) {})
	r.Set("[no] priority [ level <n:int> ]", func(m *cli.Match) {
		swconf.Switch(p.c, m, &q.Strict, "priority", true)
	})
	r.Set("[no] random-detect [ cos-based ] minimum-threshold <min:num> [ <u1:"+units+"> ] maximum-threshold <max:num> [ <u2:"+units+"> ] [ drop-probability <p:num> ] [ weight <w:int> ] [ cap-average ] [ <mark:ecn|non-ecn> ]", func(m *cli.Match) {
		w := swconf.WRED{Percent: m.Num("p"), Open: !m.Has("p"), Weight: int(min(m.Int("w"), 1000)),
			ECN: m.Word("mark") == "ecn" || m.Word("mark") == "" && q.WRED.V.ECN}
		w.Min, w.MinText = threshold(m, "min", "u1")
		w.Max, w.MaxText = threshold(m, "max", "u2")
		if m.Word("mark") == "non-ecn" && q.WRED.V.ECN && !m.No {
			return // a limit for packets that are not ECN-capable, in addition to the ECN-capable ones
		}
		if w.MinText+w.MaxText != "" { // the two are compared with one another
			w.Min, w.Max = 0, 0
			w.MinText = strings.TrimSpace(m.Word("min") + " " + m.Word("u1"))
			w.MaxText = strings.TrimSpace(m.Word("max") + " " + m.Word("u2"))
		}
		swconf.Assign(p.c, m, &q.WRED, "random-detect", w)
	})
	r.Set("[no] random-detect [ threshold <what:burst-optimized|mesh-optimized> ] [ ecn ]",
		func(m *cli.Match) {
			w := swconf.WRED{ECN: m.Has("ecn")}
			if w.ECN && !m.Has("what") { // ECN on a line of its own, in addition to the thresholds' line
				w = q.WRED.V
				w.ECN = !m.No
				if m.No && (w.Max > 0 || w.MaxText != "") { // which stay
					q.WRED.V = w
					return
				}
			}
			swconf.Assign(p.c, m, &q.WRED, "random-detect", w)
		})
	// limits of packets that cannot be marked, and of single 802.1p priorities (Nexus 7000)
	r.Set("[no] random-detect non-ecn <more...>", func(*cli.Match) {})
	r.Set("[no] random-detect <what:cos-based|forward-nonecn> [ aggregate ]", func(*cli.Match) {})
	r.Set("[no] random-detect cos <list> <more...>", func(*cli.Match) {})
	r.Set("[no] queue-limit cos <list> <more...>", func(*cli.Match) {})
	r.Set("no queue-limit", func(*cli.Match) { q.Alpha, q.Limit = swconf.Said[float64]{}, swconf.Said[unit.Bytes]{} })
	r.Set("[no] queue-limit dynamic <n:int>", func(m *cli.Match) {
		swconf.Assign(p.c, m, &q.Alpha, "n", alphaOf(m.Int("n")))
	})
	r.Set("[no] queue-limit <n:num> [ <u:"+units+"> ]", func(m *cli.Match) {
		b, said := threshold(m, "n", "u")
		if said != "" { // a limit in packets or time, which is not a number of bytes here
			b = 0
		}
		swconf.Assign(p.c, m, &q.Limit, "n", b)
		if said != "" {
			q.Limit = swconf.Said[unit.Bytes]{}
		}
	})
	r.Set("[no] queue-limit percent <n:num>", func(*cli.Match) { q.Limit = swconf.Said[unit.Bytes]{} })
	r.Set("[no] shape <more...>", func(*cli.Match) {})
	r.Set("[no] set <more...>", func(*cli.Match) {})
	r.Set("[no] service-policy [ type queuing ] <name>", func(m *cli.Match) {
		swconf.Assign(p.c, m, &q.under, "name", m.Word("name"))
		if !given.MatchString(m.Word("name")) {
			p.c.Refer(m, "policy-map type queuing", "name")
		}
	})
	r.Skip(p.pass, "description", "afd", "dynamic-packet-prioritization")
}

// levels are the thresholds at which pauses begin and end. Guides write them in bytes.
const levels = "<size:num> [ <u1:bytes|kbytes|mbytes> ] pause-threshold <xoff:num> [ <u2:bytes|kbytes|mbytes> ] resume-threshold <xon:num> [ <u3:bytes|kbytes|mbytes> ]"

func (p *parser) levels(q *policyClass, m *cli.Match) (g swconf.Pause) {
	g.XOff, _ = threshold(m, "xoff", "u2")
	g.XOn, _ = threshold(m, "xon", "u3")
	size, _ := threshold(m, "size", "u1")
	g.Headroom = size - g.XOff
	q.PG = swconf.SaidAt(p.c, m, "pause", g)
	return g
}

// pauseActions are the thresholds of pauses, in bytes or in percents of the pool.
func (p *parser) pauseActions(r *cli.Mode, q *policyClass) {
	r.Set("[no] pause buffer-size "+levels+" [ pfc-cos <cos:int> ]", func(m *cli.Match) {
		if m.No {
			q.PG = swconf.Said[swconf.Pause]{}
			return
		}
		g := p.levels(q, m)
		n, _, known := queueOf(q.name)
		if m.Has("cos") && known && m.Int("cos") != int64(n) {
			p.fault(m, "cos", swconf.Error, "pfc-class",
				fmt.Sprintf("thresholds of queue %d pause PFC priority %d", n, m.Int("cos")),
				"a full queue stops another class, and its own packets are lost",
				fmt.Sprintf("pfc-cos %d", n))
		}
		if g.Headroom <= 0 {
			p.fault(m, "size", swconf.Error, "headroom",
				fmt.Sprintf("buffer-size %v is not above pause-threshold %v: no headroom", g.XOff+g.Headroom, g.XOff),
				"what is under way when the pause is sent finds no room and is lost",
				"make buffer-size the pause-threshold plus the headroom of rate, cable and MTU")
		}
	})
	r.Set("[no] pause buffer-size percent <size:num> pause-threshold percent <xoff:num> resume-threshold percent <xon:num> [ pfc-cos <cos:int> ]", func(*cli.Match) {})
}

func (p *parser) networkActions(r *cli.Mode, q *policyClass) {
	r.Set("[no] mtu <n:int>", func(m *cli.Match) {
		if p.fits(m) {
			swconf.Assign(p.c, m, &q.MTU, "n", unit.Bytes(m.Int("n")))
		}
	})
	r.Set("[no] pause [ no-drop ] pfc-cos <list> [ receive ]", func(m *cli.Match) {
		if m.No {
			q.Pause, q.drops, q.PG = swconf.Said[int]{}, swconf.Said[bool]{}, swconf.Said[swconf.Pause]{}
			return
		}
		set, err := priorities(m.Word("list"))
		n := -1
		for i := range 8 {
			if set[i] && (n < 0 || strings.HasSuffix(q.name, strconv.Itoa(i))) {
				n = i
			}
		}
		if err != nil || n < 0 {
			p.fault(m, "list", swconf.Error, "bad-value",
				fmt.Sprintf("pfc-cos %q is not one priority of 0 to 7", m.Word("list")),
				"the class is not paused", "write the one priority that is paused")
			return
		}
		q.Pause = swconf.SaidAt(p.c, m, "pause", n)
	})
	r.Set("[no] pause no-drop", func(m *cli.Match) {
		swconf.Assign(p.c, m, &q.drops, "pause", true)
		if q.Pause = (swconf.Said[int]{}); m.No {
			q.PG = swconf.Said[swconf.Pause]{}
		}
	})
	// Nexus 5500 and 6000, "no-drop buffer configuration"
	r.Set("[no] pause no-drop buffer-size "+levels, func(m *cli.Match) {
		swconf.Assign(p.c, m, &q.drops, "pause", true)
		if q.Pause = (swconf.Said[int]{}); m.No {
			q.PG = swconf.Said[swconf.Pause]{}
			return
		}
		p.levels(q, m)
	})
	r.Set("[no] congestion-control random-detect [ threshold <what:burst-optimized|mesh-optimized> ] [ ecn ]",
		func(m *cli.Match) { swconf.Assign(p.c, m, &q.congests, "congestion-control", m.Has("ecn")) })
	r.Set("[no] multicast-optimize", func(*cli.Match) {})
	r.Set("[no] set cos <n:int>", func(m *cli.Match) {
		swconf.Assign(p.c, m, &q.cos, "n", int(min(m.Int("n"), queue.Classes-1)))
	})
	r.Set("[no] congestion-control tail-drop [ threshold <what:burst-optimized|mesh-optimized> ]",
		func(*cli.Match) {})
	r.Set("[no] <what:set|match|queue-limit|multicast-optimize> <more...>", func(*cli.Match) {})
	r.Set("[no] pause buffer-size <more...>", func(*cli.Match) {})
	r.Skip(p.pass, "description")
}

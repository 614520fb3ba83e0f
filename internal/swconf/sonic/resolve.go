package sonic

import (
	"fmt"
	"strconv"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/unit"
)

// resolve works out what each port does with packets. Ports that do the same
// share one description.
func (p *parser) resolve() {
	p.pools()
	p.c.QoS = &swconf.QoS{}
	rows := map[string]*node{}
	if t := p.table("PORT_QOS_MAP"); t != nil {
		for i, row := range values(t) {
			for _, name := range strings.Split(t.keys[i], ",") {
				if name != "global" && p.ports[name] == nil {
					p.bad(row, "PORT_QOS_MAP names %s, which PORT does not have", name)
				}
				rows[name] = row
			}
		}
	}
	queues := p.perPort("QUEUE")
	pgs := p.perPort("BUFFER_PG")
	bufq := p.perPort("BUFFER_QUEUE")
	seen := map[swconf.Print]*swconf.QoS{}
	for _, port := range p.c.Ports {
		row := rows[port.Name]
		q := p.qos(port, row, queues[port.Name], pgs[port.Name], bufq[port.Name])
		key := q.Fingerprint()
		if seen[key] == nil {
			seen[key] = q
		}
		port.QoS = seen[key]
	}
}

// pools reads the packet memory: the ingress pools together.
func (p *parser) pools() {
	table := p.table("BUFFER_POOL")
	var sum unit.Bytes
	var at swconf.Place
	for _, row := range values(table) {
		size, ok := p.number(row, "size", maxBytes)
		if ok && row.str("type") == "ingress" {
			xoff, _ := p.number(row, "xoff", maxBytes)
			sum += unit.Bytes(size + xoff)
			at = row.get("size").at
		}
	}
	for _, prof := range values(p.table("BUFFER_PROFILE")) {
		if n := prof.get("pool"); n != nil {
			p.ref("BUFFER_POOL", n)
		}
	}
	if sum > 0 {
		p.c.Buffer = swconf.Say(sum, at)
	}
}

// systemPort cuts a key of a chassis with virtual output queues: line card, ASIC, port and index, as in
// lc8-1|asic0|Ethernet0|3-4. Each card queues for the ports of all.
func systemPort(key string) (card, rest string, ok bool) {
	if strings.Count(key, "|") != 3 {
		return "", "", false
	}
	card, rest, _ = strings.Cut(key, "|")
	_, rest, _ = strings.Cut(rest, "|")
	return card, rest, true
}

// card is which line card a table of system ports is of: the one that has the text's hostname, or the only
// one that there is.
func (p *parser) card(t *node) (card string) {
	only := true
	for i := range values(t) {
		host, _, ok := systemPort(t.keys[i])
		switch {
		case !ok:
		case host == p.c.Hostname.V:
			return host
		case card == "":
			card = host
		case card != host:
			only = false
		}
	}
	if !only {
		return ""
	}
	return card
}

// perPort sorts the rows of a table keyed by port and index, as
// "Ethernet0,Ethernet4|3-4", by port and index.
func (p *parser) perPort(table string) map[string]map[int]*node {
	out := map[string]map[int]*node{}
	t := p.table(table)
	card := p.card(t)
	for i, row := range values(t) {
		names, index, ok := strings.Cut(t.keys[i], "|")
		if host, rest, voq := systemPort(t.keys[i]); voq {
			if host != card {
				continue // of another line card, which has a text of its own
			}
			names, index, ok = strings.Cut(rest, "|")
		}
		lo, hi, ranged := strings.Cut(index, "-")
		a, err1 := strconv.Atoi(lo)
		b, err2 := a, error(nil)
		if ranged {
			b, err2 = strconv.Atoi(hi)
		}
		if !ok || err1 != nil || err2 != nil || a < 0 || b < a || b > 63 {
			p.bad(row, "%s|%s is not keyed by port and index", table, t.keys[i])
			continue
		}
		for _, name := range strings.Split(names, ",") {
			if p.ports[name] == nil {
				p.bad(row, "%s names %s, which PORT does not have", table, name)
				continue
			}
			if out[name] == nil {
				out[name] = map[int]*node{}
			}
			for ; a <= b; a++ {
				if old := out[name][a]; old != nil {
					swconf.Duplicate(p.c, table, fmt.Sprintf("%s|%d", name, a), row.at, old.at)
				}
				out[name][a] = row
			}
			a, _ = strconv.Atoi(lo)
		}
	}
	return out
}

// indexMap reads a map of small numbers, identity where there is none.
func (p *parser) indexMap(table string, ref *node) (m [8]int, at [8]swconf.Place) {
	for i := range m {
		m[i] = i
	}
	row := p.ref(table, ref)
	for i, n := range values(row) {
		k, err1 := strconv.Atoi(row.keys[i])
		v, err2 := strconv.Atoi(n.text)
		if err1 != nil || err2 != nil || k < 0 || k > 7 || v < 0 || v > 7 {
			p.bad(n, "%s: %s to %s is not a pair of numbers from 0 to 7", table, row.keys[i], n.text)
			continue
		}
		m[k], at[k] = v, n.at
	}
	return m, at
}

func (p *parser) qos(port *swconf.Port, row *node, queues, pgs, bufq map[int]*node) *swconf.QoS {
	q := &swconf.QoS{}
	for i := range q.Queues {
		q.Queues[i].Name = fmt.Sprintf("UC%d", i)
	}
	tcToQueue, _ := p.indexMap("TC_TO_QUEUE_MAP", row.get("tc_to_queue_map"))
	tcToPG, _ := p.indexMap("TC_TO_PRIORITY_GROUP_MAP", row.get("tc_to_pg_map"))
	pfcToQueue, _ := p.indexMap("MAP_PFC_PRIORITY_TO_QUEUE", row.get("pfc_to_queue_map"))
	if n := row.get("pfc_to_pg_map"); n != nil {
		p.ref("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", n)
	}
	if n := row.get("dscp_to_tc_map"); n != nil {
		q.Input = swconf.Say(n.text, n.at)
		table := p.ref("DSCP_TO_TC_MAP", n)
		for i, e := range values(table) {
			d, err1 := strconv.Atoi(table.keys[i])
			tc, err2 := strconv.Atoi(e.text)
			if err1 != nil || err2 != nil || d < 0 || d > 63 || tc < 0 || tc > 7 {
				p.bad(e, "DSCP %s to TC %s: DSCPs are 0 to 63 and traffic classes 0 to 7",
					table.keys[i], e.text)
				continue
			}
			q.DSCP[d] = swconf.Say(uint8(tcToQueue[tc]), e.at)
			if f := &q.Feeds[tcToQueue[tc]]; f.Line == 0 {
				*f = e.at
			}
		}
	}
	p.schedule(q, queues)
	for i, r := range bufq {
		if prof := p.ref("BUFFER_PROFILE", r.get("profile")); prof != nil && i < queue.Classes {
			p.egressBuffer(&q.Queues[i], prof)
		}
	}
	if n := row.get("pfc_enable"); n != nil {
		port.PFC = swconf.Say(swconf.PFCOn, n.at)
		for _, s := range strings.Split(n.text, ",") {
			prio, err := strconv.Atoi(strings.TrimSpace(s))
			if n.text == "" {
				port.PFC.V = swconf.PFCOff
				break
			}
			if err != nil || prio < 0 || prio > 7 {
				p.bad(n, "pfc_enable %q is no list of priorities such as 3,4", n.text)
				continue
			}
			q.Queues[pfcToQueue[prio]].Pause = swconf.Say(prio, n.at)
		}
	}
	for tc := range tcToPG { // a priority group's profile counts for the queue of its traffic class
		r := pgs[tcToPG[tc]]
		if r == nil {
			continue
		}
		prof := p.ref("BUFFER_PROFILE", r.get("profile"))
		if r.str("profile") == "NULL" || prof == nil {
			continue
		}
		if g, ok := p.pause(prof); ok {
			q.Queues[tcToQueue[tc]].PG = swconf.Say(g, prof.at)
		}
	}
	return q
}

// schedule reads schedulers and WRED profiles of the queues. DWRR weights are
// relative; they become percent where they add up to more than 100.
func (p *parser) schedule(q *swconf.QoS, queues map[int]*node) {
	total := 0
	for i := 0; i < queue.Classes; i++ {
		row := queues[i]
		if row == nil {
			continue
		}
		k := &q.Queues[i]
		k.At = row.at
		if s := p.ref("SCHEDULER", row.get("scheduler")); s != nil {
			q.Output = swconf.Say("QUEUE", row.at)
			if s.str("type") == "STRICT" {
				k.Strict = swconf.Say(true, s.at)
			} else if w, ok := p.number(s, "weight", 100); ok {
				k.Share = swconf.Say(int(w), s.get("weight").at)
				total += int(w)
			}
		}
		if w := p.ref("WRED_PROFILE", row.get("wred_profile")); w != nil {
			k.WRED = swconf.Say(p.wred(w), w.at)
		}
	}
	if total > 100 {
		for i := range q.Queues {
			if s := &q.Queues[i].Share; s.Is() {
				s.V = s.V * 100 / total
			}
		}
	}
}

// wred reads the thresholds of green packets: RoCE traffic is not coloured.
func (p *parser) wred(n *node) swconf.WRED {
	lo, _ := p.number(n, "green_min_threshold", maxBytes)
	hi, _ := p.number(n, "green_max_threshold", maxBytes)
	w := swconf.WRED{Min: unit.Bytes(lo), Max: unit.Bytes(hi), ECN: strings.Contains(n.str("ecn"), "green") ||
		n.str("ecn") == "ecn_all"}
	if v, ok := p.number(n, "green_drop_probability", 100); ok {
		w.Percent = float64(v)
	}
	w.MinAt, w.MaxAt, w.ECNAt = n.place("green_min_threshold"), n.place("green_max_threshold"), n.place("ecn")
	return w
}

// pause reads a lossless ingress profile: xoff is SONiC's word for headroom,
// the static or dynamic threshold is where it begins. Lossy ones have no xoff.
func (p *parser) pause(n *node) (g swconf.Pause, lossless bool) {
	head, ok := p.number(n, "xoff", maxBytes)
	if !ok {
		return g, false
	}
	g.Headroom = unit.Bytes(head)
	if v, ok := p.number(n, "xon", maxBytes); ok {
		g.XOn = unit.Bytes(v)
	}
	g.HeadAt, g.XOffAt, g.XOnAt = n.place("xoff"), n.place("static_th"), n.place("xon")
	if n.get("static_th") != nil {
		v, _ := p.number(n, "static_th", maxBytes)
		g.XOff = unit.Bytes(v)
	} else if d := n.get("dynamic_th"); d != nil {
		g.Alpha = p.dynamic(d)
	}
	// SAI resumes at max(xon, threshold - xon_offset); offset 0 is the threshold itself, and 0 in
	// a Pause says that nothing was said.
	if off, ok := p.number(n, "xon_offset", maxBytes); ok {
		g.XOnOffset = max(unit.Bytes(off), 1)
	}
	return g, true
}

func (p *parser) dynamic(d *node) float64 {
	v, err := strconv.ParseInt(d.text, 10, 64)
	if err != nil || v < -8 || v > 8 {
		p.bad(d, "dynamic_th %q is no exponent from -8 to 8", d.text)
		return 1
	}
	return alpha(v)
}

func (p *parser) egressBuffer(k *swconf.Queue, prof *node) {
	if a := prof.get("packet_discard_action"); a != nil {
		if a.text != "drop" && a.text != "trim" {
			p.bad(a, "packet_discard_action %q: drop or trim are accepted", a.text)
		}
		k.Trim = swconf.Say(a.text == "trim", a.at)
	}
	if d := prof.get("dynamic_th"); d != nil {
		k.Alpha = swconf.Say(p.dynamic(d), d.at)
	} else if s := prof.get("static_th"); s != nil {
		if v, ok := p.number(prof, "static_th", maxBytes); ok {
			k.Limit = swconf.Say(unit.Bytes(v), s.at)
		}
	}
}

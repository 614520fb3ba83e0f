package sonic

import (
	"fmt"
	"strconv"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
)

// resolve computes the treatment of packets at each port. Ports that do the same share one description.
func (p *parser) resolve() {
	p.pools()
	p.c.QoS = &swconf.QoS{}
	rows := p.mapRows()
	queues := p.perPort("QUEUE")
	pgs := p.perPort("BUFFER_PG")
	bufq := p.perPort("BUFFER_QUEUE")
	seen := map[swconf.Print]*swconf.QoS{}
	alike := map[string]*swconf.QoS{}
	var key []byte
	for i, port := range p.c.Ports {
		row := rows[port.Name]
		p.pfc(port, row)
		key = strconv.AppendInt(key[:0], int64(port.Speed.V), 36)
		key = words(strconv.AppendInt(append(key, 0), port.CableMM.V, 36), row)
		for _, list := range []*indexed{&queues[i], &pgs[i], &bufq[i]} {
			for _, r := range list {
				key = words(key, r)
			}
		}
		if q := alike[string(key)]; q != nil {
			port.QoS = q
			continue
		}
		faults, lost := len(p.c.Faults), p.lost
		q := p.qos(port, row, &queues[i], &pgs[i], &bufq[i])
		if print := q.Fingerprint(); seen[print] == nil {
			seen[print] = q
		} else {
			q = seen[print]
		}
		if port.QoS = q; len(p.c.Faults) == faults && p.lost == lost { // otherwise each port's rows are reported
			alike[string(key)] = q
		}
	}
}

// mapRows are the rows of PORT_QOS_MAP by port; global is the switch's own.
func (p *parser) mapRows() map[string]*node {
	rows := map[string]*node{}
	t := p.table("PORT_QOS_MAP")
	for i, row := range values(t) {
		for name := range strings.SplitSeq(t.keys[i], ",") {
			if name != global && p.ports[name] == nil {
				p.bad(row, "PORT_QOS_MAP names %s, which PORT does not have", name)
			}
			rows[name] = row
		}
	}
	p.switchMap = rows[global].get("dscp_to_tc_map")
	p.ref("DSCP_TO_TC_MAP", p.switchMap) // counted even without a port that uses it
	return rows
}

// global is the row of PORT_QOS_MAP whose DSCP map applies to ports without one.
const global = "global"

// words appends the contents of a row, so that equal ones are detected.
func words(to []byte, row *node) []byte {
	if row != nil {
		for i, k := range row.keys {
			to = append(append(append(append(to, k...), 0), row.kids[i].text...), 1)
		}
	}
	return append(to, 2)
}

// systemPort cuts a key of a chassis with virtual output queues: line card, ASIC, port and index, as in
// lc8-1|asic0|Ethernet0|3-4. Each card queues for the ports of all.
func systemPort(key string) (card, rest string, ok bool) {
	if strings.Count(key, "|") != 3 {
		return "", "", false
	}
	at := strings.IndexByte(key, '|') + 1
	at += strings.IndexByte(key[at:], '|')
	return key[:at], key[at+1:], true
}

// card returns the line card and ASIC of a table of system ports: the hostname's, or else the one whose ports agree
// best with the switch's maps. Others have separate configurations.
func (p *parser) card(t *node) (card string) {
	mine := p.table("PORT_QOS_MAP")
	if len(mine.names()) == 0 {
		mine = p.table("PORT")
	}
	type tally struct{ in, all int }
	ports := map[string]map[string]bool{}
	var cards []string
	for i := range values(t) {
		host, rest, ok := systemPort(t.keys[i])
		if !ok {
			continue
		}
		if ports[host] == nil {
			ports[host] = map[string]bool{}
			cards = append(cards, host)
		}
		name, _, _ := strings.Cut(rest, "|")
		ports[host][name] = true
	}
	best := tally{0, 1}
	for _, host := range cards {
		if name, _, _ := strings.Cut(host, "|"); name == p.c.Hostname.V && len(cards) == 1 {
			return host
		}
		k := tally{0, 1 + len(mine.names())}
		if name, _, _ := strings.Cut(host, "|"); name == p.c.Hostname.V {
			k.in += len(mine.names()) // before all others
		}
		for name := range ports[host] {
			if k.all++; mine.get(name) != nil {
				k.in++
			}
		}
		if k.in*best.all > best.in*k.all {
			best, card = k, host
		}
	}
	return card
}

// indexed are rows of one port by queue or priority group.
type indexed [64]*node

// perPort sorts the rows of a table keyed by port and index, as
// "Ethernet0,Ethernet4|3-4", by port, in their order, and index.
func (p *parser) perPort(table string) []indexed {
	out := make([]indexed, len(p.c.Ports))
	t := p.table(table)
	card := p.card(t)
	for i, row := range values(t) {
		names, index, ok := strings.Cut(t.keys[i], "|")
		if host, rest, voq := systemPort(t.keys[i]); voq {
			if host != card {
				p.uses(row)
				continue // a key of another line card or ASIC, which has a separate configuration
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
		for name := range strings.SplitSeq(names, ",") {
			at, known := p.order[name]
			if !known && p.c.Part {
				continue // a system port that no other row names
			}
			if !known {
				p.bad(row, "%s names %s, which PORT does not have", table, name)
				continue
			}
			for n := a; n <= b; n++ {
				if old := out[at][n]; old != nil {
					swconf.Duplicate(p.c, table, fmt.Sprintf("%s|%d", name, n), row.at, old.at)
				}
				out[at][n] = row
			}
		}
	}
	return out
}

// classes is the number of traffic classes (sonic-types.yang), of which eight have a queue by default.
const classes = 16

// indexMap reads a map of small numbers below bound. Omitted entries, and a missing map, are the identity: SAI only
// defines that traffic classes use queue 0.
func (p *parser) indexMap(table string, ref *node, bound int) (m [classes]int) {
	for i := range m {
		m[i] = i & 7
	}
	row := p.ref(table, ref)
	if row != nil && table == "TC_TO_QUEUE_MAP" {
		m = [classes]int{} // saiqosmap.h
	}
	for i, n := range values(row) {
		k, err1 := strconv.Atoi(row.keys[i])
		v, err2 := strconv.Atoi(n.text)
		if err1 != nil || err2 != nil || k < 0 || k >= bound || v < 0 || v > 7 {
			p.bad(n, "%s: %s to %s is not a pair of numbers from 0 to %d and 0 to 7", table, row.keys[i],
				n.text, bound-1)
			continue
		}
		m[k] = v
	}
	return m
}

// pfc parses whether a port does PFC; the paused priorities are part of its queues.
func (p *parser) pfc(port *swconf.Port, row *node) {
	if n := row.get("pfc_enable"); n != nil {
		port.PFC = swconf.Say(swconf.PFCOn, n.at)
		if n.text == "" {
			port.PFC.V = swconf.PFCOff
		}
	}
}

func (p *parser) qos(port *swconf.Port, row *node, queues, pgs, bufq *indexed) *swconf.QoS {
	q := &swconf.QoS{Ratio: true}
	for i := range q.Queues {
		q.Queues[i].Name = fmt.Sprintf("UC%d", i)
	}
	tcToQueue := p.indexMap("TC_TO_QUEUE_MAP", row.get("tc_to_queue_map"), classes)
	tcToPG := p.indexMap("TC_TO_PRIORITY_GROUP_MAP", row.get("tc_to_pg_map"), classes)
	pfcToQueue := p.indexMap("MAP_PFC_PRIORITY_TO_QUEUE", row.get("pfc_to_queue_map"), 8)
	pfcToPG := p.indexMap("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", row.get("pfc_to_pg_map"), 8)
	served := tcToQueue
	if row.get("tc_to_queue_map") == nil {
		served = [classes]int{} // saiport.h: "Default no map, i.e. all packets to queue 0"
	}
	used := p.classify(q, row, &served)
	p.schedule(q, queues)
	if n := row.get("pfc_enable"); n != nil && n.text != "" {
		for s := range strings.SplitSeq(n.text, ",") {
			prio, err := strconv.Atoi(strings.TrimSpace(s))
			if err != nil || prio < 0 || prio > 7 {
				p.bad(n, "pfc_enable %q is not a list of priorities such as 3,4", n.text)
				continue
			}
			q.Queues[pfcToQueue[prio]].Pause = swconf.Say(prio, n.at)
			if at := p.entry("MAP_PFC_PRIORITY_TO_QUEUE", row.get("pfc_to_queue_map"), prio); at.Line > 0 {
				q.Stops[prio] = swconf.Say(uint8(pfcToQueue[prio]), at)
			}
		}
	}
	for i, r := range bufq {
		if prof := p.ref("BUFFER_PROFILE", r.get("profile")); prof != nil && i < queue.Classes {
			p.egressBuffer(&q.Queues[i], prof)
		}
	}
	// A priority group's profile applies to the queue of its traffic classes, preferably to the queue of the
	// priority that it pauses.
	var of [queue.Classes]*node
	for tc := range classes {
		if row := pgs[tcToPG[tc]]; row != nil && (used == 0 && tc < queue.Classes || used>>tc&1 > 0) {
			of[tcToQueue[tc]] = row
		}
	}
	for prio := range queue.Classes {
		if i := pfcToQueue[prio]; q.Queues[i].Pause.Is() && q.Queues[i].Pause.V == prio {
			of[i] = pgs[pfcToPG[prio]]
		}
	}
	for i, row := range of {
		p.group(port, &q.Queues[i], row)
	}
	for tc := range queue.Classes {
		if pause := q.Queues[tcToQueue[tc]].Pause; used>>tc&1 > 0 && pause.Is() {
			at := p.entry("TC_TO_PRIORITY_GROUP_MAP", row.get("tc_to_pg_map"), tc)
			if !p.paused(tc, tcToPG[tc], pause.V, pfcToPG[pause.V], pgs, at) {
				q.Queues[tcToQueue[tc]].Silent = true
			}
		}
	}
	return q
}

// entry returns the position of a number's row in a map.
func (p *parser) entry(table string, ref *node, k int) swconf.Place {
	if ref == nil {
		return swconf.Place{}
	}
	return p.table(table).get(plain(table, ref.text)).place(strconv.Itoa(k))
}

// paused reports whether a traffic class with PFC has the priority group that sends its pauses, and this group is
// lossless, and finds a fault where not. SAI pauses the priorities of a group that exceeds its threshold.
func (p *parser) paused(tc, group, prio, own int, pgs *indexed, at swconf.Place) bool {
	const why = "the switch sends no pauses for these packets and has no headroom for them: they are dropped under congestion although PFC is on"
	if group != own {
		if at.Line > 0 {
			swconf.Report(p.c, at, swconf.Error, "pfc-class",
				fmt.Sprintf("traffic class %d is in priority group %d, and PFC priority %d has group %d", tc, group, prio, own),
				why, fmt.Sprintf(`"%d": "%d" in TC_TO_PRIORITY_GROUP_MAP`, tc, own))
		}
		return false
	}
	n := pgs[group].get("profile")
	if n == nil || n.text == computed || p.elsewhere("BUFFER_PROFILE") {
		return true
	}
	if prof := p.ref("BUFFER_PROFILE", n); prof != nil && prof.get("xoff") == nil && prof.get("headroom_type") == nil {
		swconf.Report(p.c, n.at, swconf.Error, "pfc-class",
			fmt.Sprintf("priority group %d of PFC priority %d has the lossy profile %s", group, prio, plain("BUFFER_PROFILE", n.text)),
			why, "a profile with xoff, the headroom, for this priority group")
		return false
	}
	return true
}

// classify parses the maps from DSCPs and 802.1p priorities by traffic classes to queues. It returns the classes
// that have packets, one bit each.
func (p *parser) classify(q *swconf.QoS, row *node, queues *[classes]int) (used uint) {
	n := row.get("dscp_to_tc_map")
	if n != nil && row.get("tc_to_queue_map") == nil {
		swconf.Report(p.c, n.at, swconf.Warning, "queue-default",
			"DSCPs get traffic classes, and no tc_to_queue_map gives these a queue",
			"SAI sends all classes to queue 0 where a port has no map: what is paused, marked and scheduled is empty, and all traffic shares one queue",
			"name a tc_to_queue_map with the dscp_to_tc_map")
	}
	for _, own := range []struct {
		table string
		*node
	}{{"DSCP_TO_TC_MAP", n}, {"DOT1P_TO_TC_MAP", row.get("dot1p_to_tc_map")}} {
		switch {
		case own.node == nil || q.Input.Is() || q.Away.Is():
		case p.elsewhere(own.table):
			q.Away = swconf.Say(plain(own.table, own.text), own.at)
		default:
			q.Input = swconf.Say(plain(own.table, own.text), own.at)
		}
	}
	if n == nil { // the switch's, which is not the port's own
		n = p.switchMap
	}
	if t := p.table("PORT_QOS_MAP"); t == nil && p.c.Part {
		q.Away = swconf.Say("", p.root.at)
	}
	p.marks("DSCP", 63, "DSCP_TO_TC_MAP", n, func(d, tc int, at swconf.Place) {
		q.DSCP[d], used = swconf.Say(uint8(queues[tc]), at), used|1<<tc
		if f := &q.Feeds[queues[tc]]; f.Line == 0 {
			*f = at
		}
	})
	p.marks("802.1p priority", 7, "DOT1P_TO_TC_MAP", row.get("dot1p_to_tc_map"),
		func(d, tc int, at swconf.Place) { q.COS[d], used = swconf.Say(uint8(queues[tc]), at), used|1<<tc })
	return used
}

// marks parses a map of packet marks.
func (p *parser) marks(what string, most int, table string, n *node, set func(mark, tc int, at swconf.Place)) {
	m := p.ref(table, n)
	for i, e := range values(m) {
		d, err1 := strconv.Atoi(m.keys[i])
		tc, err2 := strconv.Atoi(e.text)
		if err1 != nil || err2 != nil || d < 0 || d > most || tc < 0 || tc >= classes {
			p.bad(e, "%s %s to TC %s: %s are 0 to %d and traffic classes 0 to 15", what, m.keys[i], e.text,
				strings.Replace(what+"s", "ys", "ies", 1), most)
			continue
		}
		set(d, tc, e.at)
	}
}

// schedule reads schedulers and WRED profiles of the queues. Weights are relative, of DWRR and WRR equally, and 1 by
// default (saischeduler.h).
func (p *parser) schedule(q *swconf.QoS, queues *indexed) {
	for i := 0; i < queue.Classes; i++ {
		row := queues[i]
		if row == nil {
			continue
		}
		k := &q.Queues[i]
		k.At = row.at
		if s := p.ref("SCHEDULER", row.get("scheduler")); s != nil {
			q.Output = swconf.Say("QUEUE", row.at)
			p.scheduler(k, s)
		}
		if w := p.ref("WRED_PROFILE", row.get("wred_profile")); w != nil {
			k.WRED = swconf.Say(p.wred(w), w.at)
		} else if n := row.get("wred_profile"); n != nil && n.text != "" && p.elsewhere("WRED_PROFILE") {
			k.WRED = swconf.Say(swconf.WRED{ECN: true, Away: plain("WRED_PROFILE", n.text)}, n.at)
		}
	}
}

func (p *parser) scheduler(k *swconf.Queue, s *node) {
	kind := s.get("type")
	switch {
	case kind != nil && kind.text == "STRICT":
		k.Strict = swconf.Say(true, s.at)
		return
	case kind != nil && kind.text != "DWRR" && kind.text != "WRR":
		p.bad(kind, "type %q: DWRR, WRR or STRICT are accepted", kind.text)
		return
	}
	if s.get("weight") == nil {
		k.Share = swconf.Say(1, s.at)
	} else if w, ok := p.number(s, "weight", 100); ok {
		k.Share = swconf.Say(int(w), s.get("weight").at)
	}
}

// hash reads which fields ECMP hashes (sonic-hash.yang); dumps of redis write the list with commas, and an at sign
// after the field's name. The switch's own hash fields, and its seed, are in no table.
func (p *parser) hash() {
	row := p.table("SWITCH_HASH").get("GLOBAL")
	n := row.get("ecmp_hash")
	if n == nil {
		n = row.get("ecmp_hash@")
	}
	if n == nil {
		return
	}
	fields := split(n)
	if n.kind == '[' {
		fields = nil
		for _, f := range n.kids {
			fields = append(fields, f.text)
		}
	}
	p.c.Hash = swconf.Say(strings.Join(fields, ", "), n.at)
	for _, f := range fields {
		if f == "L4_SRC_PORT" || f == "INNER_L4_SRC_PORT" {
			return
		}
	}
	swconf.Report(p.c, n.at, swconf.Warning, "ecmp-fields", "ECMP does not hash L4_SRC_PORT",
		"flows of RoCE between two hosts differ in their UDP source port alone: all of them take one path",
		"add L4_SRC_PORT to ecmp_hash")
}

// peerVLAN is the VLAN of the peer link for the session of the two switches; designs assign lower VLANs.
const peerVLAN = 4094

// pair writes the connection of two switches (SONiC's MCLAG design): the service, which images disable; the peer
// link; and an interface on it with the source address of the session, which differs between the two.
func pair(s *design.Switch, put putter) {
	name := fmt.Sprintf("PortChannel%d", design.PeerChannel)
	put("PORTCHANNEL", name, row{"admin_status": "up", "mtu": fmt.Sprint(int64(s.Spec.MTU)), "min_links": "1"})
	for _, v := range s.VLANs {
		put("VLAN_MEMBER", fmt.Sprintf("Vlan%d|%s", v.ID, name), row{"tagging_mode": "tagged"})
	}
	own, peer := "169.254.0.0", "169.254.0.1"
	if !s.First {
		own, peer = peer, own
	}
	vlan := fmt.Sprintf("Vlan%d", peerVLAN)
	put("FEATURE", "iccpd", row{"state": "enabled", "auto_restart": "enabled"})
	put("VLAN", vlan, row{"vlanid": fmt.Sprint(peerVLAN), "description": "peer link to " + s.Peer.Name})
	put("VLAN_MEMBER", vlan+"|"+name, row{"tagging_mode": "tagged"})
	put("VLAN_INTERFACE", vlan, row{})
	put("VLAN_INTERFACE", vlan+"|"+own+"/31", row{})
	put("MCLAG_DOMAIN", fmt.Sprint(s.PairID), row{"source_ip": own, "peer_ip": peer, "peer_link": name})
	put("MCLAG_UNIQUE_IP", vlan, row{"unique_ip": "enable"})
}

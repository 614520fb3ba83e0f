package junos

import (
	"fmt"
	"slices"

	"railyard/internal/swconf"
	"railyard/internal/swconf/tree"
)

// useRows are the settings attached to interfaces: class-of-service interfaces.
func (p *parser) useRows(g *tree.Grammar) {
	const c = "class-of-service interfaces <if> "
	uses := func(path, kind, object string) {
		g.Add(c+path+" <name>", func(m *tree.Match) {
			p.cos.uses = append(p.cos.uses, use{m.Word("if"), kind, tree.Say(m, "name", m.Word("name")), m.At("if")})
			if object != "" {
				p.c.Use(object, m.Word("name"), m.At("name"))
			}
		})
	}
	uses("congestion-notification-profile", "cnp", "congestion-notification-profile")
	uses("forwarding-class-set <set> output-traffic-control-profile", "tcp", "")
	for _, unit := range []string{"", "unit <unit> "} {
		uses(unit+"scheduler-map", "map", "scheduler-map")
		uses(unit+"output-traffic-control-profile", "tcp", "")
		uses(unit+"classifiers dscp", "dscp", "classifier")
		uses(unit+"classifiers ieee-802.1", "ieee-802.1", "classifier")
		uses(unit+"forwarding-class", "class", "")
		for _, w := range []string{"rewrite-rules", "classifiers dscp-ipv6", "classifiers inet-precedence",
			"classifiers exp", "classifiers no-default", "shaping-rate", "rewrite-value",
			"translation-table",
			"loss-priority-maps", "input-traffic-control-profile",
			"output-traffic-control-profile-remaining"} {
			g.Pass(c + unit + w)
		}
	}
	for _, w := range []string{"logical-interface-aggregate-statistics", "member-link-scheduler",
		"excess-bandwidth-share", "scheduler-map-chassis", "input-scheduler-map", "interface-set",
		"output-forwarding-class-map", "policy-map", "monitoring-profile"} {
		g.Pass(c + w)
	}
}

// bufferRows are the rows of the buffer that all ports share.
func (p *parser) bufferRows(g *tree.Grammar) {
	const c = "class-of-service shared-buffer "
	sums := map[string]int64{}
	for _, way := range []string{"ingress", "egress"} {
		at := c + way + " buffer-partition <what:lossless|lossless-headroom|lossy|multicast>"
		g.Add(at+" percent <n:int>", func(m *tree.Match) {
			n := min(max(m.Int("n"), 0), 1000)
			if sums[way] += n; sums[way] > 100 {
				p.once(m.At("n"), swconf.Error, "bad-value",
					fmt.Sprintf("the partitions of %s add up to %d percent",
						way, sums[way]), "Junos refuses the commit", "100 percent at most")
			}
			if way == "ingress" && m.Word("what") == "lossless-headroom" {
				p.cos.headroom = tree.Say(m, "n", int(n))
			}
		})
		g.Add(at+" dynamic-threshold <n:int>", func(m *tree.Match) {
			if a, ok := p.share(m, "n"); ok && way == "ingress" && m.Word("what") == "lossless" {
				p.cos.lossless = tree.Say(m, "n", a)
			}
		})
		g.Add(at, func(*tree.Match) {})
	}
	g.Pass(c+"ingress percent", c+"egress percent", c+"percent")
}

// taken returns an interface's setting of a kind: by its name, or by the first pattern that matches it.
func (k *cos) taken(name, kind string) (s swconf.Said[string]) {
	for _, u := range k.uses {
		if u.kind != kind {
			continue
		}
		if u.pattern == name {
			return u.name
		}
		if !s.Is() && (u.pattern == "all" || glob(u.pattern, name)) {
			s = u.name
		}
	}
	return s
}

// from returns the setting of the first interface that has any.
func (k *cos) from(names []string, kind string) (s swconf.Said[string]) {
	for _, n := range names {
		if s = k.taken(n, kind); s.Is() {
			break
		}
	}
	return s
}

// build returns the treatment of an interface's packets; a bundle's settings precede its members'.
func (p *parser) build(names ...string) (*swconf.QoS, *cnp) {
	k, q := &p.cos, &swconf.QoS{}
	classes := k.names(q)
	classified := false
	for _, kind := range []string{"dscp", "ieee-802.1"} {
		use := k.from(names, kind)
		x := k.classifiers[kind+" "+use.V]
		if !use.Is() || x == nil {
			continue
		}
		if !q.Input.Is() {
			q.Input = use
		}
		classified = true
		k.sort(q, kind, x)
	}
	if use := k.from(names, "class"); use.Is() && !classified { // all packets belong to one class
		if f := k.classes[use.V]; f != nil && !f.multi {
			q.Input, classified = use, true
			for d := range q.DSCP {
				q.DSCP[d] = swconf.Say(uint8(f.queue.V), use.At)
			}
			q.Feeds[f.queue.V&7] = use.At
		}
	}
	if !classified {
		q.Default = true
		k.sort(q, "dscp", k.classifiers["dscp default"])
	}
	p.filtered(q, names)
	p.serve(q, names, classes)
	use := k.from(names, "cnp")
	x := k.cnps[use.V]
	if !use.Is() || x == nil {
		k.lossy(q)
		return q, nil
	}
	p.pause(q, x)
	k.lossy(q)
	return q, x
}

// names gives queues the names of their classes, and returns all classes in order. The configuration's own definitions
// precede Junos's.
func (k *cos) names(q *swconf.QoS) []string {
	names := make([]string, 0, len(k.classes))
	for n := range k.classes {
		names = append(names, n)
	}
	slices.Sort(names)
	for i := range q.Queues {
		if q.Queues[i].Name = k.standing(i); q.Queues[i].Name == "" {
			q.Queues[i].Name = fmt.Sprintf("queue %d", i)
		}
	}
	for _, n := range names {
		f := k.classes[n]
		if to := &q.Queues[f.queue.V&7]; f.at.Line > 0 && !f.multi && (to.At.Line == 0 || f.lossless.V) {
			to.Name, to.At = n, f.at
		}
	}
	return names
}

// sort sends DSCPs or 802.1p priorities to the queues of a classifier's classes.
func (k *cos) sort(q *swconf.QoS, kind string, x *classifier) {
	to := x.to
	if basis := k.classifiers[kind+" "+x.basis]; x.basis != "" && basis != nil && basis != x {
		for i := range to {
			if !to[i].Is() {
				to[i] = basis.to[i]
			}
		}
	}
	for i, to := range to {
		f := k.classes[to.V]
		if f == nil || f.multi {
			continue
		}
		at := swconf.Said[uint8]{V: uint8(f.queue.V), At: to.At}
		switch {
		case kind == "dscp":
			if q.DSCP[i] = at; to.Is() && q.Feeds[f.queue.V&7].Line == 0 {
				q.Feeds[f.queue.V&7] = to.At
			}
		case i < len(q.COS):
			q.COS[i] = at
		}
	}
}

// lossy records that a configuration has no lossless classes on purpose: it defines classes, none of them lossless,
// pauses nothing and marks.
func (k *cos) lossy(q *swconf.QoS) {
	var at swconf.Place
	for _, f := range k.classes {
		if f.at.Line > 0 && f.lossless.V {
			return
		}
		if f.at.Line > 0 && (at.Line == 0 || f.at.Line < at.Line) {
			at = f.at
		}
	}
	for _, x := range k.cnps {
		for _, on := range x.dscp {
			if on.V {
				return
			}
		}
		for _, on := range x.pcp {
			if on.V {
				return
			}
		}
	}
	if at.Line > 0 && slices.ContainsFunc(q.Queues[:], func(k swconf.Queue) bool { return k.WRED.V.ECN }) {
		q.Lossy = swconf.Say(true, at)
	}
}

// serve is scheduling and marking.
func (p *parser) serve(q *swconf.QoS, ports, names []string) {
	k := &p.cos
	use := k.from(ports, "map")
	if tcp := k.from(ports, "tcp"); tcp.Is() && !use.Is() {
		use = swconf.Say(k.profiles[tcp.V].V, tcp.At)
	}
	rows := k.maps[use.V]
	if !use.Is() || rows == nil {
		return
	}
	q.Output = use
	for _, n := range names {
		f, s := k.classes[n], k.schedulers[rows[n].V]
		if !rows[n].Is() || s == nil || f.multi {
			continue
		}
		to := &q.Queues[f.queue.V&7]
		if to.At = s.at; s.strict.V {
			to.Strict = s.strict
		} else {
			to.Share = s.percent
		}
		to.Alpha = s.alpha
		d := k.drops[s.drop.V]
		switch {
		case s.drop.Is() && d != nil && len(d.fill) > 0:
			w := swconf.WRED{MinText: fmt.Sprintf("%g %% of the queue's buffer", d.fill[0]),
				MaxText: fmt.Sprintf("%g %%", d.fill[len(d.fill)-1]), ECN: s.ecn.V, ECNAt: s.ecn.At}
			if len(d.probability) > 0 {
				w.Percent = d.probability[len(d.probability)-1]
			}
			to.WRED = swconf.Say(w, s.drop.At)
		case s.ecn.V:
			to.WRED = swconf.Say(swconf.WRED{ECN: true}, s.ecn.At)
		}
	}
}

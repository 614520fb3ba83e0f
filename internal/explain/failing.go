package explain

import (
	"fmt"
	"slices"
	"strings"

	"railyard/unit"
)

// failing lists the failed components on the paths of a message's connection between two times. It lists at most
// three, with their times, and a count. The paths include every link that the connection used, or would use without
// failures.
func (b *blamer) failing(x int32, port int32, from, to unit.Time) string {
	r := b.r
	if len(r.lives) == 0 || r.phased() {
		return "" // nothing has failed: circuits move
	}
	var ports []int32
	if port >= 0 {
		ports = append(ports, port)
	}
	if x >= 0 && b.acc != nil {
		ports = append(ports, b.acc.m.everUsed(r.seen.Messages[x].Conn)...)
	}
	links := map[int]bool{}
	for _, p := range ports {
		links[int(p/2)] = true
	}
	var named []string
	for link := range r.graph.Links {
		if !links[link] {
			continue
		}
		for _, span := range r.lives.down(link) {
			if span.from >= to || span.to <= from {
				continue
			}
			name := span.by
			if name == "" {
				name = r.cable(link)
			}
			when := "since " + span.from.Show()
			if span.to != unit.Never {
				when = fmt.Sprintf("from %s to %s", span.from.Show(), span.to.Show())
			}
			if said := name + " " + when; !slices.Contains(named, said) {
				named = append(named, said)
			}
		}
	}
	if n := len(named); n > 3 {
		named = append(named[:3:3], fmt.Sprintf("and %d more", n-3))
	}
	return strings.Join(named, ", ")
}

// downSpan is a period in which a link is down, and the component whose failure caused it. If the link stays down,
// to is Never.
type downSpan struct {
	from, to unit.Time
	by       string
}

// down lists when a link is down.
func (l lives) down(link int) (all []downSpan) {
	open := -1
	for _, e := range l[link] {
		switch {
		case !e.Toggles:
		case !e.Up && open < 0:
			open, all = len(all), append(all, downSpan{e.At, unit.Never, e.By})
		case e.Up && open >= 0:
			all[open].to, open = e.At, -1
		}
	}
	return all
}

// everUsed lists the ports of a connection's paths. These are the current paths, those before route changes, and
// those that balancing could use, now and without failures.
func (m *model) everUsed(conn int32) (ports []int32) {
	w := &m.ways[conn]
	for _, set := range append(slices.Clone(w.sets), w.full...) {
		ports = append(ports, m.portsOf(set)...)
	}
	for _, u := range w.ports {
		ports = append(ports, m.portsOf(u.Link)...)
	}
	ports = append(ports, m.portsOf(w.egressAll)...)
	ports = append(ports, m.portsOf(w.ingressAll)...)
	for i := range w.was {
		ports = append(ports, w.was[i].egress, w.was[i].ingress)
		for _, u := range w.was[i].ports {
			ports = append(ports, m.portsOf(u.Link)...)
		}
	}
	return slices.DeleteFunc(ports, func(p int32) bool { return p < 0 })
}

// hadBefore lists the connections that had a port before routes changed within a time.
func (m *model) hadBefore(port int32, w *window) (conns []int32) {
	for _, k := range m.formerly[port] {
		if k.until > w.from && k.since < w.to {
			conns = append(conns, k.conn)
		}
	}
	return conns
}

// formerWay identifies a port's connection that has changed its path.
type formerWay struct {
	conn         int32
	since, until unit.Time
}

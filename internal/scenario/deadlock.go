package scenario

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/deadlock"
	"railyard/internal/route"
	"railyard/internal/topo"
)

// Deadlock checks for circular pause dependencies (package deadlock), with routes over all links and over the
// remaining links after each event. A dependency is an error in a fabric without failures, unless the scenario
// allows it, and a note if a broken link causes it. Routes are the routes over all links.
func (p *Plan) Deadlock(r *topo.Routes) error {
	if !p.protected() || len(r.Sets) < 2 {
		return nil
	}
	if dark := p.dark(); dark != nil {
		r = p.Graph.Reroute(dark, nil, Besides(p.LB, p.Scheduled))
	}
	ring, unknown := deadlock.Find(p.routing(r))
	if ring == nil && !unknown {
		ring = p.ringByPhase()
	}
	p.Watched = unknown || ring != nil || len(p.Events)+len(p.Phases) > 0 // these may change routes
	allowed := p.doc != nil && p.doc.File.Fabric.AllowDeadlock
	switch {
	case unknown:
		p.note("whether pauses can deadlock was not looked at: the fabric is too large and too irregular")
		return nil
	case ring == nil:
		p.deadlocksLater(r)
		return nil
	case allowed:
		p.note("pauses can deadlock, which fabric.allow_deadlock allows: a ring of %d buffers each of which may wait for the next: %s", len(ring), p.ringOf(ring))
		return nil
	}
	return p.Refuse("fabric", "pauses can deadlock: packets on their routes close a ring of %d buffers, each of which may wait for the next: %s; accepted: %s", len(ring), p.ringOf(ring), p.ways())
}

// Ring describes the circular pause dependency of the fabric without failures; "" if there is none, or no lossless
// traffic.
func (p *Plan) Ring() string {
	if !p.protected() {
		return ""
	}
	r := p.Graph.Reroute(p.dark(), nil, Besides(p.LB, p.Scheduled))
	ring, unknown := deadlock.Find(p.routing(r))
	if unknown {
		return "not looked at: the fabric is too large and too irregular"
	}
	if ring == nil {
		return ""
	}
	return p.ringOf(ring)
}

// dark lists circuits that no OCS has connected when the run begins; nil: none.
func (p *Plan) dark() (links map[int]bool) {
	for _, l := range p.Dark {
		if links == nil {
			links = map[int]bool{}
		}
		links[l] = true
	}
	return links
}

// ways returns alternatives without the dependency.
func (p *Plan) ways() string {
	ways := "switch.pfc: false with a transport that needs none, or fabric.allow_deadlock: true"
	switch {
	case p.LB.Classes(p.Graph.Grid != nil) > 1:
	case len(p.Graph.Regions) > 2:
		ways = "lb: minimal, ugal, ugal-g or valiant, " + ways
	case p.Graph.Grid != nil:
		ways = "lb: dimension-order, minimal-adaptive or valiant, " + ways
	}
	return ways
}

// protected reports whether some traffic is in a lossless class.
func (p *Plan) protected() bool {
	if p.Scheduled != nil {
		return false
	}
	for i := range p.Services {
		for n, spec := range p.specs {
			if p.Graph.Nodes[n].Role != topo.Host && spec != nil &&
				spec.Queues[spec.DSCP[p.Services[i].DSCP]].Lossless {
				return true
			}
		}
	}
	return false
}

// routing returns how this plan's packets travel.
func (p *Plan) routing(r *topo.Routes) *deadlock.Routing {
	detours := route.Is[route.Steerer](p.LB)
	d := &deadlock.Routing{Graph: p.Graph, Routes: r, Legs: detours && !route.Is[route.Direct](p.LB)}
	levels := 1
	for _, row := range p.Rise {
		levels = max(levels, len(row))
	}
	switch {
	case detours && p.Graph.Grid != nil:
		// Buffers of the first leg are blocked on those of both legs, and buffers of the second leg only on its
		// own. The legs are equal, so a cycle over both needs a cycle in one.
		d.Legs, d.Classes = false, &deadlock.Dateline{Grid: p.Graph.Grid, Most: max(1, levels/2)}
	case detours:
		d.Classes = deadlock.NewRising(p.Graph, levels)
	case route.Is[route.Ordered](p.LB) && p.Graph.Grid != nil:
		d.Classes = &deadlock.Dateline{Grid: p.Graph.Grid, Most: levels}
	case route.Is[route.Escaper](p.LB) && p.Graph.Grid != nil && levels > 2:
		// In the class of all paths no packet waits: it escapes from any switch.
		d.Routes, d.Anywhere = p.Graph.Ordered(r.Down(), nil), true
		d.Classes = &deadlock.Dateline{Grid: p.Graph.Grid, Most: levels - 1}
	}
	return d
}

// mostStates is the maximum number of sets of broken links to check; mostLater is the maximum size of a fabric for
// it.
const (
	mostStates = 16
	mostLater  = 50_000_000
)

// deadlocksLater notes the first event after which routes close a ring.
func (p *Plan) deadlocksLater(r *topo.Routes) {
	if len(r.Sets)*len(p.Graph.Links) > mostLater {
		return
	}
	down := map[int]bool{}
	states := 0
	for i := range p.Events {
		e := &p.Events[i]
		if !e.Toggles || !e.Heard {
			continue
		}
		if e.Up {
			if delete(down, e.Link); len(p.Dark) == 0 {
				continue // the circular dependency existed before the failure
			}
		} else {
			down[e.Link] = true
		}
		if next := i + 1; next < len(p.Events) && p.Events[next].At == e.At &&
			together(e.By, p.Events[next].By) {
			continue // a switch and all of its cables
		}
		if states++; states > mostStates {
			return
		}
		ring, _ := deadlock.Find(p.routing(p.Graph.Reroute(down, nil, Besides(p.LB, p.Scheduled))))
		if ring != nil {
			p.note("from %v on pauses can deadlock: without %s packets on their routes close a ring of %d buffers, each of which may wait for the next: %s", e.At+e.Converge, p.cablesOf(down),
				len(ring), p.ringOf(ring))
			return
		}
	}
}

// together reports whether the components of two events change at the same time.
func together(a, b string) bool {
	return a != "" && a == b || strings.HasPrefix(a, circuitsOf) && strings.HasPrefix(b, circuitsOf)
}

// ringOf names a ring's ports.
func (p *Plan) ringOf(ring []deadlock.Buffer) string {
	const most = 8
	var ports []string
	for i, b := range ring {
		if i == most {
			ports = append(ports, fmt.Sprintf("and %d more", len(ring)-i))
			break
		}
		port := p.Graph.End(b.Link, b.From)
		if b.Level > 0 {
			port += fmt.Sprintf(" (class %d of its kind)", b.Level+1)
		}
		ports = append(ports, port)
	}
	return strings.Join(ports, ", ")
}

func (p *Plan) cablesOf(links map[int]bool) string {
	var names []string
	for l := range links {
		names = append(names, p.Graph.End(l, p.Graph.Links[l].A))
	}
	slices.Sort(names)
	if len(names) > 4 {
		names = append(names[:4], fmt.Sprintf("%d more", len(links)-4))
	}
	return "the cables at " + strings.Join(names, ", ")
}

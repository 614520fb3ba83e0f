package explain

import (
	"fmt"
	"slices"

	"railyard/internal/scenario"
	"railyard/unit"
)

// lives returns the events until a time of each link that has any.
type lives map[int][]scenario.LinkEvent

func newLives(p *scenario.Plan, until unit.Time) lives {
	l := lives{}
	for _, e := range p.Events {
		if e.At <= until {
			l[e.Link] = append(l[e.Link], e)
		}
	}
	return l
}

// sends returns the rate of a port after an event of its link: a link's first port belongs to its A.
func sends(port int32, e *scenario.LinkEvent) unit.Rate {
	if port%2 == 0 {
		return e.Rate
	}
	return e.Back
}

// rate returns the highest rate that a port has at any time.
func (r *reading) rate(port int32) (rate unit.Rate) {
	events := r.lives[int(port/2)]
	if len(events) == 0 || !events[0].FromStart() {
		rate = r.graph.Links[port/2].Rate
	}
	for i := range events {
		rate = max(rate, sends(port, &events[i]))
	}
	return rate
}

// best is the higher rate of a link's two directions.
func (r *reading) best(link int) unit.Rate {
	return max(r.rate(int32(2*link)), r.rate(int32(2*link+1)))
}

// varies reports that a port has another rate at some time.
func (r *reading) varies(port int32) bool {
	best, events := r.rate(port), r.lives[int(port/2)]
	for i := range events {
		if sends(port, &events[i]) != best {
			return true
		}
	}
	return false
}

// dead reports whether a link is down during the whole run.
func (l lives) dead(link int) bool {
	events := l[link]
	return len(events) > 0 && events[0].Toggles && events[0].At == 0 &&
		!slices.ContainsFunc(events, func(e scenario.LinkEvent) bool { return e.Toggles && e.Up })
}

// gone lists the links that are broken during the whole run, which routes exclude from the start, and reports whether
// others fail or recover.
func (l lives) gone() (gone map[int]bool, others bool) {
	gone = map[int]bool{}
	for link, events := range l {
		for i, e := range events {
			switch {
			case !e.Toggles:
			case i == 0 && e.FromStart() && !e.Up:
				gone[link] = true
			default:
				delete(gone, link)
				others = true // the order in which links are looked at does not count
			}
		}
	}
	return gone, others
}

// rateAt returns the rate of a port, and whether routes avoid its link.
func (r *reading) rateAt(port int32, at unit.Time) (rate unit.Rate, avoided bool) {
	rate = r.graph.Links[port/2].Rate
	for _, e := range r.lives[int(port/2)] {
		if e.At <= at {
			rate = sends(port, &e)
		}
		if e.Heard && e.At+e.Converge <= at {
			avoided = !e.Up
		}
	}
	return rate, avoided
}

// stretches calls f for the periods between two times in which a port's state is constant.
func (r *reading) stretches(port int32, from, to unit.Time, f func(long unit.Time, rate unit.Rate, avoided bool)) {
	times := []unit.Time{from, to}
	for _, e := range r.lives[int(port/2)] {
		for _, t := range []unit.Time{e.At, e.At + e.Converge} {
			if t > from && t < to {
				times = append(times, t)
			}
		}
	}
	slices.Sort(times)
	for i, t := range times[1:] {
		rate, avoided := r.rateAt(port, times[i])
		f(t-times[i], rate, avoided)
	}
}

// nicPorts returns the ports by which a NIC sends, or the ports by which switches send to it.
func (s *sharing) nicPorts(nic int32, sends bool) (ports []int32) {
	n := s.r.graph.NICs[nic]
	for _, l := range n.Links {
		p := s.r.port(l, s.r.graph.Hosts[n.Host])
		if !sends {
			p = s.r.seen.Ports[p].Peer
		}
		ports = append(ports, p)
	}
	return ports
}

// slowness describes how a link ran below its rate.
func (r *reading) slowness(port int32, from, to unit.Time) string {
	if port < 0 {
		return "slow link: a link below its nominal rate"
	}
	best, least, long := r.rate(port), r.rate(port), unit.Time(0)
	r.stretches(port, from, to, func(d unit.Time, rate unit.Rate, avoided bool) {
		if rate < best && !avoided {
			least, long = min(least, rate), long+d
		}
	})
	if long == 0 {
		return "slow link: a link below its nominal rate, or avoided"
	}
	return fmt.Sprintf("slow link: %s at %s instead of %s for %s", r.portName(port), least.Show(), best.Show(), long.Show())
}

package sim

import (
	"slices"

	"railyard/internal/route"
	"railyard/internal/scenario"
)

// firstRoutes computes the routes over all links that are not broken from the start. A fabric whose groups keep
// flows on their ports also needs the routes of the whole fabric, with equal locators.
func (n *Network) firstRoutes() {
	s := n.Setup
	besides := scenario.Besides(s.LB, s.Scheduled)
	if n.Paths = s.Routes; n.Paths == nil && (s.LB.Buckets != nil || len(n.routed) == 0) {
		n.Paths = n.Graph.Reroute(nil, nil, besides)
	}
	if s.LB.Buckets == nil {
		if len(n.routed) > 0 {
			n.Paths = n.Graph.Reroute(n.routed, nil, besides)
		}
		return
	}
	if n.whole = n.Paths; len(n.routed) > 0 {
		n.Paths = n.Graph.Reroute(n.routed, n.whole, besides)
	}
}

// buckets is a switch's group to a locator as a table of buckets.
func (n *Network) buckets(node, loc int, links []int) []int32 {
	live := n.weighted(n.remaining(links), node)
	if len(live) == 0 || loc >= len(n.whole.Sets) {
		return live
	}
	whole := n.weighted(n.whole.Next(node, loc), node)
	return route.Refill(whole, live, n.Setup.LB.Buckets(n.Setup.LBValues))
}

// Converge makes the routes avoid one link, or use it again, and moves flows off an avoided port of a NIC. Moved
// flows do not return. Other broken links keep their routes until their own convergence.
func (n *Network) Converge(link int, up bool) { n.ConvergeAll(map[int]bool{link: up}) }

// ConvergeAll is Converge for all links of which routes learn at one time, with their states.
func (n *Network) ConvergeAll(up map[int]bool) {
	if n.Setup.Static {
		return
	}
	changed, healed := false, false
	for link, up := range up {
		if up && n.noticed[link] {
			healed = true
		}
		delete(n.noticed, link) // or all routes avoid it
		if n.routed[link] == !up {
			continue
		}
		if changed = true; up {
			delete(n.routed, link)
		} else {
			n.routed[link] = true
		}
	}
	if changed {
		n.Paths = n.Graph.Reroute(n.routed, n.Paths, scenario.Besides(n.Setup.LB, n.Setup.Scheduled))
	}
	if changed || healed {
		n.install()
		n.Hosts.Rebond(n.usable)
	}
}

// Notice notifies the ends of broken links. A switch stops hashing to a broken link if its group has others, and a
// NIC moves to another of its ports. All other nodes send as before until routes converge, into a black hole if the
// next switch has no other path.
func (n *Network) Notice(links []int) {
	if n.Setup.Static {
		return
	}
	for _, l := range links {
		if !n.routed[l] {
			n.noticed[l] = true
		}
	}
	n.install()
	n.Hosts.Rebond(n.usable)
}

// remaining returns the links of a group that their switch has not detected as broken; all of them if none is left.
func (n *Network) remaining(links []int) []int {
	if len(n.noticed) == 0 {
		return links
	}
	left := slices.DeleteFunc(slices.Clone(links), func(l int) bool { return n.unfit(l) })
	if len(left) == 0 {
		return links
	}
	return left
}

// usable returns the ports of a NIC whose link is up, as far as routing or the NIC has detected, and whose switch
// has a path to the other NIC. Of the two switches of a pair, one may have no path.
func (n *Network) usable(src, dst int32) (ports []int32) {
	nic := n.Graph.NICs[src]
	host := n.Graph.Hosts[nic.Host]
	for _, l := range nic.Links {
		sw := n.Graph.Links[l].A + n.Graph.Links[l].B - host
		_, near := n.Paths.Near(sw, int(dst))
		loc := n.Paths.Locator[dst]
		if !n.routed[l] && !n.noticed[l] && (near || len(n.Paths.Next(sw, loc)) > 0) {
			ports = append(ports, n.Port(l, host))
		}
	}
	return ports
}

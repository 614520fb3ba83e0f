package sim

import (
	"slices"

	"railyard/internal/route"
	"railyard/internal/scenario"
)

// firstRoutes are those over all links but the ones that are broken from the start. A fabric whose groups
// keep flows where they are needs those of the whole fabric as well, with the same locators.
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

// Converge makes the routes avoid one link, or use it again, and moves flows off a NIC's port that is
// avoided; those that have moved stay where they are. Other links that are broken keep their routes
// until their own convergence.
func (n *Network) Converge(link int, up bool) { n.ConvergeAll(map[int]bool{link: up}) }

// ConvergeAll is Converge for all links that routes come to know of at one moment: whether they are up.
func (n *Network) ConvergeAll(up map[int]bool) {
	if n.Setup.Static {
		return
	}
	changed, healed := false, false
	for link, up := range up {
		if up && n.noticed[link] {
			healed = true
		}
		delete(n.noticed, link) // or all know it
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

// Notice tells the ends of links that these have broken. A switch hashes past one where its group has
// others, a NIC moves to another of its ports; everybody else sends as before, into a hole where the switch
// behind it has no other way, until routes converge.
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

// remaining are the links of a group without those that their switch knows to be broken; all of them when
// none is left.
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

// usable returns the ports of a NIC whose cable is up, as far as routing or the NIC knows, and whose
// switch has a path to the other NIC: the two switches of a pair need not both have one.
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

package topo

import (
	"fmt"
	"slices"
	"strings"
)

// domains lists the servers that share NVLink, the trays of a rack, if there are several. Servers of one domain are
// consecutive, and so are its GPUs.
type domains struct {
	of    []int32 // by server
	first []int   // by domain: its first GPU, then, after the last domain, the number of all GPUs
	host  []int   // by domain: its first server
}

// Domains returns the number of NVLink domains; a server without shared NVLink is one.
func (g *Graph) Domains() int {
	if g.domains == nil {
		return len(g.Hosts)
	}
	return len(g.domains.host)
}

// DomainOf is the domain of a server.
func (g *Graph) DomainOf(host int) int {
	if g.domains == nil {
		return host
	}
	return int(g.domains.of[host])
}

// ServerIn is the first server of a domain.
func (g *Graph) ServerIn(domain int) int {
	if g.domains == nil {
		return domain
	}
	return g.domains.host[domain]
}

// ServersIn returns the servers of a domain: from the first to before the last.
func (g *Graph) ServersIn(domain int) (first, last int) {
	if first = g.ServerIn(domain); g.domains == nil {
		return first, first + 1
	}
	if domain+1 < len(g.domains.host) {
		return first, g.domains.host[domain+1]
	}
	return first, len(g.Hosts)
}

// DomainName returns the name of a domain: its server, or the common location of its servers. If locations are
// unknown, it is the first and the last server.
func (g *Graph) DomainName(domain int) string {
	first, last := g.ServersIn(domain)
	a, b := g.Hosts[first], g.Hosts[last-1]
	if last-first == 1 {
		return g.Nodes[a].Name
	}
	var same []string
	for i := 0; a < len(g.Stands) && i < len(g.Stands[a].Words); i++ {
		if word, at := g.Stands[a].Words[i], g.Stands[a].At[i]; g.allStand(first, last, word, at) {
			same = append(same, fmt.Sprintf("%s %d", word, at))
		}
	}
	if len(same) > 0 {
		return strings.Join(same, ", ")
	}
	return g.Nodes[a].Name + " to " + g.Nodes[b].Name
}

// allStand reports whether all servers of a range are at a location.
func (g *Graph) allStand(first, last int, word string, at int) bool {
	for _, node := range g.Hosts[first:last] {
		if node >= len(g.Stands) {
			return false
		}
		s := &g.Stands[node]
		if i := slices.Index(s.Words, word); i < 0 || s.At[i] != at {
			return false
		}
	}
	return true
}

// GPUsIn returns the GPUs of a domain: from the first to before the last.
func (g *Graph) GPUsIn(domain int) (first, last int) {
	if g.domains == nil {
		return g.GPUsOf(domain)
	}
	return g.domains.first[domain], g.domains.first[domain+1]
}

// Together reports whether two GPUs share NVLink.
func (g *Graph) Together(a, b int) bool { return g.DomainOf(g.HostOf(a)) == g.DomainOf(g.HostOf(b)) }

// PlaceOf is a GPU's place in its domain.
func (g *Graph) PlaceOf(gpu int) int {
	first, _ := g.GPUsIn(g.DomainOf(g.HostOf(gpu)))
	return gpu - first
}

// PerDomain returns the number of GPUs in an NVLink domain, the maximum if they differ.
func (g *Graph) PerDomain() (most int) {
	for d := range g.Domains() {
		first, last := g.GPUsIn(d)
		most = max(most, last-first)
	}
	return most
}

// ShareNVLink groups consecutive servers into NVLink domains of the given size.
func (g *Graph) ShareNVLink(servers int) error {
	domain := make([]int, len(g.Hosts))
	for host := range domain {
		domain[host] = host / servers
	}
	return g.share(domain)
}

// Share makes servers, by the numbers of the domains that they are in, share NVLink. The servers of a domain must be
// consecutive.
func (m *Maker) Share(domain []int) error { return m.g.share(domain) }

func (g *Graph) share(domain []int) error {
	d := &domains{}
	seen := map[int]bool{}
	for host, x := range domain {
		if host == 0 || x != domain[host-1] {
			if seen[x] {
				return fmt.Errorf("servers that share NVLink do not follow one another")
			}
			seen[x] = true
			d.host, d.first = append(d.host, host), append(d.first, g.firstGPU[host])
		}
		d.of = append(d.of, int32(len(d.host)-1))
	}
	d.first = append(d.first, len(g.gpuHost))
	if len(d.host) < len(g.Hosts) {
		g.domains = d
	}
	return nil
}

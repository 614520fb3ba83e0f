package topo

import (
	"fmt"

	"railyard/internal/field"
	"railyard/unit"
)

// Storage is storage servers added to an existing fabric.
type Storage struct {
	Servers int
	NICs    int   // of each
	Cable   Cable // of these
	// Separate: its own network, a front end, with additional NICs in the servers with GPUs; otherwise the storage
	// servers are attached to the leaves of the fabric.
	Separate bool
	Front    int // storage NICs of a GPU server
	Switches int // switches of the front end; NIC i is at switch i mod Switches
}

// stores is the servers that keep data. Each storage server has two ends after the GPUs: its memory, which sends
// and receives packets, and its media.
type stores struct {
	hosts []int   // servers, in the order of ends
	front [][]int // by server: NICs for storage only; nil: GPUs' own NICs are used
	nics  [][]int // by store
	gpus  int     // number of GPUs, which is the index of the first end
}

// AddStorage adds storage servers, and a front end if they have one, after all other nodes.
func (g *Graph) AddStorage(s Storage) (err error) {
	defer bounded(&err)
	if g.stores != nil {
		return fmt.Errorf("there are storage servers already")
	}
	servers := len(g.Hosts)
	next := make([]int, servers+s.Servers) // by server: number of its next NIC
	for i := range g.NICs {
		next[g.NICs[i].Host] = max(next[g.NICs[i].Host], g.NICs[i].Index+1)
	}
	attach := g.toLeaves()
	if s.Separate {
		var planes []int
		for i := range s.Switches {
			planes = append(planes, g.AddNode(g.unused("front", i), Leaf, 1))
		}
		attach = func(nic int) (sw, rail int) { return planes[nic%s.Switches], nic % s.Switches }
		for h := range servers {
			if first, last := g.GPUsOf(h); first == last {
				continue
			}
			for i := range s.Front {
				g.addNIC(next, h, attach, i, s.Cable)
			}
		}
	} else if attach == nil {
		return fmt.Errorf("no switch has a server, so that storage has no place")
	}
	var hosts []int
	for i := range s.Servers {
		g.AddNode(g.unused("storage", i), Host, 0)
		g.equip()
		h := len(g.Hosts) - 1
		if d := g.domains; d != nil {
			d.of = append(d.of, int32(len(d.host)))
			d.host, d.first = append(d.host, h), append(d.first, len(g.gpuHost))
		}
		for k := range s.NICs {
			if s.Separate {
				g.addNIC(next, h, attach, k, s.Cable)
			} else {
				g.addNIC(next, h, func(int) (int, int) { return attach(i*s.NICs + k) }, k, s.Cable)
			}
		}
		hosts = append(hosts, h)
	}
	return g.Store(hosts, s.Separate, s.Front)
}

// unused is a name for the i-th component of a kind.
func (g *Graph) unused(what string, i int) string {
	name := fmt.Sprintf("%s-%d", what, i+1)
	for g.Node(name) >= 0 {
		name = "x-" + name
	}
	return name
}

// addNIC gives a server one more NIC.
func (g *Graph) addNIC(next []int, host int, attach func(nic int) (sw, rail int), nic int, c Cable) {
	sw, rail := attach(nic)
	index := next[host]
	next[host]++
	l := g.Connect(g.Hosts[host], sw, c)
	g.Links[l].APort = fmt.Sprintf("nic%d", index+1)
	g.NICs = append(g.NICs, NIC{Host: host, Index: index, Rail: rail, Links: []int{l}})
}

// toLeaves assigns NICs round-robin to the switches with servers, and returns their rail: -1 if a switch carries
// several.
func (g *Graph) toLeaves() func(nic int) (sw, rail int) {
	rails := map[int]int{}
	var leaves []int
	for i := range g.NICs {
		n := &g.NICs[i]
		for _, l := range n.Links {
			sw := g.Links[l].A + g.Links[l].B - g.Hosts[n.Host]
			rail, seen := rails[sw]
			if !seen {
				leaves, rails[sw] = append(leaves, sw), n.Rail
			} else if rail != n.Rail {
				rails[sw] = -1
			}
		}
	}
	if len(leaves) == 0 {
		return nil
	}
	return func(nic int) (int, int) {
		sw := leaves[nic%len(leaves)]
		if g.Isolated { // VLANs: each in turn
			return sw, nic % g.rails()
		}
		return sw, rails[sw]
	}
}

// rails returns the number of rails.
func (g *Graph) rails() (n int) {
	for i := range g.NICs {
		n = max(n, g.NICs[i].Rail+1)
	}
	return n
}

// Store marks the storage servers. With separate, the last NICs of each GPU server, the given number, are for storage
// alone.
func (g *Graph) Store(hosts []int, separate bool, front int) error {
	s := &stores{gpus: len(g.gpuHost), nics: make([][]int, len(hosts))}
	by := make([][]int, len(g.Hosts))
	for i := range g.NICs {
		by[g.NICs[i].Host] = append(by[g.NICs[i].Host], i)
	}
	if separate {
		s.front = make([][]int, len(g.Hosts))
		for h := range g.Hosts {
			if first, last := g.GPUsOf(h); first < last {
				if len(by[h]) <= front || front == 0 {
					return field.New("network", "separate needs NICs for storage in every server with GPUs: %s has %s, %d of them for storage", g.Nodes[g.Hosts[h]].Name,
						unit.Plural(len(by[h]), "NIC"), front)
				}
				s.front[h] = by[h][len(by[h])-front:]
			}
		}
	}
	for i, h := range hosts {
		if len(by[h]) == 0 {
			return fmt.Errorf("%s has no NIC", g.Nodes[g.Hosts[h]].Name)
		}
		s.nics[i] = by[h]
		for range 2 {
			g.NICOf, g.gpuHost = append(g.NICOf, by[h][0]), append(g.gpuHost, int32(h))
			if g.ways != nil {
				g.ways = append(g.ways, 1)
			}
			if g.cards != nil {
				g.cards = append(g.cards, nil)
			}
		}
	}
	s.hosts, g.stores = hosts, s
	return nil
}

// Stores returns the number of storage servers, StoreHost their server numbers.
func (g *Graph) Stores() int {
	if g.stores == nil {
		return 0
	}
	return len(g.stores.hosts)
}

// StoreHost is the server number of a store.
func (g *Graph) StoreHost(store int) int { return g.stores.hosts[store] }

// StoreNICs are a store's NICs.
func (g *Graph) StoreNICs(store int) []int { return g.stores.nics[store] }

// Ends returns the number of ends of transfers: GPUs, and two for each store.
func (g *Graph) Ends() int { return len(g.gpuHost) }

// Memory is the end at which a store sends and receives; Media is the end of its media.
func (g *Graph) Memory(store int) int { return g.stores.gpus + 2*store }

// Media is the end of a store's media.
func (g *Graph) Media(store int) int { return g.Memory(store) + 1 }

// StoreOf is the store that an end is of, -1 for a GPU.
func (g *Graph) StoreOf(end int) int {
	if g.stores == nil || end < g.stores.gpus {
		return -1
	}
	return (end - g.stores.gpus) / 2
}

// Stored reports whether one of two ends belongs to a store.
func (g *Graph) Stored(a, b int) bool { return g.stores != nil && max(a, b) >= g.stores.gpus }

// toStore returns the NICs between a GPU and a store. GPUs of a server use its storage NICs in turn, or their own.
// A store's NICs on the same rail, if any, are used in turn.
func (g *Graph) toStore(gpu, store, pair int) (nic, of int) {
	host := int(g.gpuHost[gpu])
	if front := g.stores.front; front == nil {
		nic = g.WayOf(gpu, pair)
	} else {
		nic = front[host][(g.LocalOf(gpu)+pair)%len(front[host])]
	}
	all := g.stores.nics[store]
	same := 0
	for _, n := range all {
		if g.NICs[n].Rail == g.NICs[nic].Rail {
			same++
		}
	}
	if same == 0 {
		return nic, all[(gpu+pair)%len(all)]
	}
	turn := (gpu + pair) % same
	if g.stores.front != nil { // GPUs that share a NIC differ by the number of NICs
		turn = (host + g.LocalOf(gpu)/len(g.stores.front[host]) + pair) % same
	}
	for _, n := range all {
		if g.NICs[n].Rail == g.NICs[nic].Rail {
			if of = n; turn == 0 {
				break
			}
			turn--
		}
	}
	return nic, of
}

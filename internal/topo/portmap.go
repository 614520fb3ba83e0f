package topo

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/panel"
)

// PortMap is the connections of a switch's ports.
type PortMap struct {
	Switch string     `json:"switch"`
	Rails  []RailEnds `json:"rails"`
	Others []PortEnd  `json:"others"`          // ports that lead to switches
	Free   []int      `json:"free,omitempty"`  // numbers of ports without a cable
	Alike  []string   `json:"alike,omitempty"` // switches whose ports have the same rails
}

// RailEnds are the ports of a rail with their far ends.
type RailEnds struct {
	Rail  int       `json:"rail"`
	Ports []PortEnd `json:"ports"`
}

// PortEnd is a port and the far end of its link.
type PortEnd struct {
	Port string `json:"port"`
	To   string `json:"to"`
	GPUs []int  `json:"gpus,omitempty"` // GPUs of the server, from 1, that send by the NIC
}

// PortMaps returns the maps of a switch's ports, or of every switch that has hosts where name is "". Switches whose
// ports have the same rails share one map. names are the port names of all switches.
func (g *Graph) PortMaps(name string) (maps []*PortMap, names []string) {
	alike := map[string]*PortMap{}
	users := g.gpusByNIC()
	for i, n := range g.Nodes {
		if n.Role == Host {
			continue
		}
		if names = append(names, n.Name); name != "" && name != n.Name {
			continue
		}
		p, kind := g.portMap(i, users)
		if len(p.Rails) == 0 && name == "" {
			continue // nothing but switches
		}
		if first := alike[kind]; first != nil {
			first.Alike = append(first.Alike, n.Name)
			continue
		}
		alike[kind] = p
		maps = append(maps, p)
	}
	return maps, names
}

// gpusByNIC lists by NIC the GPUs that use it, numbered from 1 in their servers.
func (g *Graph) gpusByNIC() [][]int {
	users := make([][]int, len(g.NICs))
	for gpu := range g.TotalGPUs() {
		for w := range g.Ways(gpu) {
			nic := g.WayOf(gpu, w)
			users[nic] = append(users[nic], g.LocalOf(gpu)+1)
		}
	}
	return users
}

// portMap returns the map of one switch. kind is equal for switches whose ports have equal rails.
func (g *Graph) portMap(node int, users [][]int) (p *PortMap, kind string) {
	p = &PortMap{Switch: g.Nodes[node].Name, Others: []PortEnd{}}
	rails, others := g.RailPorts(node)
	var b strings.Builder
	used := map[int]bool{}
	port := func(link int) string {
		used[int(g.Jack(link, node).Port)] = true
		_, name, _ := strings.Cut(g.End(link, node), ":")
		return name
	}
	far := func(link int) string { return g.End(link, g.Links[link].A+g.Links[link].B-node) }
	for _, r := range rails {
		own := RailEnds{Rail: r.Rail + 1}
		fmt.Fprintf(&b, "/%d", r.Rail)
		for k, l := range r.Links {
			own.Ports = append(own.Ports, PortEnd{port(l), far(l), users[r.NICs[k]]})
			b.WriteString(" " + own.Ports[k].Port)
		}
		p.Rails = append(p.Rails, own)
	}
	for _, l := range others {
		p.Others = append(p.Others, PortEnd{Port: port(l), To: far(l)})
		b.WriteString("," + port(l))
	}
	for i := range g.Nodes[node].Panel.Ports() {
		if !used[i+1] {
			p.Free = append(p.Free, i+1)
		}
	}
	return p, b.String()
}

// WriteCables writes every cable once as CSV, from the lower tier to the upper one.
func (g *Graph) WriteCables(to io.Writer) {
	w := csv.NewWriter(to)
	row := func(words ...string) { _ = w.Write(words) } // the command reports what could not be written
	row("cable", "from", "from_port", "to", "to_port", "rate", "length_m")
	for i, l := range g.Links {
		a, b, pa, pb := l.A, l.B, l.APort, l.BPort
		if g.Nodes[a].Tier > g.Nodes[b].Tier {
			a, b, pa, pb = b, a, pb, pa
		}
		row(fmt.Sprint(i+1), g.Nodes[a].Name, pa, g.Nodes[b].Name, pb, l.Rate.String(),
			fmt.Sprintf("%g", float64(l.LengthMM)/1000))
	}
	w.Flush()
}

// Unnamed returns notes on switches whose ports have generic names, and on those whose names assume a number of
// lanes.
func (g *Graph) Unnamed() (notes []string) {
	count, first := map[string]int{}, map[string]string{}
	var order []string
	for _, n := range g.Nodes {
		why := ""
		switch p := n.Panel; {
		case n.Role == Host:
			continue
		case p == nil || p.System == "":
			why = "ports are named Eth1, Eth2 …; for a device's names set os of the type (" +
				strings.Join(panel.Systems(), ", ") + ") or a vendor's model"
		case (p.System == panel.SONiC || p.System == panel.EOS) && !p.Told():
			why = p.System + " names ports by their lanes; assumed 8 lanes per port (set a model or lanes of the type)"
		default:
			continue
		}
		if count[why]++; count[why] == 1 {
			order, first[why] = append(order, why), n.Name
		}
	}
	for _, why := range slices.Sorted(slices.Values(order)) {
		more := ""
		if n := count[why] - 1; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		notes = append(notes, first[why]+more+": "+why)
	}
	return notes
}

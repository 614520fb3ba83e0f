package sim

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/counters"
	"railyard/internal/panel"
	"railyard/internal/queue"
	"railyard/internal/topo"
	"railyard/unit"
)

// SONiC lists every port of its device, connected or not, with its name and its front panel label.

// jackOf sets the fields of a port that SONiC shows for its jack.
func jackOf(p *counters.Port, of *panel.Panel, j panel.Jack) {
	if k, ok := of.Socket(j); ok {
		p.Lanes, p.FEC = k.Lanes, k.FEC
		if k.Alias != p.Name {
			p.Alias = k.Alias
		}
		return
	}
	if of == nil || !of.Told() {
		return
	}
	first, n := of.Lanes(j)
	var lanes []string
	for l := first; l < first+n; l++ {
		lanes = append(lanes, strconv.Itoa(l))
	}
	p.Lanes = strings.Join(lanes, ",")
}

// idle lists the ports of a switch without a link: they are disabled, and their counters are zero.
func idle(g *topo.Graph, node int, links []int) (out []counters.Port) {
	of := g.Nodes[node].Panel
	if of.Ports() == 0 {
		return nil // unknown device
	}
	used, parts := map[panel.Jack]bool{}, map[int32]uint8{}
	for _, l := range links {
		j := g.Jack(l, node)
		used[j] = true
		parts[j.Port] = max(j.Parts, 1)
	}
	for _, j := range jacks(of) {
		if n, broken := parts[j.Port]; used[j] || broken && n != max(j.Parts, 1) {
			continue // connected, or another breakout of a jack in use
		}
		p := counters.Port{Name: of.Name(panel.SONiC, j), Up: counters.Say(false),
			Enabled: counters.Say(false),
			MTU:     counters.Say(idleMTU)}
		jackOf(&p, of, j)
		if k, ok := of.Socket(j); ok && len(k.Speeds) > 0 {
			p.Speed = counters.Say(unit.Rate(slices.Max(k.Speeds)) * unit.Mbps)
		}
		for _, n := range []*counters.Count{&p.RxPackets, &p.RxBytes, &p.TxPackets, &p.TxBytes, &p.InErrors,
			&p.OutErrors, &p.InDiscards, &p.OutDiscards} {
			*n = counters.Of(0)
		}
		for k := range queue.Classes {
			p.RxPFC[k], p.TxPFC[k] = counters.Of(0), counters.Of(0)
			q := &p.Queues[k]
			q.TxPackets, q.TxBytes, q.DropPackets, q.DropBytes = counters.Of(0), counters.Of(0),
				counters.Of(0), counters.Of(0)
		}
		out = append(out, p)
	}
	return out
}

// idleMTU is the MTU of ports without a setting (portmgrd).
const idleMTU unit.Bytes = 9100

// jacks lists the ports of a panel: on a known device each with its default breakout, on others unsplit.
func jacks(of *panel.Panel) (out []panel.Jack) {
	if of.Device == nil {
		for port := 1; port <= of.Ports(); port++ {
			out = append(out, panel.Jack{Port: int32(port)})
		}
		return out
	}
	whole := map[int32]uint8{} // the smallest parts of a port
	for j := range of.Device.Sockets {
		if n, ok := whole[j.Port]; !ok || j.Parts < n {
			whole[j.Port] = j.Parts
		}
	}
	for _, j := range slices.SortedFunc(maps.Keys(of.Device.Sockets), func(a, b panel.Jack) int {
		return cmp.Or(cmp.Compare(a.Port, b.Port), cmp.Compare(a.Parts, b.Parts), cmp.Compare(a.Part, b.Part))
	}) {
		if j.Parts == whole[j.Port] {
			out = append(out, j)
		}
	}
	return out
}

// inOrder sorts ports by the number at the end of their names, as SONiC does.
func inOrder(ports []counters.Port) {
	number := func(p counters.Port) int {
		n, _ := strconv.Atoi(p.Name[strings.LastIndexFunc(p.Name, func(r rune) bool {
			return r < '0' || r > '9'
		})+1:])
		return n
	}
	slices.SortStableFunc(ports, func(a, b counters.Port) int { return cmp.Compare(number(a), number(b)) })
}

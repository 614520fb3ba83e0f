package draw

import (
	"fmt"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/topo"
)

// places are the possible targets of events.
type places struct {
	uplinks, hostLinks, spines, leaves []string
	nics                               []string
}

func (d *drawing) places() (p places) {
	g := d.graph
	tops := map[int]bool{}
	for i := range g.Links {
		l := &g.Links[i]
		a, b := &g.Nodes[l.A], &g.Nodes[l.B]
		if a.Role == topo.Host || b.Role == topo.Host {
			sw := l.A
			if a.Role == topo.Host {
				sw = l.B
			}
			p.hostLinks = append(p.hostLinks, g.End(i, sw))
			continue
		}
		low, high := l.A, l.B
		if a.Tier > b.Tier {
			low, high = high, low
		}
		p.uplinks = append(p.uplinks, g.End(i, low))
		tops[high] = true
	}
	for i := range g.Nodes {
		switch n := &g.Nodes[i]; {
		case tops[i]:
			p.spines = append(p.spines, n.Name)
		case n.Role != topo.Host:
			p.leaves = append(p.leaves, n.Name)
		}
	}
	for i := range g.NICs {
		p.nics = append(p.nics, g.NICName(i))
	}
	return p
}

// when draws a time: the start, or a time during the run.
func (d *drawing) when() string {
	if d.chance(0.5) {
		return "0s"
	}
	return fmt.Sprintf("%.3gus", d.length()*1e6*(0.1+0.8*d.Float64())+0.1)
}

// events draws what fails or slows down.
func (d *drawing) events() {
	p := d.places()
	var all []string
	switch {
	case d.is(cause.FailedCapacity):
		all = d.down(&p, d.between(1, 2))
	case d.is(cause.SlowLink):
		all = d.slow(&p, d.between(1, 2))
	case d.is(cause.Pause) && !d.preset() && d.chance(0.15):
		nic := d.of(p.nics...)
		all = []string{fmt.Sprintf("{nic: %s, at: 0s, storm: true}", nic),
			fmt.Sprintf("{nic: %s, at: %dus, storm: false}", nic, d.between(20, 400))}
	case d.is(cause.Retransmission) && d.chance(0.2):
		all = d.down(&p, 1)
	case d.chance(0.05):
		all = d.down(&p, 1)
	case d.chance(0.05):
		all = d.slow(&p, 1)
	}
	if len(all) > 0 {
		d.blocks = append(d.blocks, "events:\n  - "+strings.Join(all, "\n  - ")+"\n")
	}
	if d.is(cause.PCIe) && !strings.Contains(d.server, "pcie") {
		host := d.graph.Nodes[d.graph.Hosts[d.Intn(len(d.graph.Hosts))]].Name
		d.blocks = append(d.blocks, fmt.Sprintf("deviations: [{node: %s, pcie: %.4gGbps}]\n", host,
			float64(d.rate*d.ports)*(0.2+0.6*d.Float64())))
	}
}

// down breaks links or switches for which there are alternatives.
func (d *drawing) down(p *places, n int) (all []string) {
	names := map[string]bool{}
	for range n {
		what := "link: " + quoted(d.either(p.uplinks, p.hostLinks))
		switch {
		case len(p.spines) > 1 && d.chance(0.5):
			what = "switch: " + d.of(p.spines...)
		case d.ports > 1 && len(p.spines) == 0:
			what = "switch: " + d.of(p.leaves...)
		case d.ports > 1 && d.chance(0.3):
			what = "link: " + quoted(d.of(p.hostLinks...))
		}
		if names[what] {
			continue
		}
		names[what] = true
		all = append(all, fmt.Sprintf("{%s, at: %s, up: false, converge: %s}", what, d.when(),
			d.of("0s", "0s", "1us", "20us", "100us")))
	}
	return all
}

// slow lets links, or all of a switch's, run at a share of their rate.
func (d *drawing) slow(p *places, n int) (all []string) {
	names := map[string]bool{}
	for range n {
		what := "link: " + quoted(d.either(p.uplinks, p.hostLinks))
		switch {
		case len(p.spines) > 0 && d.chance(0.4):
			what = "switch: " + d.of(p.spines...)
		case d.chance(0.3):
			what = "link: " + quoted(d.of(p.hostLinks...))
		}
		if names[what] {
			continue
		}
		names[what] = true
		all = append(all, fmt.Sprintf("{%s, at: %s, rate_share: %.2f}", what, d.when(), 0.1+0.5*d.Float64()))
	}
	return all
}

// either draws one of a list, or of another one if that is empty.
func (d *drawing) either(list, other []string) string {
	if len(list) == 0 {
		list = other
	}
	return d.of(list...)
}

func quoted(s string) string { return "'" + s + "'" }

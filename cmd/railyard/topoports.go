package main

import (
	"fmt"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/report"
	"railyard/internal/swconf"
	"railyard/internal/topo"
	"railyard/unit"
)

// every is the value of --ports that means all switches.
const every = "all"

// panelOf is which port of a switch is whose.
type panelOf struct {
	Switch string     `json:"switch"`
	Rails  []railPort `json:"rails"`
	Others []portEnd  `json:"others"`          // ports that lead to switches
	Free   []int      `json:"free,omitempty"`  // numbers of ports without a cable
	Alike  []string   `json:"alike,omitempty"` // switches whose ports have the same rails
}

// railPort is a rail's ports.
type railPort struct {
	Rail  int       `json:"rail"`
	Ports []portEnd `json:"ports"`
}

// portEnd is a port, and what is behind it.
type portEnd struct {
	Port string `json:"port"`
	To   string `json:"to"`
	GPUs []int  `json:"gpus,omitempty"` // of the server, from 1: those that send by the NIC
}

// ports prints which front-panel port of a switch is whose: rail, server, NIC and GPU.
func (c *topoCmd) ports(e *env, g *topo.Graph) error {
	var names []string
	var panels []*panelOf
	alike := map[string]*panelOf{}
	users := gpusByNIC(g)
	for i, n := range g.Nodes {
		if n.Role == topo.Host {
			continue
		}
		if names = append(names, n.Name); c.Ports != every && c.Ports != n.Name {
			continue
		}
		p, kind := panelWith(g, i, users)
		if len(p.Rails) == 0 && c.Ports == every {
			continue // nothing but switches
		}
		if first := alike[kind]; first != nil {
			first.Alike = append(first.Alike, n.Name)
			continue
		}
		alike[kind] = p
		panels = append(panels, p)
	}
	if len(panels) == 0 && c.Ports != every {
		return input.Fault(field.Choice("--ports", c.Ports, append(names, every), "unknown switch %s",
			field.Quote(c.Ports)))
	}
	if c.JSON {
		return printJSON(e.stdout, panels)
	}
	for i, p := range panels {
		if i > 0 {
			fmt.Fprintln(e.stdout)
		}
		p.print(e)
	}
	for _, n := range unnamed(g) {
		report.Labelled(e.stderr, "note: ", n)
	}
	return nil
}

// gpusByNIC lists by NIC the GPUs that send by it, from 1 in their servers.
func gpusByNIC(g *topo.Graph) [][]int {
	users := make([][]int, len(g.NICs))
	for gpu := range g.TotalGPUs() {
		for w := range g.Ways(gpu) {
			nic := g.WayOf(gpu, w)
			users[nic] = append(users[nic], g.LocalOf(gpu)+1)
		}
	}
	return users
}

// panelWith is one switch's panel; kind is equal for switches whose ports have the same rails.
func panelWith(g *topo.Graph, node int, users [][]int) (p *panelOf, kind string) {
	p = &panelOf{Switch: g.Nodes[node].Name, Others: []portEnd{}}
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
		own := railPort{Rail: r.Rail + 1}
		fmt.Fprintf(&b, "/%d", r.Rail)
		for k, l := range r.Links {
			own.Ports = append(own.Ports, portEnd{port(l), far(l), users[r.NICs[k]]})
			b.WriteString(" " + own.Ports[k].Port)
		}
		p.Rails = append(p.Rails, own)
	}
	for _, l := range others {
		p.Others = append(p.Others, portEnd{Port: port(l), To: far(l)})
		b.WriteString("," + port(l))
	}
	for i := range g.Nodes[node].Panel.Ports() {
		if !used[i+1] {
			p.Free = append(p.Free, i+1)
		}
	}
	return p, b.String()
}

func (p *panelOf) print(e *env) {
	fmt.Fprint(e.stdout, p.Switch)
	if len(p.Alike) > 0 {
		fmt.Fprintf(e.stdout, "; same ports: %s", swconf.Brackets(p.Alike))
	}
	fmt.Fprintln(e.stdout)
	row := func(what string, ports []portEnd) {
		var names, to []string
		gpus := ""
		for i, x := range ports {
			switch own := fmt.Sprintf(" (GPU %s)", strings.Trim(fmt.Sprint(x.GPUs), "[]")); {
			case i == 0 && len(x.GPUs) > 0:
				gpus = own
			case gpus != own:
				gpus = ""
			}
			names = append(names, x.Port)
			end, _, _ := strings.Cut(x.To, ":")
			if len(x.GPUs) > 0 {
				end = x.To
			}
			to = append(to, end)
		}
		report.Labelled(e.stdout, fmt.Sprintf("  %-9s ", what),
			headed(strings.Split(swconf.Compress(names), ", "))+" to "+ends(to)+gpus)
	}
	for _, r := range p.Rails {
		row("rail "+strconv.Itoa(r.Rail), r.Ports)
	}
	if len(p.Others) > 0 {
		row("switches", p.Others)
	}
	if n := len(p.Free); n > 0 {
		fmt.Fprintf(e.stdout, "  %-9s %s\n", "free", unit.Plural(n, "port"))
	}
}

// ends writes host-1:nic3, host-2:nic3 as host-[1-2]:nic3; others as they are, each once.
func ends(to []string) string {
	var tails []string
	heads := map[string][]string{}
	for _, end := range to {
		head, tail, _ := strings.Cut(end, ":")
		if heads[tail] == nil {
			tails = append(tails, tail)
		}
		if n := len(heads[tail]); n == 0 || heads[tail][n-1] != head {
			heads[tail] = append(heads[tail], head)
		}
	}
	var out []string
	for _, tail := range tails {
		text := swconf.Brackets(heads[tail])
		if tail != "" {
			text += ":" + tail
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// headed writes Ethernet1/1, Ethernet1/4, Ethernet1/5 as Ethernet1/1, 4, 5.
func headed(names []string) string {
	var out []string
	last := ""
	for _, n := range names {
		cut := strings.LastIndexFunc(n, func(r rune) bool { return r != '-' && (r < '0' || r > '9') }) + 1
		if head := n[:cut]; head != last || cut == 0 {
			last = head
			out = append(out, n)
			continue
		}
		out = append(out, n[cut:])
	}
	return strings.Join(out, ", ")
}

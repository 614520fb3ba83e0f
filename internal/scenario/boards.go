package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/inside"
	"railyard/internal/topo"
	"railyard/unit"
)

// Baseboard is the NVSwitch chips and PCIe switches of servers.
type Baseboard struct {
	Model  string `yaml:"model" doc:"a baseboard of Railyard's catalog: hgx-a100, hgx-h100, hgx-b200, hgx-2, nvl72 (default that of server.gpu and the GPUs that share NVLink)"`
	Links  []int  `yaml:"links" range:"1,72" doc:"instead of a model: NVLinks of a GPU to each NVSwitch chip of its baseboard: [5, 4, 4, 5]"`
	Boards int    `yaml:"baseboards" range:"0|1,16" doc:"with links: baseboards with equal parts of the GPUs (default 1)"`
	Trunk  int    `yaml:"trunk" range:"0|1,256" doc:"with several baseboards: NVLinks from a chip to that of the same number on each other baseboard"`
	PCIe   int    `yaml:"pcie_switches" range:"0|1,64" doc:"PCIe switches of a server, each with an equal part of its GPUs and NICs; 0: events name none"`
}

// boards finds the NVSwitch chips of each domain.
func (p *resolver) boards() error {
	b := &p.File.Server.Baseboard
	p.pcieSwitches = b.PCIe
	const key = "server.baseboard"
	switch {
	case b.Model != "" && len(b.Links) > 0:
		return field.New(key+".links", "is set, and model too; accepted: one of them")
	case b.Model != "" && inside.BoardNamed(b.Model) == nil:
		return field.Choice(key+".model", b.Model, inside.BoardNames(), "unknown baseboard %s", field.Quote(b.Model))
	case len(b.Links) == 0 && b.Boards > 0:
		return field.New(key+".baseboards", "has no effect without links")
	case len(b.Links) == 0 && b.Trunk > 0:
		return field.New(key+".trunk", "has no effect without links")
	}
	type shape struct {
		kind *Kind
		gpus int
	}
	made := map[shape]*inside.Board{}
	p.Boards = make([]*inside.Board, p.Graph.Domains())
	for d := range p.Boards {
		first, last := p.Graph.GPUsIn(d)
		s := shape{p.Kinds[p.Graph.ServerIn(d)], last - first}
		if _, known := made[s]; !known && s.gpus > 1 {
			var err error
			if made[s], err = p.board(s.kind, s.gpus); err != nil {
				return err
			}
		}
		p.Boards[d] = made[s]
	}
	return p.evenPCIe()
}

// evenPCIe refuses PCIe switches that GPUs and NICs do not share evenly.
func (p *resolver) evenPCIe() error {
	n := p.PCIe()
	for host := range p.Graph.Hosts {
		first, last := p.Graph.GPUsOf(host)
		if n == 0 || first == last {
			continue
		}
		for what, count := range []int{last - first, p.cards(host)} {
			if count%n != 0 {
				return field.New("server.baseboard.pcie_switches", "%s of %s are not divisible by %d PCIe switches",
					unit.Plural(count, []string{"GPU", "NIC"}[what]), p.Graph.Nodes[p.Graph.Hosts[host]].Name, n)
			}
		}
	}
	return nil
}

// cards returns the number of NIC cards of a server, for any number of ports.
func (p *Plan) cards(host int) (n int) {
	for i := range p.Graph.NICs {
		if p.Graph.NICs[i].Host == host {
			n = max(n, p.Graph.NICs[i].Index+1)
		}
	}
	return n
}

// board returns the baseboards of GPUs that share NVLink.
func (p *resolver) board(k *Kind, gpus int) (*inside.Board, error) {
	b, key := &p.File.Server.Baseboard, "server.baseboard"
	if k.Pair > 0 || k.told.Paired() {
		if b.Model != "" || len(b.Links) > 0 {
			return nil, field.New(key, "GPUs of a %s server are connected in pairs, without NVSwitch chips", k.GPU.Name)
		}
		return nil, nil
	}
	if b.Model == "" && len(b.Links) == 0 {
		return inside.BoardOf(k.GPU.Name, gpus), nil
	}
	board := &inside.Board{GPUs: gpus, Boards: max(1, b.Boards), Links: b.Links, Trunk: b.Trunk}
	if key += ".links"; b.Model != "" {
		key = "server.baseboard.model"
		if board = inside.BoardNamed(b.Model); board.GPUs != gpus {
			return nil, field.New(key, "%s has %d GPUs, and here %d share NVLink", board.Name, board.GPUs, gpus)
		}
	} else if err := board.Check(); err != nil {
		return nil, field.Under("server.baseboard", err)
	}
	if n := board.PerGPU(); k.GPU.Links > 0 && n != k.GPU.Links {
		return nil, field.New(key, "%s are %d NVLinks of a GPU; %s has %d", sum(board.Links), n, k.GPU.Name, k.GPU.Links)
	}
	return board, nil
}

// sum writes numbers as a sum.
func sum(all []int) string {
	var words []string
	for _, n := range all {
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, " + ")
}

// ChipName names an NVSwitch of a domain as events do: host-1/nvswitch-2.
func (p *Plan) ChipName(domain, chip int) string {
	return fmt.Sprintf("%s/nvswitch-%d", p.Graph.DomainName(domain), chip+1)
}

// PCIe returns the number of PCIe switches of each server; 0: unknown.
func (p *Plan) PCIe() int { return p.pcieSwitches }

// PCIeName names a PCIe switch of a server as events do: host-1/pcie-2.
func (p *Plan) PCIeName(host, number int) string {
	return fmt.Sprintf("%s/pcie-%d", p.Graph.Nodes[p.Graph.Hosts[host]].Name, number+1)
}

// BehindPCIe returns the components of a server's PCIe switch: GPUs from the first to before the last, and NICs.
func (p *Plan) BehindPCIe(host, number int) (first, last int, nics []int) {
	g, n := p.Graph, p.PCIe()
	a, b := g.GPUsOf(host)
	first, last = a+(b-a)*number/n, a+(b-a)*(number+1)/n
	cards := p.cards(host)
	for i := range g.NICs {
		if g.NICs[i].Host == host && g.NICs[i].Index*n/cards == number {
			nics = append(nics, i)
		}
	}
	return first, last, nics
}

// placed splits the name of an element of a server: its position, and its number from 0.
func placed(name, kind string) (place string, number int, ok bool) {
	place, n, ok := strings.Cut(name, "/"+kind+"-")
	number, err := strconv.Atoi(n)
	return place, number - 1, ok && err == nil && strconv.Itoa(number) == n
}

// chip finds an NVSwitch that an event names.
func (p *resolver) chip(key, name string) (*thing, error) {
	if err := p.accelerators(); err != nil {
		return nil, err
	}
	place, chip, ok := placed(name, "nvswitch")
	some := slices.IndexFunc(p.Boards, func(b *inside.Board) bool { return b != nil })
	if some < 0 {
		return nil, field.New(key, "unknown NVSwitch %q: the NVSwitch chips of these servers are unknown; accepted: a server.baseboard with model or links", name)
	}
	for d := range p.Boards {
		if !ok || p.Graph.DomainName(d) != place {
			continue
		}
		b := p.Boards[d]
		switch {
		case b == nil:
			return nil, field.New(key, "%s has no NVSwitch chips that are known", place)
		case chip < 0 || chip >= b.Chips():
			return nil, field.New(key, "unknown NVSwitch %q; %s has %s to %s", name, place, p.ChipName(d, 0), p.ChipName(d, b.Chips()-1))
		}
		return &thing{kind: "nvswitch", name: name, node: -1 - d, nic: -1, chip: chip}, nil
	}
	return nil, field.New(key, "unknown NVSwitch %q; names are like %s", name, p.ChipName(some, 0))
}

// pcieSwitch finds a PCIe switch that an event names.
func (p *resolver) pcieSwitch(key, name string) (*thing, error) {
	if err := p.accelerators(); err != nil {
		return nil, err
	}
	n := p.PCIe()
	if n == 0 {
		return nil, field.New(key, "unknown PCIe switch %q; server.baseboard.pcie_switches sets their number", name)
	}
	place, number, ok := placed(name, "pcie")
	host := slices.IndexFunc(p.Graph.Hosts, func(node int) bool { return p.Graph.Nodes[node].Name == place })
	if !ok || host < 0 || number < 0 || number >= n {
		return nil, field.New(key, "unknown PCIe switch %q; names are %s to %s and so on", name, p.PCIeName(0, 0), p.PCIeName(0, n-1))
	}
	first, last, nics := p.BehindPCIe(host, number)
	node := p.Graph.Hosts[host]
	th := &thing{kind: "pcie", name: name, node: node, nic: -1, gpus: [2]int{first, last}}
	for _, nic := range nics {
		th.links = append(th.links, p.Graph.NICs[nic].Links...)
	}
	th.near = slices.Repeat([]int{node}, len(th.links))
	return th, nil
}

// onChip refuses servers whose traffic does not pass an NVSwitch.
func onChip(key string, e *Event) error {
	for _, k := range e.Changes() {
		if k != "up" && k != "flap" {
			return field.New(field.Join(key, k), "has no effect on an NVSwitch; accepted: up, flap")
		}
	}
	switch {
	case e.Detect != nil:
		return field.New(key+".detect", "has no effect on an NVSwitch: routes do not use NVLinks")
	case e.Converge != nil:
		return field.New(key+".converge", "has no effect on an NVSwitch: routes do not use NVLinks")
	}
	return nil
}

// chipTurns notes that an NVSwitch fails or recovers. Changes are in the order of time.
func (p *resolver) chipTurns(c *change) error {
	d := -1 - c.what.node
	if p.chipsDown == nil {
		p.chipsDown = map[int]map[int]bool{}
	}
	if p.chipsDown[d] == nil {
		p.chipsDown[d] = map[int]bool{}
	}
	down, b := p.chipsDown[d], p.Boards[d]
	down[c.what.chip] = !*c.up
	turn := ChipTurn{Chip: c.what.name, At: c.at, Up: *c.up, Left: b.Left(down), Of: b.PerGPU()}
	if turn.Left == 0 {
		return field.New(c.key+".nvswitch", "no NVSwitch of %s is left at %v; accepted: failures that leave one",
			p.Graph.DomainName(d), c.at)
	}
	p.Incidents = append(p.Incidents, turn)
	p.Chips = append(p.Chips, inside.Change{Domain: d, At: c.at, Left: turn.Left, Of: turn.Of})
	return nil
}

// ChipTurn is the time at which an NVSwitch fails or recovers.
type ChipTurn struct {
	Chip     string
	At       unit.Time
	Up       bool
	Left, Of int // NVLinks of each GPU of its domain from then on
}

// When returns the time of the change.
func (t ChipTurn) When() unit.Time { return t.At }

// Apply does nothing: executions have all changes from their start (exec.Machine).
func (ChipTurn) Apply(World) {}

// Describe names the chip.
func (t ChipTurn) Describe(*topo.Graph) (component, change string, faulty bool) {
	change = "down"
	if t.Up {
		change = "up"
	}
	return "NVSwitch " + t.Chip, fmt.Sprintf("%s: %d of %d NVLinks of each GPU are left", change, t.Left, t.Of), !t.Up
}

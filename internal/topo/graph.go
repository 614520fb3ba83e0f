package topo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/panel"
	"railyard/unit"
)

// Role is the role of a node.
type Role uint8

// Roles, from the edge upwards. Rail switches are leaves that carry a rail.
const (
	Host Role = iota
	Rail
	Leaf
	Aggregation
	Spine
	SuperSpine
	Core
	nRoles
)

var roleNames = [nRoles]string{"host", "rail", "leaf", "aggregation", "spine", "super-spine", "core"}

func (r Role) String() string { return roleNames[r] }

// roleSynonyms are other names of switch roles, in lower case.
var roleSynonyms = map[string]Role{"tor": Leaf, "top-of-rack": Leaf, "agg": Aggregation, "superspine": SuperSpine}

// ParseRole parses a role's name or one of its synonyms: ToR, agg, superspine, super_spine.
func ParseRole(s string) (Role, error) {
	plain := strings.ReplaceAll(strings.ToLower(s), "_", "-")
	for i, n := range roleNames {
		if n == plain {
			return Role(i), nil
		}
	}
	if r, ok := roleSynonyms[plain]; ok {
		return r, nil
	}
	return 0, field.Choice("role", s, roleNames[:], "%q is not a role", s)
}

// Node is a server or a switch.
type Node struct {
	Name  string
	Role  Role
	Tier  int // 0 hosts, 1 leaves, and so on
	Ports int // used so far; ports are named Eth1, Eth2, ...

	// A switch's packet memory: from its type, or from its model if neither the type nor the platform sets it; 0:
	// the platform's.
	Buffer, ModelBuffer unit.Bytes

	Pipeline unit.Time // latency of a switch's ingress pipeline; 0: the common one

	Panel   *panel.Panel // a switch's ports, if its type is known
	HwSKU   string       // the configured device of a switch, in SONiC's notation
	RailMap bool         // a map assigns its ports to rails
}

// Through is the latency of a switch's ingress pipeline, where every switch's is given.
func (n *Node) Through(every unit.Time) unit.Time {
	if n.Pipeline > 0 {
		return n.Pipeline
	}
	return every
}

// Link is one cable.
type Link struct {
	A, B         int // nodes
	APort, BPort string
	AJack, BJack panel.Jack // connector numbers in a described fabric
	Rate         unit.Rate
	LengthMM     int64
	Delay        unit.Time // propagation; from the length unless given
	BER          float64
	Channel      int // number of the channel in the graph, from 1; 0: an individual link
}

// LinkEnd is one end of a link: the port at a node.
type LinkEnd struct{ Link, Node int }

// Propagation returns the one-way delay of the link.
func (l *Link) Propagation() unit.Time {
	if l.Delay != 0 {
		return l.Delay
	}
	return CableDelay(l.LengthMM)
}

// CableDelay returns the time that a signal takes through mm millimetres of cable at
// 1.98e8 m/s, the figure SONiC's headroom calculation uses (docs/references.md, headroom).
func CableDelay(mm int64) unit.Time {
	const metresPerSecond = 198_000_000
	return unit.Time((mm*1_000_000 + metresPerSecond/1000 - 1) / (metresPerSecond / 1000))
}

// NIC is one network card: its server, its position there, and its cables.
type NIC struct {
	Host  int
	Index int // within the server
	Rail  int // rail number
	Links []int
	Port  int // port number of the card, from 1, if each port has its own address (Apart); 0: the whole card
}

// Graph is a fabric.
type Graph struct {
	Kind     string
	Nodes    []Node
	Links    []Link
	Channels []Channel // links between switches that are one link to routing
	NICs     []NIC
	Hosts    []int   // nodes
	NICOf    []int   // GPU -> NIC, the first one of several
	ways     []int   // by GPU: number of its consecutive NICs; nil: one each
	anyNIC   bool    // GPUs take all NICs of their servers
	listed   []bool  // by NIC: whether GPUs use it; nil: all are used
	cards    [][]int // by GPU: its NICs, if they are not consecutive from NICOf; nil: always consecutive
	gpuHost  []int32
	domains  *domains // nil: no two servers share NVLink
	stores   *stores  // nil: no server keeps data
	firstGPU []int    // by host: its first GPU, then, after the last host, the number of all GPUs
	Isolated bool     // NICs of different rails cannot reach each other (VLAN rails)
	Regions  [][]int  // directly connected parts that packets cross as a whole: a dragonfly's groups
	Grid     *Grid    // torus of the fabric; nil: none
	Cubes    *Cubes   // torus of cubes; nil: none
	Stands   []Stand  // by node: its location, for a site description; nil: unknown
	byName   map[string]int
}

// Stand is the location of a node: its group and its ordered parts, such as {pod 3, rack 12}.
type Stand struct {
	Group string
	Words []string
	At    []int // by word

	Row, Rack int // row and rack on the floor, from 1; 0: unknown
}

// MaxNodes, MaxLinks and MaxGPUs bound a fabric: 131,072 GPUs with NICs of eight ports in as many planes have 2,097,152
// cables. The memory of its simulation is checked before it runs.
const (
	MaxNodes = 200_000
	MaxLinks = 2_200_000
	MaxGPUs  = 131_072
	// maximum of GPUs of a server, which is an NVLink domain in most: 576 in NVIDIA's largest plan
	MaxPerServer = 576
)

// tooLarge ends the building of a graph that exceeds these limits.
var tooLarge = field.New("", "more than %d nodes or %d cables; packet fidelity takes no more", MaxNodes, MaxLinks)

// bounded turns the panic of a too large graph into an error.
func bounded(err *error) {
	if x := recover(); x == tooLarge {
		*err = tooLarge
	} else if x != nil {
		panic(x)
	}
}

func newGraph(kind string) *Graph { return &Graph{Kind: kind, byName: map[string]int{}} }

// AddNode adds a node with a unique name. It panics if there are too many; Build recovers from that.
func (g *Graph) AddNode(name string, role Role, tier int) int {
	if len(g.Nodes) >= MaxNodes {
		panic(tooLarge)
	}
	g.Nodes = append(g.Nodes, Node{Name: name, Role: role, Tier: tier})
	g.byName[name] = len(g.Nodes) - 1
	if role == Host {
		g.Hosts = append(g.Hosts, len(g.Nodes)-1)
	}
	return len(g.Nodes) - 1
}

// Node returns the node of a name, or -1.
func (g *Graph) Node(name string) int {
	if i, ok := g.byName[name]; ok {
		return i
	}
	return -1
}

// Cable describes a class of links.
type Cable struct {
	Rate     unit.Rate
	LengthMM int64
	Delay    unit.Time // overrides the length's when positive
	BER      float64
}

// Connect runs a cable between two nodes.
func (g *Graph) Connect(a, b int, c Cable) int {
	if len(g.Links) >= MaxLinks {
		panic(tooLarge)
	}
	g.Nodes[a].Ports++
	g.Nodes[b].Ports++
	g.Links = append(g.Links, Link{A: a, B: b, APort: portName(g.Nodes[a]), BPort: portName(g.Nodes[b]),
		Rate: c.Rate, LengthMM: c.LengthMM, Delay: c.Delay, BER: c.BER})
	return len(g.Links) - 1
}

func portName(n Node) string {
	if n.Role == Host {
		return fmt.Sprintf("nic%d", n.Ports)
	}
	return fmt.Sprintf("Eth%d", n.Ports)
}

// End returns the name of a link's end at a node: "rail-1:Eth3".
func (g *Graph) End(link, node int) string {
	l := g.Links[link]
	if l.A == node {
		return g.Nodes[l.A].Name + ":" + l.APort
	}
	return g.Nodes[l.B].Name + ":" + l.BPort
}

// Direction names one direction of a link: "rail-1:Eth3 → spine-2".
func (g *Graph) Direction(link, from int) string {
	l := g.Links[link]
	to := l.B
	if l.B == from {
		to = l.A
	}
	return g.End(link, from) + " → " + g.Nodes[to].Name
}

// PortNumber is the number of a switch's port name, 3 for "Eth3", 0 for others.
func PortNumber(name string) int {
	tail, ok := strings.CutPrefix(name, "Eth")
	n, err := strconv.Atoi(tail)
	if !ok || err != nil {
		return 0
	}
	return n
}

// Jack returns the jack of a switch that a link is plugged into.
func (g *Graph) Jack(link, node int) panel.Jack {
	l := &g.Links[link]
	j, name := l.AJack, l.APort
	if l.A != node {
		j, name = l.BJack, l.BPort
	}
	if j.Port == 0 {
		j.Port = int32(PortNumber(name))
	}
	return j
}

// FindPort returns the link and node of a port name such as "rail-1:Eth3".
func (g *Graph) FindPort(name string) (link, node int, ok bool) {
	for i, l := range g.Links {
		if g.Nodes[l.A].Name+":"+l.APort == name {
			return i, l.A, true
		}
		if g.Nodes[l.B].Name+":"+l.BPort == name {
			return i, l.B, true
		}
	}
	return 0, 0, false
}

// TotalGPUs returns the number of GPUs.
func (g *Graph) TotalGPUs() int {
	if g.stores != nil {
		return g.stores.gpus
	}
	return len(g.gpuHost)
}

// HostOf returns the server number of a GPU, LocalOf its place in the server.
func (g *Graph) HostOf(gpu int) int { return int(g.gpuHost[gpu]) }

// LocalOf returns a GPU's place within its server.
func (g *Graph) LocalOf(gpu int) int {
	if g.StoreOf(gpu) >= 0 {
		return (gpu - g.stores.gpus) % 2
	}
	return gpu - g.firstGPU[g.gpuHost[gpu]]
}

// GPUsOf returns the GPUs of a server: from the first to before the last.
func (g *Graph) GPUsOf(host int) (first, last int) { return g.firstGPU[host], g.firstGPU[host+1] }

// Ways returns the number of a GPU's own NICs; 1 also for a shared NIC.
func (g *Graph) Ways(gpu int) int {
	if g.cards != nil && g.cards[gpu] != nil {
		return len(g.cards[gpu])
	}
	if g.ways == nil {
		return 1
	}
	return g.ways[gpu]
}

// WayOf returns the NIC for a numbered queue pair of a GPU, whose NICs take turns.
func (g *Graph) WayOf(gpu, pair int) int {
	if g.cards != nil && g.cards[gpu] != nil {
		return g.cards[gpu][pair%len(g.cards[gpu])]
	}
	return g.NICOf[gpu] + pair%g.Ways(gpu)
}

// Pair returns the NICs of a numbered queue pair from one GPU to another, with the NICs of both in turn. If GPUs
// use all NICs of their servers, the first queue pair takes the NIC at the sender's position, at both ends. Short
// transfers thus do not all use one NIC, and long ones stay on their rails.
func (g *Graph) Pair(src, dst, pair int) (from, to int) {
	if g.Stored(src, dst) {
		if store := g.StoreOf(dst); store >= 0 {
			return g.toStore(src, store, pair)
		}
		to, from = g.toStore(dst, g.StoreOf(src), pair)
		return from, to
	}
	if g.anyNIC {
		pair += g.NICs[g.NICOf[src]].Index
	}
	return g.WayOf(src, pair), g.WayOf(dst, pair)
}

// PerServer returns the number of GPUs of a server, the maximum if they differ.
func (g *Graph) PerServer() (most int) {
	for h := range g.Hosts {
		most = max(most, g.firstGPU[h+1]-g.firstGPU[h])
	}
	return most
}

// equip gives the last added server its GPUs; nicOf is the NIC of each.
func (g *Graph) equip(nicOf ...int) {
	if len(g.firstGPU) == 0 {
		g.firstGPU = []int{0}
	}
	g.NICOf = append(g.NICOf, nicOf...)
	for range nicOf {
		g.gpuHost = append(g.gpuHost, int32(len(g.firstGPU)-1))
	}
	g.firstGPU = append(g.firstGPU, len(g.gpuHost))
}

// deal assigns the NICs of the last added server to its GPUs. They are the last NICs of the graph. Blocks of GPUs
// share one each, or each GPU has several.
func (g *Graph) deal(gpus, nics int) {
	first := len(g.NICs) - nics
	nicOf := make([]int, gpus)
	for i := range nicOf {
		nicOf[i] = first + i*nics/gpus // shared in blocks, or the first of each GPU's own
		if next := first + (i+1)*nics/gpus; next > nicOf[i]+1 && g.ways == nil {
			g.ways = make([]int, len(g.gpuHost), MaxGPUs)
			for k := range g.ways {
				g.ways[k] = 1
			}
		}
	}
	for i := range nicOf {
		if g.ways != nil {
			g.ways = append(g.ways, max(1, first+(i+1)*nics/gpus-nicOf[i]))
		}
	}
	g.equip(nicOf...)
}

// GPUName returns a GPU's name, counted from 1: "host-1/gpu-1". A store's ends are the server and its media.
func (g *Graph) GPUName(gpu int) string {
	if store := g.StoreOf(gpu); store >= 0 {
		name := g.Nodes[g.Hosts[g.StoreHost(store)]].Name
		if gpu == g.Media(store) {
			name += "/media"
		}
		return name
	}
	return fmt.Sprintf("%s/gpu-%d", g.Nodes[g.Hosts[g.HostOf(gpu)]].Name, g.LocalOf(gpu)+1)
}

// FindGPU returns the GPU of a name such as "host-2/gpu-3".
func (g *Graph) FindGPU(name string) (int, error) {
	host, local, ok := strings.Cut(name, "/gpu-")
	if node := g.Node(host); ok && node >= 0 && g.Nodes[node].Role == Host {
		first, last := g.GPUsOf(slices.Index(g.Hosts, node))
		if i, err := strconv.Atoi(local); err == nil && i >= 1 && i <= last-first {
			return first + i - 1, nil
		}
	}
	return 0, fmt.Errorf("unknown GPU %q; names are %s to %s", name, g.GPUName(0),
		g.GPUName(g.TotalGPUs()-1))
}

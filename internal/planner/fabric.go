package planner

import (
	"fmt"
	"slices"

	"railyard/internal/field"
	"railyard/internal/topo"
	"railyard/unit"
)

// FabricInput holds the requirements on a fabric and its parts.
type FabricInput struct {
	GPUs      int
	PerServer int // GPUs, and NICs
	NICRate   int // Gbit/s, of all its ports together
	NICPorts  int // 0: one
	Leaf, Top SwitchModel
	Ratio     float64 // towards the top tier, at most
	Prices    *Prices
}

// Tier is a count of equal switches.
type Tier struct {
	Role    string `json:"role"`
	Model   string `json:"switch"`
	Count   int    `json:"count"`
	Down    int    `json:"down_ports"` // used, per switch
	Up      int    `json:"up_ports"`
	Failure int    `json:"gpus_cut_off"` // GPUs whose NIC loses its network when one fails

	Price float64 `json:"unit_price"` // of one switch
	Total float64 `json:"total_price"`
}

// Design is one fabric that fits, or the reason why it does not.
type Design struct {
	Name      string  `json:"name"`
	Kind      string  `json:"kind"` // of scenario
	Title     string  `json:"title"`
	Reason    string  `json:"refused,omitempty"`
	GPUs      int     `json:"gpus"`      // ports for this number
	NICPorts  int     `json:"nic_ports"` // NIC ports of each NIC, which share its rate
	Tiers     []Tier  `json:"tiers,omitempty"`
	Cables    []Part  `json:"cables,omitempty"`
	Hops      int     `json:"switch_hops"`
	Ratio     float64 `json:"oversubscription,omitempty"` // reached towards the top tier; 0: there is none
	Bisection float64 `json:"bisection_share"`            // share from topo, between the halves of the servers
	Watts     float64 `json:"watts"`
	Cost      float64 `json:"cost"`
	Note      string  `json:"note,omitempty"`
	Scenario  string  `json:"-"`

	// Missed describes the reached oversubscription if it differs from the requested one, with the reason; else "".
	Missed string `json:"-"`

	because string       // reason why the oversubscription differs from the requested one
	build   *topo.Params // build of a direct network
}

// Fits reports whether the design can be formed.
func (d *Design) Fits() bool { return d.Reason == "" }

// Switches adds up the tiers.
func (d *Design) Switches() (n int) {
	for _, t := range d.Tiers {
		n += t.Count
	}
	return n
}

// CableCount adds up the cables.
func (d *Design) CableCount() (n int) {
	for _, c := range d.Cables {
		n += c.Count
	}
	return n
}

// Cabled returns the number of GPUs on the scenario's links, which belong to whole servers and equal leaves. GPUs
// also counts free ports, and the bill has only the requested GPUs.
func (d *Design) Cabled() (n int) {
	for _, c := range d.Cables {
		if c.From == "host" {
			n += c.Count / d.NICPorts
		}
	}
	return n
}

// Fabrics designs every kind of fabric for an input. Designs that cannot be
// formed are returned with the reason.
func Fabrics(in FabricInput) ([]Design, error) {
	switch {
	case in.GPUs < 2 || in.GPUs > 1<<20:
		return nil, field.New("gpus", "%[2]d is out of range 2–%[1]d", 1<<20, in.GPUs)
	case in.PerServer < 1 || in.PerServer > 576:
		return nil, field.New("server", "a server or NVLink domain has 1 to 576 GPUs, found %d", in.PerServer)
	}
	n := max(1, in.NICPorts)
	if in.NICPorts < 0 || n > 8 || in.NICRate%n != 0 {
		return nil, field.New("nic-ports", "1 to 8 ports share out a NIC's %d Gbit/s evenly, found %d",
			in.NICRate, in.NICPorts)
	}
	slow, flag := in.Leaf, "--switch"
	if in.Top.Rate < slow.Rate {
		slow, flag = in.Top, "--top-switch"
	}
	if port := in.NICRate / n; port > slow.Rate {
		return nil, field.New("", "NICs with %s of %d Gbit/s do not fit ports of %v; accepted: a faster switch (%s), slower NICs (--nic), more ports that share their rate (--nic-ports)", unit.Plural(n, "port"), port, slow, flag)
	}
	if port := in.NICRate / n; !slices.Contains(portRates, port) {
		return nil, field.New("nic", "no port has %d Gbit/s (NICs of %d with %s); accepted: %s", port, in.NICRate,
			unit.Plural(n, "port"), listRates())
	}
	var out []Design
	for _, k := range kinds {
		d := Design{Name: k.name, Kind: k.kind, Title: k.title, NICPorts: 1}
		if k.several {
			d.NICPorts = n
		}
		if least := min(in.Leaf.Rate, in.Top.Rate); in.NICRate > least && !k.several {
			d = refuse(d, "needs switch ports of %d Gbit/s for NICs with one port; they have %d", in.NICRate, least)
		} else {
			d = k.design(in, d)
		}
		if d.Fits() {
			d.Reason = in.crowded(&d)
		}
		if !d.Fits() {
			d.Tiers, d.Cables, d.Scenario = nil, nil, ""
		} else {
			d.price(in)
			d.measure()
			d.reached(in)
		}
		out = append(out, d)
	}
	return out, nil
}

// kinds are the designs, in the order in which they are returned.
var kinds = []struct {
	name, kind, title string // kind: of the scenario
	design            func(FabricInput, Design) Design
	several           bool // whether NICs have several ports; other fields assume one
}{
	{"single-switch", "single-rail", "one switch, rails as VLANs", singleSwitch, false},
	{"rail-only", "rail-only", "a switch per rail, no spine", railOnly, false},
	{"rail-spine", "rail", "rail switches and spines, two tiers", railSpine, false},
	{"rail-pods", "rail", "pods of rail and aggregation switches, super-spines", railPods, false},
	{"rail-planes", "planes", "separate leaves and spines for each rail, two tiers", railPlanes, false},
	{"port-planes", "planes", "rail switches and spines for each port of the NICs, two tiers", portPlanes, true},
	{"rail-port-planes", "planes", "separate leaves and spines for each rail and port of the NICs, two tiers", railPortPlanes, true},
	{"pod-pairs", "pod", "switch pairs with bundled NIC ports, spines, super-spines", pairPod, true},
	{"fat-tree", "fat-tree", "fat tree, two or three tiers, any NIC to any NIC", fatTree, false},
	{"dragonfly", "dragonfly", "dragonfly, groups cabled directly", dragonfly, false},
	{"torus", "torus", "3D torus of switches with their hosts", torus, false},
}

// measure computes the capacity of a direct network between the halves of its servers, from the builder's own
// graph.
func (d *Design) measure() {
	if d.build == nil || d.GPUs > topo.MaxGPUs {
		return
	}
	if g, err := topo.Build(d.Kind, *d.build); err == nil {
		_, d.Bisection = g.Bisection()
	}
	if d.Kind == "torus" {
		d.Ratio = max(1, 1/d.Bisection)
	}
}

// reached records whether a design's oversubscription differs from the requested one.
func (d *Design) reached(in FabricInput) {
	why := d.because
	switch {
	case d.Ratio == 0 && in.Ratio > 1:
		why = fmt.Sprintf("no tier above the switches of the NICs: %s does not apply", ShowRatio(in.Ratio))
	case d.Ratio == 0 || d.Ratio <= atMost(in.Ratio) && d.Ratio > 0.995*in.Ratio:
		return
	default:
		got := fmt.Sprintf("%.3g:1", d.Ratio)
		if got == fmt.Sprintf("%.3g:1", in.Ratio) {
			got = fmt.Sprintf("%.6g:1", d.Ratio)
		}
		why = fmt.Sprintf("%s instead of %s: %s", got, ShowRatio(in.Ratio), why)
	}
	d.Missed = why
	if d.Note != "" {
		d.Note += "; "
	}
	d.Note += why
}

// Within reports whether a design's oversubscription is not above a maximum. Without a tier above it has none.
func (d *Design) Within(maximum float64) bool { return d.Ratio <= atMost(maximum) }

// atMost is a maximum with room for the rounding of a quotient.
func atMost(maximum float64) float64 { return maximum * (1 + 1e-9) }

// Hosts returns the number of hosts that hold the GPUs.
func (in FabricInput) Hosts() int { return (in.GPUs + in.PerServer - 1) / in.PerServer }

// ports returns the number of NIC-rate ports that a switch has.
func (in FabricInput) ports(s SwitchModel) int { return s.broken(in.NICRate) }

// price adds up cost and power of switches and cables.
func (d *Design) price(in FabricInput) {
	for i := range d.Tiers {
		price, watts := in.Prices.switchPart(in.model(d.Tiers[i]))
		d.Tiers[i].Price, d.Tiers[i].Total = price, price*float64(d.Tiers[i].Count)
		d.Cost += d.Tiers[i].Total
		d.Watts += watts * float64(d.Tiers[i].Count)
	}
	for i := range d.Cables {
		in.bill(d, &d.Cables[i])
		for j := range d.Cables[i].Order {
			x := &d.Cables[i].Order[j]
			x.Total = x.Price * float64(x.Count)
			d.Cost += x.Total
			d.Watts += x.watts * float64(x.Count)
		}
	}
}

// buffer is the MB of packet memory of the scenarios' switches: half of one for each possible port of a switch, for
// headroom, and for cables of more than 100 m what is on so many metres both ways, 5 ns each.
func (in FabricInput) buffer(metres int) int {
	ports := max(in.ports(in.Leaf), in.ports(in.Top))
	if metres <= 100 {
		metres = 0
	}
	return max(64, ports/2) + ports*metres*in.NICRate/800_000
}

func refuse(d Design, format string, args ...any) Design {
	d.Reason = fmt.Sprintf(format, args...)
	return d
}

func ceilInt(a, b int) int { return (a + b - 1) / b }

// lengths has the lengths of a design's cables in metres, as in its Cables: to hosts, between switches, and between
// groups and to super-spines; 0 if there are none.
type lengths struct{ host, near, far int }

// scenario writes a design as a scenario that run accepts: the fabric with a permutation on it.
func (in FabricInput) scenario(kind, fabric string, between lengths, nicPorts int) string {
	far := ""
	if between.far > 0 {
		far = fmt.Sprintf("\n  far_link: {cable: %dm}", between.far)
	}
	return fmt.Sprintf(`# Written by railyard plan fabric: %d GPUs, switches %v and %v.
name: %s-%d
fabric:
  kind: %s
  %s
  host_link: {rate: %dGbps, cable: %dm}
  fabric_link: {rate: %dGbps, cable: %dm}%s
server: {gpus: %d, nics: %d, nic_ports: %d}
switch: {buffer: %dMB}
workload:
  traffic:
    permutation: {bytes: 1MB, groups: rail}
`, in.GPUs, in.Leaf, in.Top, kind, in.GPUs, kind, fabric, in.NICRate, between.host, in.NICRate, between.near,
		far, in.PerServer, in.PerServer, nicPorts,
		in.buffer(max(between.near, between.far)))
}

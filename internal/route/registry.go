package route

import (
	"railyard/entropy"
	"railyard/internal/rng"
	"railyard/param"
	"railyard/unit"
)

// Policy describes a way to choose among paths to the rest of the program. It stands in the
// policy's own file; scenarios and the simulator find it by its name.
type Policy struct {
	Name  string // in a scenario: lb
	Title string // in sentences
	// Params stand in a scenario's lb_options, where a name means the same for all policies.
	Params   []param.Param
	Defaults param.Values
	// Shown: a resolved scenario has the parameters whatever policy it names, as it always had.
	Shown bool

	// Buckets returns the number of buckets of a group that keeps flows on working ports (Refill); nil: groups are
	// as long as they have ports.
	Buckets func(v param.Values) int
	// Sprays: packets of one flow may take several paths at once, and overtake each other.
	Sprays func(v param.Values) bool
	// SourcePorts returns the number of UDP source ports that NICs take in turn for a queue pair; nil: one.
	SourcePorts func(v param.Values) int
	// NIC is the policy by which NICs choose among them; nil: there is nothing to choose.
	NIC *entropy.Policy
	// Check finds values that cannot be together: one of them and what is wrong with it, or nothing; nil
	// where any can.
	Check func(v param.Values) (param, fault string)
	// DLB is the mode of switches beyond hashing: flowlet and per-packet, as texts call the modes of
	// dynamic load balancing, or what no text says; "" where they hash.
	DLB     string
	Unmoved string // what to say of a run in which no flow changed its port, if that is remarkable

	New func(v param.Values, s Site) Chooser
}

// Site describes the switch of a chooser when it is made.
type Site struct {
	Seed   uint32     // of its hash
	Tier   int        // 1 for leaves
	Torus  bool       // it stands in one
	Stream rng.Stream // for what is random
}

// Chooser picks ports for one switch.
type Chooser interface {
	// Pick returns one of a group's ports for a packet with the given flow hash; id is the
	// group's number in the switch's table, ports are all of the network.
	Pick(now unit.Time, group []int32, id int, flow uint32, ports []Port) int32
	// Renew fits a chooser to a new table, the first one included. Groups that come again have
	// their old numbers. What is known of flows and of the load of ports stays: a link that
	// breaks elsewhere is no reason to forget it.
	Renew(t *Table)
	// Moved counts the flows that changed their port.
	Moved() int64
}

// Steerer is a Chooser whose packets need not take a shortest way. The table it is renewed with says
// which regions there are, and has ways to them.
//
// Against deadlock a packet's class rises on each cable between regions, so a way may cross two of
// them at most: one to its region, one to its receiver's. On a torus each leg has the two classes of
// dimension order.
type Steerer interface {
	Chooser
	// Via returns the region by way of which a packet goes that enters the fabric here, with the
	// receiver's locator and the flow's hash, or -1: straight on. It turns towards its receiver at
	// the first switch of that region.
	Via(now unit.Time, loc int, flow uint32, ports []Port) int
	// Vias appends all regions that Via may return for a locator, -1 included.
	Vias(out []int, loc int) []int
}

// Riser is a Chooser under which the class of a lossless packet rises on its way, against deadlock.
type Riser interface {
	// Classes returns the number of classes that a packet may pass through.
	Classes(torus bool) int
	// Rises returns where the class rises.
	Rises(torus bool) string
}

// What else some choosers are, beside a Steerer, a Riser or Informed. Is asks a policy for one of them.
type (
	Direct   interface{ Direct() }   // a Steerer by way of no region: it knows them for the sake of the ways alone
	Around   interface{ Around() }   // a Steerer that on a torus sends by way of any switch
	Oracle   interface{ Oracle() }   // looks at ports of other switches than its own
	Ordered  interface{ Ordered() }  // goes in dimension order, on a torus
	Escaper  interface{ Escapes() }  // goes any shortest way there, and escapes to dimension order
	EVReader interface{ ReadsEVs() } // reads the entropy values of packets as they are: NICs must lay them out
)

// Is reports whether the choosers of a policy are of a kind.
func Is[Kind any](p *Policy) bool {
	_, is := p.Make(nil, Site{}).(Kind)
	return is
}

// Fixed reports whether the packets of a flow take one path, which its hash and the tables decide.
func (p *Policy) Fixed() bool {
	return p.NIC == nil && !Is[Steerer](p) && (Is[Hasher](p) || Is[Steady](p))
}

// Crediting is a Chooser that knows what its neighbours hold of what its switch has sent.
type Crediting interface {
	Chooser
	// Credits reports whether it wants to.
	Credits() bool
	// Credit hands it the bytes by port, which change as neighbours return credit.
	Credit(held []int32)
}

// Levels is the largest number of classes that a packet may pass through.
const Levels = 4

// Classes returns the number of classes that a lossless packet may pass through, against deadlock: 1 where it stays in
// its own.
func (p *Policy) Classes(torus bool) int {
	if r, ok := p.Make(nil, Site{}).(Riser); ok {
		return r.Classes(torus)
	}
	return 1
}

// Hasher is a Chooser without state whose Pick is Hashed with a seed: the fabric then does that
// in place.
type Hasher interface{ HashSeed() uint32 }

// Steady is a Chooser that is no Hasher, and whose Pick depends on nothing but the packet's digest and the
// group.
type Steady interface{ Steady() }

// memoryless is the part of choosers that know nothing of groups and flows.
type memoryless struct{}

func (memoryless) Renew(*Table) {}
func (memoryless) Moved() int64 { return 0 }

// policies is the registry. A new policy is a file and a line here.
var policies = append([]*Policy{&ECMP, &Resilient, &Flowlet, &Spray, &SprayRandom, &SprayLeast, &DLB, &GLB,
	&Entropy, &Valiant, &Minimal, &UGAL, &UGALG, &DimensionOrder, &MinimalAdaptive, &Structured},
	ofNICs()...)

// Register adds a policy to the registry: package extend does it for extensions, before scenarios are read.
func Register(p *Policy) { policies = append(policies, p) }

// Names lists the policies.
func Names() (names []string) {
	for _, p := range policies {
		names = append(names, p.Name)
	}
	return names
}

// Lookup returns a policy, nil when there is none of that name.
func Lookup(name string) *Policy {
	for _, p := range policies {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// OfDLB returns the first policy that configurations call by this mode, nil when none does.
func OfDLB(mode string) *Policy {
	for _, p := range policies {
		if p.DLB == mode && mode != "" {
			return p
		}
	}
	return nil
}

// always is for policies that spray whatever their parameters.
func always(param.Values) bool { return true }

// Reorders reports whether packets of one flow may overtake each other.
func (p *Policy) Reorders(v param.Values) bool { return p.Sprays != nil && p.Sprays(v) }

// Ports returns the number of source ports of a queue pair.
func (p *Policy) Ports(v param.Values) int {
	if p.SourcePorts == nil {
		return 1
	}
	return p.SourcePorts(v)
}

// Make returns a policy's chooser for a switch, with the policy's own values where v is nil.
func (p *Policy) Make(v param.Values, s Site) Chooser {
	if v == nil {
		v = p.Defaults
	}
	return p.New(v, s)
}

package route

import (
	"railyard/entropy"
	"railyard/internal/rng"
	"railyard/param"
	"railyard/unit"
)

// Policy describes a way to choose among paths. Each policy is defined in its own file; scenarios and the simulator
// find it by name.
type Policy struct {
	Name  string // in a scenario: lb
	Title string // in sentences
	// Params are keys of a scenario's lb_options, where a name means the same for all policies.
	Params   []param.Param
	Defaults param.Values
	// Shown: a resolved scenario has the parameters for every policy, as in earlier versions.
	Shown bool

	// Buckets returns the number of buckets of a group that keeps flows on working ports (Refill). nil: a group has
	// one entry per port.
	Buckets func(v param.Values) int
	// Sprays: packets of one flow may take several paths at the same time and overtake each other.
	Sprays func(v param.Values) bool
	// SourcePorts returns the number of UDP source ports that NICs use in turn for a queue pair; nil: one.
	SourcePorts func(v param.Values) int
	// NIC is the policy by which NICs choose among them; nil: there is no choice.
	NIC *entropy.Policy
	// Check finds values that exclude each other. It returns the parameter at fault and the error, or two empty
	// strings; nil: all combinations are valid.
	Check func(v param.Values) (param, fault string)
	// DLB is the mode of switches beyond hashing. flowlet and per-packet are the names of dynamic load balancing
	// modes in configurations; another name has no configuration; "" is hashing.
	DLB     string
	Unmoved string // note on a run in which no flow changed its port; "" for none

	New func(v param.Values, s Site) Chooser
}

// Site describes the switch of a chooser when it is made.
type Site struct {
	Seed   uint32     // seed of its hash
	Tier   int        // 1 for leaves
	Torus  bool       // whether it requires a torus
	Stream rng.Stream // random numbers
}

// Chooser picks ports for one switch.
type Chooser interface {
	// Pick returns one of a group's ports for a packet with the given flow hash. id is the group's number in the
	// switch's table, and ports are all ports of the network.
	Pick(now unit.Time, group []int32, id int, flow uint32, ports []Port) int32
	// Renew fits a chooser to a new table, the first one included. Repeated groups keep their old numbers. The
	// state of flows and the load of ports stay valid, because a link failure elsewhere does not change them.
	Renew(t *Table)
	// Moved counts the flows that changed their port.
	Moved() int64
}

// Steerer is a Chooser whose packets may leave the shortest path. The table passed to Renew contains the regions and
// the paths to them.
//
// Against deadlock a packet's class rises on each link between regions. A path may therefore cross at most two such
// links: one to its intermediate region, one to its receiver's. On a torus each leg has the two classes of
// dimension order.
type Steerer interface {
	Chooser
	// Via returns the intermediate region of a packet that enters the fabric here, by the receiver's locator and
	// the flow's hash. -1 is the direct path. At the first switch of that region it turns towards its receiver.
	Via(now unit.Time, loc int, flow uint32, ports []Port) int
	// Vias appends all regions that Via may return for a locator, -1 included.
	Vias(out []int, loc int) []int
}

// Riser is a Chooser under which the class of a lossless packet rises along the path, against deadlock.
type Riser interface {
	// Classes returns the number of classes that a packet may pass through.
	Classes(torus bool) int
	// Rises returns the position where the class rises.
	Rises(torus bool) string
}

// Optional interfaces of choosers besides Steerer, Riser and Informed. Is returns the interface of a policy.
type (
	Direct   interface{ Direct() }   // a Steerer without intermediate region, which needs only the paths to regions
	Around   interface{ Around() }   // a Steerer that uses any switch of a torus as the intermediate one
	Oracle   interface{ Oracle() }   // reads the state of other switches' ports
	Ordered  interface{ Ordered() }  // uses dimension order, on a torus
	Escaper  interface{ Escapes() }  // takes any shortest path, and escapes to dimension order
	EVReader interface{ ReadsEVs() } // reads the entropy values of packets directly: NICs must structure them
)

// Is reports whether the choosers of a policy are of a kind.
func Is[Kind any](p *Policy) bool {
	_, is := p.Make(nil, Site{}).(Kind)
	return is
}

// Fixed reports whether the packets of a flow take one path, determined by the flow's hash and the tables.
func (p *Policy) Fixed() bool {
	return p.NIC == nil && !Is[Steerer](p) && (Is[Hasher](p) || Is[Steady](p))
}

// Crediting is a Chooser that uses the bytes of its switch held by neighbours.
type Crediting interface {
	Chooser
	// Credits reports whether it uses credits.
	Credits() bool
	// Credit hands it the bytes by port, which change as neighbours return credit.
	Credit(held []int32)
}

// Levels is the largest number of classes that a packet may pass through.
const Levels = 4

// Classes returns the number of classes through which a lossless packet may rise, against deadlock; 1 if its class
// never changes.
func (p *Policy) Classes(torus bool) int {
	if r, ok := p.Make(nil, Site{}).(Riser); ok {
		return r.Classes(torus)
	}
	return 1
}

// Hasher is a Chooser without state whose Pick is Hashed with a seed: the fabric then hashes in place.
type Hasher interface{ HashSeed() uint32 }

// Steady is a Chooser other than a Hasher whose Pick depends only on the packet's digest and the group.
type Steady interface{ Steady() }

// memoryless is the base of choosers without state of groups and flows.
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

// OfDLB returns the first policy with this mode in configurations; nil if there is none.
func OfDLB(mode string) *Policy {
	for _, p := range policies {
		if p.DLB == mode && mode != "" {
			return p
		}
	}
	return nil
}

// always is for policies that spray with any parameters.
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

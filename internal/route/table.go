package route

import "slices"

// Table is one switch's forwarding table. Destinations attached to the same set of switches share a locator, so the
// table grows with leaves, not hosts.
type Table struct {
	group  []int16 // by locator
	groups [][]int32
	index  map[string]int32 // index of groups by their ports; nil while there are few
	direct []attached

	Regions *Regions // nil unless packets use intermediate regions
	Home    int      // the region this switch is in
}

// attached is a NIC and the port its cable is in.
type attached struct{ nic, port int32 }

// Regions are the parts of a fabric that packets can use as intermediate ones.
type Regions struct {
	Loc []int // the locator that leads to any switch of a region
	Of  []int // by locator: its region, -1 for none or several
	// Gates are a switch's ports whose cables lead into other regions. It is set for oracles, else nil.
	Gates map[Gate][]int32
}

// Gate is a switch at which cables lead into a region.
type Gate struct{ Node, Region int32 }

// Values that replace a group.
const (
	Attached    int32 = -1 // the NIC's cable is in this switch
	Unreachable int32 = -2
)

// NewTable returns a table for the given number of locators, all unreachable.
func NewTable(locators int) *Table { return newTable(make([]int16, locators)) }

func newTable(group []int16) *Table {
	t := &Table{group: group}
	for i := range t.group {
		t.group[i] = int16(Unreachable)
	}
	return t
}

// Renew returns a table to fill anew after a change of routes. Repeated groups keep their numbers, by which a
// Chooser takes turns. Other old groups remain, unused. The new table reuses the memory of a discarded table if
// that is large enough.
func (t *Table) Renew(locators int, room []int16) *Table {
	if len(room) < locators {
		room = make([]int16, locators)
	}
	next := newTable(room[:locators])
	if t != nil {
		next.groups, next.index = t.groups, t.index
	}
	return next
}

// Add returns the number of a group of ports, equal in cost.
func (t *Table) Add(ports []int32) int32 {
	const few = 16
	at := int32(len(t.groups))
	if t.index == nil {
		for i, g := range t.groups {
			if slices.Equal(g, ports) {
				return int32(i)
			}
		}
		if t.groups = append(t.groups, ports); len(t.groups) > few {
			t.index = make(map[string]int32, 2*few)
			for i, g := range t.groups {
				t.index[keyOf(g)] = int32(i)
			}
		}
		return at
	}
	key := keyOf(ports)
	if i, ok := t.index[key]; ok {
		return i
	}
	t.index[key] = at
	t.groups = append(t.groups, ports)
	return at
}

// keyOf is a list of ports as a key.
func keyOf(ports []int32) string {
	b := make([]byte, 0, 4*len(ports))
	for _, p := range ports {
		b = append(b, byte(p), byte(p>>8), byte(p>>16), byte(p>>24))
	}
	return string(b)
}

// Set routes a locator over a group, and SetGroup over the given ports.
func (t *Table) Set(loc int, group int32) { t.group[loc] = int16(group) }

// SetGroup adds a group and routes a locator over it.
func (t *Table) SetGroup(loc int, ports []int32) { t.Set(loc, t.Add(ports)) }

// SetAttached marks a locator as hanging off this switch; Attach names ports.
func (t *Table) SetAttached(loc int) { t.group[loc] = int16(Attached) }

// Attach routes a NIC to its port; to the last one if it has several here.
func (t *Table) Attach(nic, port int32) { t.direct = append(t.direct, attached{nic, port}) }

// Near returns the ports of the attached NICs from the lowest number: port by NIC - base, -1 in gaps.
func (t *Table) Near() (near []int32, base int32) {
	lo, hi := int32(1<<31-1), int32(-1)
	for _, a := range t.direct {
		lo, hi = min(lo, a.nic), max(hi, a.nic)
	}
	if hi < 0 {
		return nil, 0
	}
	near = make([]int32, hi-lo+1)
	for i := range near {
		near[i] = -1
	}
	for _, a := range t.direct {
		near[a.nic-lo] = a.port
	}
	return near, lo
}

// Groups returns the number of equal-cost groups, Locators the number of locators.
func (t *Table) Groups() int { return len(t.groups) }

// Locators returns the number of locators.
func (t *Table) Locators() int { return len(t.group) }

// Group returns the group of a locator, Attached or Unreachable.
func (t *Table) Group(loc int) int32 { return int32(t.group[loc]) }

// Codes returns the groups of all locators.
func (t *Table) Codes() []int16 { return t.group }

// Forget discards the routes of locators and NICs after they have been copied; groups stay. It returns the memory for
// another table.
func (t *Table) Forget() (room []int16) {
	room, t.group, t.direct = t.group, nil, nil
	return room
}

// Ports returns the ports of a group.
func (t *Table) Ports(g int32) []int32 { return t.groups[g] }

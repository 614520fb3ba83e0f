package cause

import (
	"fmt"
	"slices"
)

var onePort = Cause{ID: OnePort, Key: "one_port", Name: "one port of a bundle",
	About: "connections have fewer queue pairs than their NIC's bundle has ports, and each uses one port",
	Color: "#9c5f2e", Loss: true, Trigger: false,
	Advice:  "use a queue pair per port",
	Without: func(f *Facts) Change { return unmet(f, allPorts(f)) },
	Remedies: func(f *Facts) []Change {
		more := pairPerPort(f)
		if !more.IsPossible() {
			return nil
		}
		spray := Change{Says: "packets by all ports of the NIC in turn", Set: []string{"server.bond=spray"}}
		inAnyOrder(f, &spray)
		return []Change{more, spray}
	}}

// allPorts are bytes that take all ports of a bundle and all paths behind these, as the account has them. Queue pairs
// that hash alike would only take the port's place as the limit.
func allPorts(f *Facts) Change {
	c := pairPerPort(f)
	even := sprays(f)
	switch {
	case !c.IsPossible():
		return c
	case !even.IsPossible():
		return even
	}
	even.Says, even.Set = c.Says+", "+even.Says, slices.Concat(c.Set, even.Set)
	even.Also = append(even.Also, Collision)
	return even
}

// pairPerPort gives connections a queue pair for each port of a bundle.
func pairPerPort(f *Facts) Change {
	switch {
	case f.Transport != "roce" || f.Bond == "spray":
		return Change{Impossible: "packets already take all ports of a NIC"}
	case f.QPs >= f.Ports:
		return Change{Impossible: "connections already have a queue pair per port"}
	}
	c := Change{Says: "a queue pair per port", Set: []string{fmt.Sprintf("transport.qps=%d", f.Ports)}}
	if f.Bond != "affinity" {
		c.Set = append(c.Set, "server.bond=affinity")
	}
	return c
}

package route

import (
	"railyard/entropy"
	"railyard/param"
)

// Entropy leaves the choice to the NICs. They use a new UDP source port for each packet (package entropy), and
// hashing switches send the packet on another path. `rdma perf write --spray` does the same on sockets. Ports are
// used in turn. With set_aside the port of a lost packet is skipped for some time, so a broken link is avoided
// before routing converges.
var Entropy = ofNIC(entropy.Policies()[0])

// ofNIC is a policy of entropy's for switches: they hash.
func ofNIC(p *entropy.Policy) Policy {
	return Policy{
		Name: p.Name, Title: p.Title, Params: p.Params, Defaults: p.Defaults, Check: p.Check, NIC: p,
		Sprays:      func(v param.Values) bool { return entropy.Ports(v) > 1 },
		SourcePorts: entropy.Ports,
		New:         func(_ param.Values, s Site) Chooser { return &ecmp{seed: s.Seed} },
	}
}

// ofNICs are the policies by which NICs choose other than in turn.
func ofNICs() (all []*Policy) {
	for _, p := range entropy.Policies()[1:] {
		of := ofNIC(p)
		all = append(all, &of)
	}
	return all
}

package route

import (
	"strconv"

	"railyard/entropy"
	"railyard/param"
)

// Entropy leaves the choice to the NICs: they take a new UDP source port for each packet (package
// entropy), and switches that hash send it by another path. That is what `rdma write --spray` does
// on sockets. The ports are taken in turn; with set_aside one by which a packet was lost is left
// out for a while, which finds a way round a broken cable before routing does.
var Entropy = Policy{
	Name: "entropy", Title: "source ports varied by the NIC",
	Params: []param.Param{
		{Name: "source_ports", Doc: "UDP source ports that a queue pair takes in turn",
			Kind: param.Count, Min: "1", Max: strconv.Itoa(entropy.Most)},
		{Name: "set_aside", Doc: "packets for which a source port is left out by which one was lost",
			Kind: param.Count, Min: "1", Max: "1000000", Zero: true},
	},
	Defaults: param.Values{"source_ports": 16, "set_aside": 0},
	Sprays:   func(v param.Values) bool { return param.Value[int](v, "source_ports") > 1 },
	SourcePorts: func(v param.Values) int {
		return param.Value[int](v, "source_ports")
	},
	SetAside: func(v param.Values) int { return param.Value[int](v, "set_aside") },
	New:      func(_ param.Values, s Site) Chooser { return &ecmp{seed: s.Seed} },
}

package route

import (
	"strconv"

	"railyard/entropy"
	"railyard/param"
)

// Entropy leaves the choice to the NICs: they take a new UDP source port for each packet (package
// entropy), and switches that hash send it by another path. That is what `rdma write --spray` does
// on sockets. No feedback: the ports are taken in turn whatever becomes of the packets.
var Entropy = Policy{
	Name: "entropy", Title: "source ports varied by the NIC",
	Params: []param.Param{
		{Name: "source_ports", Doc: "UDP source ports that a queue pair takes in turn",
			Kind: param.Count, Min: "1", Max: strconv.Itoa(entropy.Most)},
	},
	Defaults: param.Values{"source_ports": 16},
	Sprays:   func(v param.Values) bool { return param.Value[int](v, "source_ports") > 1 },
	SourcePorts: func(v param.Values) int {
		return param.Value[int](v, "source_ports")
	},
	New: func(_ param.Values, s Site) Chooser { return &ecmp{seed: s.Seed} },
}

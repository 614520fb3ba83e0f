// Package route chooses paths: forwarding tables whose entries are groups of ports, and policies that pick one port
// of a group for a packet.
//
// A [Policy] is a name, parameters with units and ranges, its properties (a flow keeps its path; packets overtake each
// other; its name in switch configurations) and a constructor. registry.go lists them, one file each: ECMP with and
// without resilient hashing, flowlets, three kinds of per-packet spraying, port load as one switch sees it (dlb) and
// with its neighbours (glb), entropy chosen by the NIC, structured entropy values, minimal and adaptive routing of
// dragonflies (valiant, ugal, ugal-g) and of tori (dimension order, minimal adaptive). The scenario key lb, its
// options, schema and bounds are made from the registry.
//
// A policy constructs a [Chooser] per switch. Optional interfaces extend it: a [Hasher] has no state, so the fabric
// hashes in place; an [Informed] chooser reads the load grades of neighbours; a [Steerer] selects a region for a packet
// that enters the fabric; under a [Riser] its class rises. [Is] returns a policy's interface. [Port] is the transmit
// side of a port in one 64-byte cache line, and [Table] the forwarding table of 2 bytes per switch and locator.
//
// A Steerer's regions are the groups of a dragonfly or the switches of a torus. Each leg is a route to a locator
// like any other; the class of a packet rises with every region that it enters, which prevents deadlock. ugal-g
// reads queues of other switches: an ideal that hardware does not have.
package route

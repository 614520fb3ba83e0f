// Package route chooses paths. It has forwarding tables whose entries are groups of ports, and policies that pick
// one port of a group for a packet.
//
// A [Policy] has a name, parameters with units and ranges, properties (a flow keeps its path; packets overtake each
// other; its name in switch configurations) and a constructor. registry.go lists the policies, one file each: ECMP
// with and without resilient hashing, flowlets, three kinds of per-packet spraying, port load of one switch (dlb)
// and of its neighbours (glb), entropy chosen by the NIC, structured entropy values, minimal and adaptive routing
// of dragonflies (valiant, ugal, ugal-g) and of tori (dimension order, minimal adaptive). The scenario key lb, its
// options, schema and bounds are made from the registry.
//
// A policy constructs a [Chooser] per switch. Optional interfaces extend it. A [Hasher] has no state, so the fabric
// hashes in place. An [Informed] chooser reads the load grades of neighbours. A [Steerer] selects a region for a
// packet that enters the fabric. With a [Riser] the packet's class rises. [Is] returns a policy's interface. [Port]
// is the transmit side of a port in one 64-byte cache line, and [Table] the forwarding table of 2 bytes per switch
// and locator.
//
// A Steerer's regions are the groups of a dragonfly or the switches of a torus. Each leg is a route to a locator
// like any other. The class of a packet rises with every region that it enters, which prevents deadlock. ugal-g
// reads queues of other switches, which is an ideal that no hardware has.
package route

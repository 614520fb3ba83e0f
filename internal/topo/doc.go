// Package topo describes the shape of a fabric: servers with GPUs and NICs, switches by role, links, and the
// shortest routes over the working links.
//
// [Build] makes a [Graph] from Params, of one of the kinds in Kinds (rail-optimized, fat tree, dragonfly, torus,
// cubes, planes and others). Package site builds described fabrics into an [Explicit] one. A Graph returns the NIC
// of a GPU (Graph.Pair), the servers that share NVLink (Domain), equivalent rails (Graph.Rails), the effect of a
// failure, bisection and oversubscription, and the bill of materials.
//
// Routes are computed per class of twins: destinations whose switches have the same neighbours (twins.go). A Clos
// has one class per pod or plane, and a graph without a pattern one per switch. [Effort] estimates time and memory
// beforehand. Cables between two switches that form one next hop are a [Channel]. On a [Grid] (torus) routes follow
// dimension order, with a second class after the link that closes a ring. Regions of a [Dragonfly] have their own
// destinations for Valiant routing.
//
// Optical circuit switches are not nodes. Each circuit of a map is a link that is up while its map is in force.
// Racks on a floor give cable lengths, lengths give delays ([CableDelay]).
package topo

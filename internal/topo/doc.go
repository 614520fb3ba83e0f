// Package topo describes the shape of a fabric: servers with GPUs and NICs, switches by role, links, and the shortest
// routes over the links that are up.
//
// [Build] makes a [Graph] of one of the kinds that Kinds lists (rail-optimized, fat tree, dragonfly, torus, cubes,
// planes and others) from Params; package site builds described fabrics into an [Explicit] one. A Graph gives the NIC
// of a GPU (Graph.Pair), the servers that share NVLink (Domain), equivalent rails (Graph.Rails), the effect of a
// failure, bisection and oversubscription, and the bill of materials.
//
// Routes are computed per class of twins: destinations whose switches have the same neighbours (twins.go). A Clos
// has one class per pod or plane, a graph without a pattern one per switch; [Effort] counts time and memory before
// they are spent. Cables between two switches that form one next hop are a [Channel]. On a [Grid] (torus) routes
// follow dimension order with a second class behind the link that closes a ring; regions of a [Dragonfly] have
// destinations of their own for Valiant routing.
//
// Optical circuit switches are not nodes: each circuit of a map is a link that is up while its map is in force. Racks
// on a floor give cable lengths, lengths give delays ([CableDelay]).
package topo

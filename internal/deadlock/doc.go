// Package deadlock finds circular buffer dependencies before a run: whether PFC pauses can block each other in a
// circle.
//
// [Find] follows packets to every destination over all their paths. A turn from one link into the next, in the class
// that packets have there, is an edge between two buffers; a circle of edges is a possible deadlock (Hu et al.,
// "Deadlocks in Datacenter Networks", HotNets 2016). In a fabric whose tiers order all turns only one destination
// per class of equivalent ones is followed. [Classes] gives the classes that a packet takes on detours and on a
// torus.
//
// TestAgainstAllPaths compares with every path of random graphs.
package deadlock

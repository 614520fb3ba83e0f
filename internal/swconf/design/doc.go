// Package design decides the contents of a fabric's configurations, independent of vendors' syntax: AS numbers,
// addresses, VLANs, port channels, SRv6 segments, and the far end of every port.
//
// [Make] turns a [Fabric] into a [Design] of switches and hosts; the languages render it. The package also writes the
// files of the whole fabric: cabling list, address plan, containerlab topology, Slurm's topology.conf. A language
// refuses unsupported features with [Refuse]. MLAG pairs get a peer link of two cables that the simulated fabric does
// not have.
package design

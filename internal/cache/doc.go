// Package cache prefetches memory that will be needed soon. It is one instruction of assembly on amd64, and nothing
// elsewhere. In a large fabric no cache holds the egress port, the queue and the connection of a packet's next hop.
// The event queue contains some of them in advance.
package cache

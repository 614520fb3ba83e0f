// Package cache prefetches memory that will be needed soon: one instruction of assembly on amd64, nothing
// elsewhere. In a large fabric no cache holds the egress port, the queue and the connection of a packet's next hop;
// the event queue contains some of them in advance.
package cache

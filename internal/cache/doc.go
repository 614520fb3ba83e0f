// Package cache asks the processor's caches for memory that will be needed soon, and waits for nothing. Of a
// large fabric no cache holds what a packet meets next: its egress port, who waits there, the ends of its
// connection. The queue of events knows some of that in advance.
package cache

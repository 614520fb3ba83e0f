// Package frr parses and renders FRR's frr.conf: interfaces, the BGP underlay, EVPN multihoming, and SRv6 segments
// with static routes. FRR has no QoS; the queues of such a switch are the scenario's.
package frr

// Package panel describes the front panel of a switch: ports, their serial lanes, breakouts, and their names in
// operating systems.
//
// A [Socket] is a cage with lanes, a [Jack] one port or one part of a broken-out port, a [Run] a range of like
// sockets. [Panel] numbers them and names a jack for an operating system (Ethernet1/3/1, Ethernet8, swp3s0).
// [Device] keeps names and lanes that only a device's files contain, as SONiC's port_config.ini does.
package panel

// Package capture writes and reads packet captures (pcapng, pcap) of RoCE traffic. It describes their messages:
// requests, acknowledgements, retransmissions, marks and their CNPs, and for MRC each path.
//
// [File] writes. Simulated packets are encoded as frames when the run ends, real ones when they pass. [NewReader]
// reads captures of any tool. [WiresharkPlugin] returns a dissector of MRC in Lua, made from the list of fields of
// its codec. Packet files are read and written by gopacket/pcapgo.
package capture

// Package nxos parses and renders Cisco NX-OS configuration: classification, queuing, WRED and ECN, network-qos, PFC
// and its watchdog, DLB, LLDP, and the BGP underlay.
//
// [Parse] fills a swconf.Config by the rule tables of this package (qos.go and others); families.go lists commands that
// are irrelevant to the fabric, by the words that may follow. [Render] writes a design. Rendered lines are checked
// against a table of commands with their documents (dialect/testdata/nxos-grammar.txt), not against a switch. kbytes
// are 1000 bytes.
package nxos

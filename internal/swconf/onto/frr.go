package onto

import (
	"slices"
	"strings"
)

// activated adds the fabric's neighbours to IPv4 by name if the device does not activate them by default. It omits
// lines that the device's defaults imply and its output hides.
func activated(run, want []*node) {
	datacenter := find(run, "frr defaults datacenter") != nil
	for _, w := range want {
		r := find(run, w.text)
		if begins(w.text, "router bgp") && datacenter {
			w.kids = slices.DeleteFunc(w.kids, func(k *node) bool { return k.text == "no bgp ebgp-requires-policy" })
		}
		if !begins(w.text, "router bgp") || r == nil || find(r.kids, "no bgp default ipv4-unicast") == nil {
			continue
		}
		var lines []*node
		for _, k := range w.kids {
			if f := strings.Fields(k.text); len(f) == 3 && f[0] == "neighbor" && f[2] == "peer-group" {
				lines = append(lines, &node{text: "neighbor " + f[1] + " activate"})
			}
		}
		for _, family := range w.kids {
			if begins(family.text, "address-family ipv4 unicast") {
				family.kids = append(lines, family.kids...)
			}
		}
	}
}

// frr is FRR (its user guide: zebra, BGP). Ports' queues are the kernel's matter.
var frr = grammar{
	indent: " ",
	single: slices.Concat(
		at("", "hostname"),
		at("interface", "description; shutdown; ip address (first alone)"),
		at("router bgp", `bgp router-id; bgp ebgp-requires-policy; neighbor * remote-as; neighbor * timers;
			neighbor * advertisement-interval`),
		at("router bgp/address-family", "maximum-paths; redistribute connected (first)"),
	),
	numbers: []string{"router bgp"},
	// these defaults belong to the rest of the configuration; the fabric's lines are explicit
	management: []string{"frr defaults", "service integrated-vtysh-config", "interface eth0",
		"interface mgmt", "vrf mgmt", "line", "password", "enable"},
	outOfBand: "interface eth*",
	risky:     []string{"ip address", "shutdown"},
	effects:   frrEffects,
	adapt:     activated,
	exit: func(section string) string {
		if begins(section, "address-family") {
			return "exit-address-family"
		}
		return "exit"
	},
	enter: []string{"configure terminal"},
	leave: []string{"end"},
}

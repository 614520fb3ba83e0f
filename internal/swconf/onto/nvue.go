package onto

import (
	"slices"
	"strings"
)

// nvue is NVIDIA's Cumulus Linux as nv config show -o commands prints it (its user guide).
// Each line sets one leaf, but for lists: addresses, VLANs, priorities of a profile.
var nvue = grammar{
	every: "nv set", printed: "nv config show -o commands",
	leaf:    nvueLeaf,
	undo:    nvueUndo,
	numbers: []string{"nv set router bgp autonomous-system", "nv set vrf * router bgp autonomous-system"},
	management: []string{"nv set system hostname", "nv set interface eth0", "nv set vrf mgmt",
		"nv set system aaa", "nv set system api", "nv set system ssh-server"},
	bears:     at("", "nv set interface * acl"),
	outOfBand: "nv set interface eth0 ip address",
	risky: []string{"nv * interface * ip address", "nv * interface * ip vrf", "nv * interface * bridge",
		"nv * interface * bond", "nv set interface * link state down", "nv set interface * link speed"},
	effects: nvueEffects,
	remark:  "#", // commands are typed into a shell, where ! has another meaning
	leave:   []string{"nv config apply"},
}

// nvueUndo returns the unset command for a line: for a leaf without its value, for a list entry with it. For all of
// a port's bridge, or of RoCE's defaults, it is one command.
func nvueUndo(line string) string {
	words, at := strings.Fields(line), line
	switch c := nvueLeaf(line); {
	case len(words) > 6 && words[2] == "interface" && words[4] == "bridge" && words[5] == "domain":
		at = strings.Join(words[:7], " ")
	case len(words) > 3 && words[2] == "qos" && words[3] == "roce":
		at = strings.Join(words[:4], " ")
	case c != nil:
		at = c.words
	}
	return "nv unset" + strings.TrimPrefix(at, "nv set")
}

// lists are keywords that can have several values at once.
var lists = []string{"address", "vlan", "switch-priority", "member", "neighbor", "peer-group"}

// nvueLeaf returns the path that a line sets: all of it but the value.
func nvueLeaf(line string) *command {
	words := strings.Fields(line)
	if at := strings.IndexAny(line, "'\""); at >= 0 {
		words = append(strings.Fields(line[:at]), line[at:])
	}
	n := len(words)
	if n < 4 {
		return nil
	}
	c := &command{words: strings.Join(words[:n-1], " "), leaf: true}
	if n == 4 { // nv set qos roce
		c.words = line
	}
	if words[2] == "interface" {
		c.of = words[3]
	}
	at := ""
	if words[2] == "interface" && n > 6 {
		at = words[4] + " " + words[5]
	}
	if words[2] == "qos" && n > 5 {
		c.of = words[4] // a key of the same name
	}
	c.alone = words[2] == "qos" && (words[3] == "roce" || n > 5) ||
		words[2] == "interface" && n > 4 && words[4] == "qos" ||
		slices.Contains([]string{"bridge domain", "ip vrf", "evpn multihoming", "bond mlag"}, at)
	list := slices.Contains(lists, words[n-2]) && !(words[n-2] == "switch-priority" && slices.Contains(words, "dscp"))
	switch {
	case at == "bond member": // a member of another interface whose ports the fabric configures
		c.alone, c.of, c.words = true, words[n-1], line
	case list && words[n-2] == "address" && words[2] == "interface":
		// the fabric's addresses replace the port's; the one loopback also belongs to tunnels and others
		c.alone = words[3] != "lo"
		c.words = line
	case list:
		c.words = line
	}
	return c
}

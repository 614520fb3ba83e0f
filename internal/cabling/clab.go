package cabling

import (
	"regexp"
	"strings"
)

var clabMark = regexp.MustCompile(`(?m)^topology:\s*$`)

func looksClab(_, text string) bool {
	return clabMark.MatchString(text) && (strings.Contains(text, "links:") || strings.Contains(text, "nodes:"))
}

// clabSwitches are containerlab's kinds of switches; linux, and bridge, may be any kind of device.
var clabSwitches = regexp.MustCompile(`^(vr-|cisco_|nokia_|juniper_|arista_|sonic|ceos|srl|crpd|xrd|` +
	`cumulus|dell_|aruba|huawei_|mikrotik|cvx|ovs-bridge|bridge$)`)

// readClab reads a containerlab topology. It has no rates and no lengths. linux nodes are servers unless their name
// or their files show that they route.
func readClab(b *builder, text string) error {
	root, err := parseTree(text)
	if err != nil {
		return err
	}
	top := root.get("topology")
	if top.kind != mapping {
		return top.fail("topology is %v, expected a mapping with nodes and links", top.kind)
	}
	def := top.get("defaults", "kind").text
	for _, k := range top.get("nodes").keys {
		n := b.node(b.where(k.at), k.name)
		kind := k.val.get("kind").text
		if kind == "" {
			kind = def
		}
		guess, role := kindOf(k.name)
		if kind != "linux" && clabSwitches.MatchString(kind) || strings.Contains(k.val.get("image").text, "frr") {
			guess = Switch
		} else if guess == Unknown && kind == "linux" {
			guess = Server
		}
		b.is(n, guess, role)
	}
	links := top.get("links")
	for _, l := range links.items {
		ends := l.get("endpoints")
		if ends.kind == scalar && l.has("type") {
			ends = l.get("endpoint")
		}
		if len(ends.items) != 2 {
			if l.has("type") {
				b.note(b.where(l), "a link of type %s ends at the lab's host: left out", l.get("type").text)
				continue
			}
			return ends.fail("a link has %d endpoints, expected two like \"leaf-1:eth3\"", len(ends.items))
		}
		a, err := b.clabEnd(ends.items[0])
		if err != nil {
			return err
		}
		z, err := b.clabEnd(ends.items[1])
		if err != nil {
			return err
		}
		if l.get("labels", "purpose").text == "peer link" {
			b.note(b.where(l), peerLinks)
		} else if a.Node >= 0 && z.Node >= 0 {
			b.cable(Cable{A: a, B: z, At: b.where(l)})
		}
	}
	b.note(Place{File: b.file}, "containerlab files have no rates, lengths or GPUs")
	return nil
}

// clabEnd parses node:interface, or a mapping of both; -1 is the lab's host.
func (b *builder) clabEnd(t *tree) (End, error) {
	name, port, ok := strings.Cut(t.text, ":")
	if t.kind == mapping {
		name, port, ok = t.get("node").text, t.get("interface").text, true
	}
	if !ok || name == "" || port == "" {
		return End{}, t.fail("%q is not an endpoint, expected node:interface like \"leaf-1:eth3\"", t.text)
	}
	switch name {
	case "host", "mgmt-net", "macvlan":
		b.note(b.where(t), "a link to %s ends at the lab's host: left out", name)
		return End{Node: -1}, nil
	}
	if _, known := b.c.byName[name]; !known {
		return End{}, t.fail("%q is not among the nodes", name)
	}
	return End{b.node(b.where(t), name), port}, nil
}

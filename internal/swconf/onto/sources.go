package onto

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// speaks are words before an interface whose address is the device's source address: to authentication servers,
// collectors, neighbours and tunnel ends.
var speaks = []string{"source-interface", "local-interface", "update-source"}

// sources refuses to remove the address of an interface that is a source address.
func (x *merger) sources() error {
	for _, s := range x.Steps {
		if len(s.Path) == 0 || s.Was == "" || !begins(s.Was, "ip address") {
			continue
		}
		name, ok := strings.CutPrefix(s.Path[0], "interface ")
		if !ok {
			continue
		}
		if by := speaker(x.all, name); by != nil {
			return &Refused{x.file, by.line, fmt.Sprintf("(%s) speaks from %s, which would lose its %s (line %d): clients of that address are isolated; give %s another source, or confirm another access with --in-band", by.text, name, s.Was, s.Line, by.text)}
		}
	}
	return nil
}

// speaker finds the line that uses an interface as source.
func speaker(nodes []*node, name string) *node {
	for _, n := range nodes {
		words := strings.Fields(strings.ToLower(n.text))
		at := slices.IndexFunc(words, func(w string) bool { return slices.Contains(speaks, w) })
		if at >= 0 && slices.Contains(words[at+1:], strings.ToLower(name)) && words[0] != "no" {
			return n
		}
		if found := speaker(n.kids, name); found != nil {
			return found
		}
	}
	return nil
}

// orphans remarks neighbours and next hops of the device that lose their subnet.
func (x *merger) orphans() {
	told := map[string]bool{}
	for _, s := range x.Steps {
		address, ok := strings.CutPrefix(s.Was, "ip address ")
		subnet, err := netip.ParsePrefix(address)
		if !ok || err != nil || len(s.Path) == 0 || subnet.Bits() == 32 {
			continue
		}
		x.within(x.all, subnet.Masked(), func(n *node) {
			if about := strings.Join(strings.Fields(n.text)[:2], " "); begins(n.text, "neighbor") {
				if told[about] {
					return // one of the lines suffices
				}
				told[about] = true
			}
			x.remark(n.line, "%q loses its path: %s of %s is removed (line %d)", n.text, address,
				strings.TrimPrefix(s.Path[0], "interface "), s.Line)
		})
	}
}

// within finds lines about a neighbour or a route through an address in a subnet.
func (x *merger) within(nodes []*node, subnet netip.Prefix, found func(*node)) {
	for _, n := range nodes {
		words := strings.Fields(n.text)
		if begins(n.text, "neighbor") && len(words) > 1 {
			words = words[1:2]
		} else if !begins(n.text, "ip route") {
			words = nil
		}
		for _, w := range words {
			if a, err := netip.ParseAddr(w); err == nil && subnet.Contains(a) && !x.typed(n.text) {
				found(n)
				break
			}
		}
		x.within(n.kids, subnet, found)
	}
}

// typed reports whether the fabric has a line, too.
func (x *merger) typed(line string) bool {
	return x.ours[line] || slices.ContainsFunc(x.Steps, func(s Step) bool { return s.Text == line })
}

package onto

import (
	"fmt"
	"slices"
	"strings"
)

// reached returns the ports over which the device may be managed by its current configuration, with the line that
// shows it. It returns none if there is a management port.
func (x *merger) reached(run []*node) map[string]int {
	out := map[string]int{}
	bridged := slices.ContainsFunc(run, func(r *node) bool { // a VLAN has an address, on any ports
		return begins(r.text, "interface Vlan*") && addressed(r)
	})
	for _, r := range run {
		if x.g.leaf != nil {
			words := strings.Fields(r.text)
			switch {
			case begins(r.text, x.g.outOfBand):
				return nil
			case len(words) > 5 && words[2] == "interface" && words[3] != "lo" &&
				(words[4] == "ip" && words[5] == "address" || words[4] == "bridge"):
				out[words[3]] = r.line
			}
			continue
		}
		has := addressed(r)
		if has && begins(r.text, x.g.outOfBand) && find(r.kids, "shutdown") == nil {
			return nil
		}
		if has || bridged && begins(r.text, "interface Ethernet*") ||
			slices.ContainsFunc(r.kids, func(k *node) bool { return begins(k.text, "switchport") }) {
			out[strings.TrimPrefix(r.text, "interface ")] = r.line
		}
	}
	return out
}

func addressed(r *node) bool {
	return slices.ContainsFunc(r.kids, func(k *node) bool {
		return begins(k.text, "ip address") || begins(k.text, "ipv6 address")
	})
}

// port is the one that a step is about, or "".
func (x *merger) port(s Step) string {
	if words := strings.Fields(s.Text); x.g.leaf != nil && len(words) > 3 && words[2] == "interface" {
		return words[3]
	}
	if len(s.Path) == 0 {
		return ""
	}
	return strings.TrimPrefix(s.Path[0], "interface ")
}

// reachable refuses steps at ports over which the device may be managed.
func (x *merger) reachable(reached map[string]int) error {
	for _, s := range x.Steps {
		routes := len(s.Path) > 0 && begins(s.Path[0], "router bgp") || strings.Contains(s.Text, "router bgp")
		if len(reached) > 0 && routes && s.Was != "" {
			return &Refused{x.file, s.Line, fmt.Sprintf("%q would take the place of %q, and the configuration has no address at %s: if the path to the device is learned by BGP it is unreachable while that changes; --in-band confirms another access, such as a console", s.Text, s.Was, x.own())}
		}
		line, there := reached[x.port(s)]
		if there && slices.ContainsFunc(x.g.risky, func(w string) bool { return begins(s.Text, w) }) {
			return &Refused{x.file, line, fmt.Sprintf("%s would get %q, and the configuration has no address at %s: if the device is managed over this port it is unreachable afterwards; --in-band confirms another access, such as a console", x.port(s), s.Text, x.own())}
		}
	}
	return nil
}

// own is the management interface.
func (x *merger) own() string {
	if x.g.leaf != nil {
		return strings.Fields(x.g.outOfBand)[3]
	}
	return strings.TrimSuffix(strings.TrimPrefix(x.g.outOfBand, "interface "), "*")
}

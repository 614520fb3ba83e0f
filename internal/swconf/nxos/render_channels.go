package nxos

import (
	"fmt"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/unit"
)

// ingress writes the policies that pause: that of most ports, and one for each other headroom.
func (w *writer) ingress() {
	spec, seen := &w.S.Spec, map[string]bool{}
	if spec.LosslessMask() == 0 {
		return
	}
	w.ingressPolicy(ingressAll, w.S.Most())
	for _, p := range w.S.Ports {
		room := p.Headroom
		if list := w.members(p); list != nil {
			room = roomOf(list)
		}
		if name := w.ingressName(room); !seen[name] && name != ingressAll {
			seen[name] = true
			w.ingressPolicy(name, room)
		}
	}
}

// ingressAll is the policy that system qos names.
const ingressAll = "INGRESS"

// ingressName returns a port's or channel's policy: by its headroom if that is not most ports'.
func (w *writer) ingressName(headroom [queue.Classes]unit.Bytes) string {
	name, most := ingressAll, w.S.Most()
	for i, h := range headroom {
		if h != most[i] {
			name += fmt.Sprintf("-%d-%d", i, h)
		}
	}
	return name
}

func (w *writer) ingressPolicy(name string, headroom [queue.Classes]unit.Bytes) {
	spec := &w.S.Spec
	w.Line(0, "policy-map type queuing %s", name)
	for i := range spec.Queues {
		k := &spec.Queues[i]
		if !k.Lossless {
			continue
		}
		w.Line(1, "class type queuing c-in-q%s", suffix(i))
		if k.XOff > 0 {
			w.Line(2, "pause buffer-size %d pause-threshold %d resume-threshold %d pfc-cos %d",
				k.XOff+headroom[i], k.XOff, k.Resume(k.XOff, spec.MTU), i)
		} else {
			n, _ := exponent(k.Alpha)
			w.Line(2, "queue-limit dynamic %d", n)
		}
	}
}

// bundled writes a port channel's settings for its members. They are policies, which have no effect at members, and
// settings that must be equal at both for a port to be bundled (Cisco, Configuring Port Channels: compatibility
// requirements).
func (w *writer) bundled(ports []*design.Port) {
	w.Line(1, "mtu %d", w.S.Spec.MTU)
	if len(ports) > 0 {
		w.Line(1, "speed %d", ports[0].Rate/unit.Mbps)
		w.policies(roomOf(ports))
	}
}

// policies writes the policies of a port or channel with the given headroom.
func (w *writer) policies(headroom [queue.Classes]unit.Bytes) {
	w.Line(1, "service-policy type qos input CLASSIFY")
	if name := w.ingressName(headroom); name != ingressAll {
		w.Line(1, "service-policy type queuing input %s", name)
	}
}

// members returns the ports of a port's channel, nil if it is in none.
func (w *writer) members(p *design.Port) (list []*design.Port) {
	if p.Channel == 0 {
		return nil
	}
	for _, q := range w.S.Ports {
		if q.Channel == p.Channel {
			list = append(list, q)
		}
	}
	return list
}

// roomOf returns the headroom that is sufficient for each of several ports.
func roomOf(ports []*design.Port) (most [queue.Classes]unit.Bytes) {
	for _, p := range ports {
		for i, h := range p.Headroom {
			most[i] = max(most[i], h)
		}
	}
	return most
}

// trunk writes a layer 3 port channel.
func (w *writer) trunk(t *design.Trunk) {
	w.Line(0, "interface %s", t.Name(swconf.NXOS))
	w.Line(1, "description %s", t.Description(swconf.NXOS))
	w.Line(1, "no switchport")
	w.bundled(t.Ports)
	if t.Least > 1 {
		w.Line(1, "lacp min-links %d", t.Least)
	}
	if t.Addr.IsValid() {
		w.Line(1, "ip address %v", t.Addr)
	} else {
		w.Line(1, "ip forward")
		w.Line(1, "ipv6 address use-link-local-only")
	}
	w.watched()
	w.Line(1, "no shutdown")
}

// watched makes EVPN shut down a pair's Ethernet segments when no uplink is left.
func (w *writer) watched() {
	if w.D.EVPN() && w.S.Peer != nil {
		w.Line(1, "evpn multihoming core-tracking")
	}
}

// dotted writes a MAC address as 0200.0001.0002.
func dotted(mac string) string {
	s := strings.ReplaceAll(mac, ":", "")
	return s[:4] + "." + s[4:8] + "." + s[8:]
}

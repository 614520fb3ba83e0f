package nvue

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/unit"
)

type writer struct{ design.Writer }

// set writes one command.
func (w *writer) set(format string, args ...any) { w.Line(0, "nv set "+format, args...) }

// Render writes a switch's commands, in the words of Cumulus Linux 5.6 to 5.14.
func Render(d *design.Design, s *design.Switch) ([]design.File, error) {
	if err := sayable(d, s); err != nil {
		return nil, err
	}
	w := &writer{design.Writer{D: d, S: s}}
	w.Line(0, "# %s, %s switch of %s; written by railyard config render", s.Name, s.Role, d.Name)
	w.Line(0, "# for Cumulus Linux 5.6 to 5.14; nv config apply makes it count")
	w.set("system hostname %s", s.Name)
	w.set("system forwarding hash-seed %d", s.Seed)
	w.classes()
	w.buffers()
	w.interfaces()
	w.bridge()
	w.pair()
	w.bgp()
	return []design.File{{Path: s.Name + "/nvue.txt", Text: w.String()}}, nil
}

// sayable refuses settings that the commands cannot express.
func sayable(d *design.Design, s *design.Switch) error {
	refuse := func(format string, args ...any) error { return design.Refuse(swconf.NVUE, s, format, args...) }
	spec := &s.Spec
	if spec.TrimMask() != 0 {
		return refuse("packet trimming (switch.queues.*.trim), which is written for SONiC only")
	}
	if err := s.Unsayable(swconf.NVUE); err != nil {
		return err
	}
	if spec.MTU < 552 || spec.MTU > 9216 {
		return refuse("an MTU of %d; 552 to 9216 are accepted (switch.mtu)", spec.MTU)
	}
	if _, ok := d.Balanced(); ok && s.Routed() && len(s.Trunks) > 0 {
		return refuse("adaptive routing over port channels (lb and lag), which Cumulus Linux takes on ports only")
	}
	for _, t := range s.Trunks {
		if t.Least > 1 {
			return refuse("a port channel that is down with fewer than %d members (lag), for which NVUE has no command", t.Least)
		}
	}
	if w := spec.Watchdog; w.On {
		switch {
		case w.Poll%unit.Millisecond != 0 || w.Poll < 100*unit.Millisecond || w.Poll > 5*unit.Second:
			return refuse("a watchdog that polls every %v; 100ms to 5s, in milliseconds, are accepted (switch.watchdog.poll)", w.Poll)
		case w.Detect%w.Poll != 0 || w.Detect < w.Poll || w.Detect > 1000*w.Poll:
			return refuse("a watchdog that detects in %v; 1 to 1000 times its polling interval of %v are accepted (switch.watchdog.detect)",
				w.Detect, w.Poll)
		case w.Restore != w.Poll:
			return refuse("a watchdog that restores after %v; its polling interval, %v, is accepted (switch.watchdog.restore, or the recovery time in switches.config)",
				w.Restore, w.Poll)
		case w.Forward:
			return refuse("a watchdog that forwards (switch.watchdog.action); Cumulus Linux drops")
		}
	}
	first := -1
	for i := range spec.Queues {
		k := &spec.Queues[i]
		if p := k.WRED.Probability.Percent(); k.WRED.Max > 0 && (math.Abs(p-math.Round(p)) > 1e-9 || p < 1) {
			return refuse("queue %d: a mark probability of %g %%; whole percents from 1 are accepted", i, p)
		}
		if k.WRED.Weight > 0 {
			return refuse("queue %d: WRED averages with weight %d; no averaging weight is known", i, k.WRED.Weight)
		}
		if alphaWord(k.Alpha) == "" && (!k.Lossless && k.Limit == 0 || k.Lossless && k.XOff == 0) {
			return refuse("queue %d: alpha %g; 0, powers of two from 1/128 to 64 are accepted", i, k.Alpha)
		}
		if !k.Lossless {
			continue
		}
		if k.XOff == 0 && k.XOnOffset > 0 {
			return refuse("queue %d: an offset of %v below a dynamic threshold; none is accepted", i, k.XOnOffset)
		}
		if first < 0 {
			first = i
		} else if o := &spec.Queues[first]; o.XOff != k.XOff || o.XOn != k.XOn || o.Headroom != k.Headroom ||
			o.Alpha != k.Alpha {
			return refuse("queues %d and %d have other pause thresholds each; one PFC profile has them for all priorities", first, i)
		}
	}
	return nil
}

// alphaWord returns a share in NVUE's notation, "" if it has none.
func alphaWord(a float64) string {
	switch {
	case a == 0:
		return "alpha_0"
	case a >= 1 && a <= 64 && a == math.Exp2(math.Round(math.Log2(a))):
		return fmt.Sprintf("alpha_%.0f", a)
	case a >= 1./128 && a < 1 && 1/a == math.Exp2(math.Round(math.Log2(1/a))):
		return fmt.Sprintf("alpha_1_%.0f", 1/a)
	}
	return ""
}

// list writes numbers with commas.
func list(n []int) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(n), " ", ","), "[]") }

func (w *writer) classes() {
	spec := &w.S.Spec
	w.set("qos mapping %s trust l3", global)
	for i := range queue.Classes {
		var dscps []int
		for d, q := range spec.DSCP {
			if int(q) == i {
				dscps = append(dscps, d)
			}
		}
		if len(dscps) > 0 {
			w.set("qos mapping %s dscp %s switch-priority %d", global, list(dscps), i)
		}
		w.set("qos egress-queue-mapping %s switch-priority %d traffic-class %d", global, i, i)
	}
	for i := range spec.Queues {
		k := &spec.Queues[i]
		if k.Strict {
			w.set("qos egress-scheduler %s traffic-class %d mode strict", global, i)
		} else {
			w.set("qos egress-scheduler %s traffic-class %d mode dwrr", global, i)
		}
		if !k.Strict && k.Weight > 0 {
			w.set("qos egress-scheduler %s traffic-class %d bw-percent %d", global, i, k.Weight)
		}
	}
	for i := range spec.Queues {
		w.marks(i)
	}
}

// marks writes a queue's ECN; traffic class 0 has some by default.
func (w *writer) marks(i int) {
	r := &w.S.Spec.Queues[i].WRED
	class := fmt.Sprintf("qos congestion-control %s traffic-class %d ", global, i)
	if r.Max == 0 {
		if i == known.Int("ecn_queue") {
			w.set("%secn disable", class)
		}
		return
	}
	w.set("%smin-threshold %d", class, r.Min)
	w.set("%smax-threshold %d", class, r.Max)
	w.set("%sprobability %.0f", class, r.Probability.Percent())
	if r.ECN {
		w.set("%secn enable", class)
	} else {
		w.set("%secn disable", class)
		w.set("%sred enable", class)
	}
}

func (w *writer) buffers() {
	spec := &w.S.Spec
	var lossless, lossy []int
	for i := range spec.Queues {
		if spec.Queues[i].Lossless {
			lossless = append(lossless, i)
		} else {
			lossy = append(lossy, i)
		}
	}
	const buffer = "qos advance-buffer-config " + global
	for _, i := range lossy {
		if k := &spec.Queues[i]; k.Limit > 0 {
			w.set(buffer+" egress-lossy-buffer traffic-class %d shared-bytes %d", i, k.Limit)
		} else {
			w.set(buffer+" egress-lossy-buffer traffic-class %d shared-alpha %s", i, alphaWord(k.Alpha))
		}
	}
	if wd := spec.Watchdog; wd.On {
		w.set("qos pfc-watchdog polling-interval %d", wd.Poll/unit.Millisecond)
		w.set("qos pfc-watchdog robustness %d", wd.Detect/wd.Poll)
	}
	if len(lossless) == 0 {
		return
	}
	w.set("qos traffic-pool default-lossless memory-percent 50")
	w.set("qos traffic-pool default-lossy memory-percent 50")
	w.set("qos traffic-pool default-lossless switch-priority %s", list(lossless))
	if len(lossy) > 0 {
		w.set("qos traffic-pool default-lossy switch-priority %s", list(lossy))
	}
	if k := &spec.Queues[lossless[0]]; k.XOff == 0 {
		w.set(buffer+" ingress-lossless-buffer shared-alpha %s", alphaWord(k.Alpha))
	}
	w.pfcProfile(global, lossless, w.S.Most())
	seen := []string{global}
	for _, p := range w.S.Ports {
		if name := w.pfcName(p); !slices.Contains(seen, name) {
			seen = append(seen, name)
			w.pfcProfile(name, lossless, p.Headroom)
		}
	}
}

// pfcName returns a port's profile: by its headroom if that is not most ports'.
func (w *writer) pfcName(p *design.Port) string {
	most := w.S.Most()
	for i, h := range p.Headroom {
		if h != most[i] && w.S.Spec.Queues[i].Lossless {
			return fmt.Sprintf("headroom-%d", h)
		}
	}
	return global
}

func (w *writer) pfcProfile(name string, lossless []int, headroom [queue.Classes]unit.Bytes) {
	k := &w.S.Spec.Queues[lossless[0]]
	w.set("qos pfc %s switch-priority %s", name, list(lossless))
	w.set("qos pfc %s tx enable", name)
	w.set("qos pfc %s rx enable", name)
	if k.XOff > 0 {
		w.set("qos pfc %s xoff-threshold %d", name, k.XOff)
	}
	if k.XOff > 0 { // bytes below xOFF
		w.set("qos pfc %s xon-threshold %d", name, k.XOff-k.Resume(k.XOff, w.S.Spec.MTU))
	} else if k.XOnOffset > 0 {
		w.set("qos pfc %s xon-threshold %d", name, k.XOnOffset)
	}
	if room := k.XOff + headroom[lossless[0]]; room > 0 {
		w.set("qos pfc %s port-buffer %d", name, room)
	}
}

func (w *writer) interfaces() {
	w.set("interface lo ip address %v/32", w.S.RouterID)
	broken := map[int32]bool{}
	for _, p := range w.S.Ports {
		if p.Jack.Parts > 1 && !broken[p.Jack.Port] {
			broken[p.Jack.Port] = true
			w.set("interface swp%d link breakout %dx", p.Jack.Port, p.Jack.Parts)
		}
		w.port(p)
	}
	for _, t := range w.S.Trunks {
		name := t.Name(swconf.NVUE)
		w.set("interface %s description '%s'", name, t.Description(swconf.NVUE))
		for _, p := range t.Ports {
			w.set("interface %s bond member %s", name, p.Name)
		}
		w.set("interface %s link mtu %d", name, w.S.Spec.MTU)
		if t.Addr.IsValid() {
			w.set("interface %s ip address %v", name, t.Addr)
		}
	}
	if _, ok := w.D.Balanced(); ok && w.S.Routed() {
		w.set("router adaptive-routing enable on")
		for _, p := range w.S.Neighbors() {
			w.set("interface %s router adaptive-routing enable on", p.Name)
		}
	}
}

func (w *writer) port(p *design.Port) {
	set := func(format string, args ...any) { w.set("interface "+p.Name+" "+format, args...) }
	set("description '%s'", p.Description())
	set("link mtu %d", w.S.Spec.MTU)
	set("link speed %dG", p.Rate/unit.Gbps)
	set("link state up")
	if w.S.Spec.LosslessMask() != 0 {
		if name := w.pfcName(p); name != global {
			set("qos pfc profile %s", name)
		}
		if w.S.Spec.Watchdog.On {
			set("qos pfc-watchdog state enable")
		}
	}
	switch {
	case p.Addr.IsValid():
		set("ip address %v", p.Addr)
	case p.VLAN != nil && p.Channel == 0:
		set("bridge domain br_default access %d", p.VLAN.ID)
	}
}

// bridge writes VLANs, their gateways, and the bonds of servers.
func (w *writer) bridge() {
	s, evpn := w.S, w.D.EVPN()
	for _, v := range s.VLANs {
		w.set("bridge domain br_default vlan %d", v.ID)
		if evpn && s.Peer != nil {
			w.set("bridge domain br_default vlan %d vni %d", v.ID, v.VNI)
		}
		if !v.Gateway.IsValid() {
			continue
		}
		svi := fmt.Sprintf("interface vlan%d ", v.ID)
		w.set("%slink mtu %d", svi, s.Spec.MTU)
		w.set("%sip address %v/%d", svi, v.Own[s], v.Subnet.Bits())
		if s.Peer != nil {
			w.set("%sip vrr address %v/%d", svi, v.Gateway, v.Subnet.Bits())
			w.set("%sip vrr mac-address 00:00:5e:00:01:01", svi)
			w.set("%sip vrr state up", svi)
		}
	}
	for _, c := range s.Channels() {
		name := design.ChannelName(swconf.NVUE, c.Channel)
		w.set("interface %s description '%s %s'", name, c.FarName, c.VLAN.Name)
		for _, p := range s.Ports {
			if p.Channel == c.Channel && p.Kind == design.ToHost {
				w.set("interface %s bond member %s", name, p.Name)
			}
		}
		w.set("interface %s bridge domain br_default access %d", name, c.VLAN.ID)
		switch {
		case evpn && s.Peer != nil:
			w.set("interface %s evpn multihoming segment enable on", name)
			w.set("interface %s evpn multihoming segment local-id %d", name, c.Channel)
			w.set("interface %s evpn multihoming segment mac-address %s", name, s.ESIMAC(c.Channel))
		case s.Peer != nil:
			w.set("interface %s bond mlag id %d", name, c.Channel)
		}
	}
}

func (w *writer) pair() {
	s := w.S
	switch {
	case s.Peer == nil:
	case w.D.EVPN():
		w.set("nve vxlan enable on")
		w.set("nve vxlan source address %v", s.RouterID)
		w.set("evpn enable on")
		w.set("evpn multihoming enable on")
		for _, p := range s.Neighbors() {
			w.set("interface %s evpn multihoming uplink on", p.Name)
		}
	default:
		for _, p := range s.PeerPorts() {
			w.set("interface peerlink bond member %s", p.Name)
		}
		w.set("interface peerlink description 'peer link to %s'", s.Peer.Name)
		w.set("mlag enable on")
		w.set("mlag mac-address 44:38:39:ff:%02x:%02x", s.PairID>>8&255, s.PairID&255)
		w.set("mlag backup %v", s.Peer.RouterID)
		w.set("mlag peer-ip linklocal")
	}
}

func (w *writer) bgp() {
	s, evpn := w.S, w.D.EVPN()
	if !s.Routed() {
		return
	}
	w.set("router bgp enable on")
	w.set("router bgp autonomous-system %d", s.ASN)
	w.set("router bgp router-id %v", s.RouterID)
	const bgp, group = "vrf default router bgp ", "vrf default router bgp peer-group FABRIC "
	w.set(bgp + "path-selection multipath aspath-ignore on")
	w.set(bgp + "address-family ipv4-unicast enable on")
	w.set(bgp + "address-family ipv4-unicast multipaths ebgp 64")
	w.set(bgp + "address-family ipv4-unicast redistribute connected enable on")
	w.set(group + "remote-as external")
	if evpn {
		w.set(bgp + "address-family l2vpn-evpn enable on")
		w.set(group + "address-family l2vpn-evpn enable on")
		if s.Peer == nil { // between two pairs: a packet's destination switch stays the pair's choice
			w.set(group + "address-family l2vpn-evpn attribute-mod nexthop off")
		}
	}
	for _, p := range s.Sessions(swconf.NVUE) {
		who, kind := p.Port, "unnumbered"
		if p.Addr.IsValid() {
			who, kind = p.FarAddr.String(), "numbered"
		}
		w.set(bgp+"neighbor %s peer-group FABRIC", who)
		if p.Addr.IsValid() {
			w.set(bgp+"neighbor %s remote-as %d", who, p.Far.ASN)
		}
		w.set(bgp+"neighbor %s type %s", who, kind)
	}
}

package tell

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/unit"
)

// Facts returns the meaning of a configuration, a fact a line, ports in the order of the file: it contains everything
// that lint, show and a simulated switch use.
func Facts(c *swconf.Config) string {
	var s []string
	add := func(format string, args ...any) { s = append(s, fmt.Sprintf(format, args...)) }
	if c.Hostname.Is() {
		add("called %s", c.Hostname.V)
	}
	if c.LLDP.Is() {
		add("LLDP %v", c.LLDP.V)
	}
	for _, b := range c.ByPort {
		add("%s", b.V)
	}
	for _, a := range c.Apart {
		add("not simulated: %s", a.V)
	}
	if w := c.Watchdog; w.On.V {
		add("watchdog: polls every %s, detects in %s, restores after %s, forwards %v", Span(w.Poll.V),
			Span(w.Detect.V), Span(w.Restore.V), w.Forward.V)
	}
	if c.Buffer.Is() {
		add("packet memory of %d", c.Buffer.V)
	}
	if t := c.Trim; t != (swconf.Trim{}) {
		add("trims to %d, DSCP %d, to servers %d, queue %d", t.Size.V, t.DSCP.V, t.LastHop.V, t.Queue.V)
	}
	if c.ASN.Is() {
		add("AS %d", c.ASN.V)
	}
	if c.Shares.V {
		add("shares Ethernet segments")
	}
	if c.VTEP.V {
		add("ends tunnels")
	}
	if c.HashSeed.Is() {
		add("hashes with %s", c.HashSeed.V)
	}
	if c.Hash.Is() {
		add("ECMP hashes %s", c.Hash.V)
	}
	if d := c.DLB; d != nil {
		f := fmt.Sprintf("balances by %s, %v", d.Mode.V, d.Aging.V)
		if d.MAC.Is() {
			f += ", MAC " + d.MAC.V
		}
		if d.All {
			f += ", on all ports"
		}
		for _, p := range d.Ports {
			f += ", on " + p.V
		}
		add("%s", f)
	}
	if c.HwSKU.Is() {
		add("is a %s", c.HwSKU.V)
	}
	if g := c.MLAG; g != nil {
		f := fmt.Sprintf("MLAG domain %s, by %s to %v, link %s", g.Domain.V, g.Local.V, g.Peer.V, g.Link.V)
		if g.Side.Is() {
			f += fmt.Sprintf(", switch %d", g.Side.V)
		}
		if g.Active.Is() {
			f += fmt.Sprintf(", active %v", g.Active.V)
		}
		add("%s", f)
	}
	for _, a := range c.Alike {
		add("%s is %s", a.What, a.V)
	}
	seen := map[*swconf.QoS]string{}
	for i, p := range slices.Concat(c.Ports, c.Bundles, c.Subs) {
		f := fmt.Sprintf("%s is port %d", p.Name, p.Number)
		if i >= len(c.Ports) {
			f = fmt.Sprintf("%s is channel %d", p.Name, p.Number)
		}
		if p.Parent != "" {
			f = fmt.Sprintf("%s is part of %s", p.Name, p.Parent)
		}
		for _, x := range []struct {
			said bool
			what string
		}{{p.Desc.Is(), fmt.Sprintf("%q", p.Desc.V)}, {p.Down.V, "down"},
			{p.MTU.Is(), fmt.Sprintf("MTU %d", p.MTU.V)},
			{p.Speed.Is(), p.Speed.V.String()}, {p.LinkOnly.V, "unnumbered"},
			{p.FEC.Is(), "FEC " + p.FEC.V}, {p.Nego.Is(), fmt.Sprintf("autonegotiation %v", p.Nego.V)},
			{p.VLAN.Is(), fmt.Sprintf("VLAN %d", p.VLAN.V)},
			{p.Channel.Is(), fmt.Sprintf("of channel %d", p.Channel.V)},
			{p.Least.Is(), fmt.Sprintf("at least %d members", p.Least.V)},
			{p.PFC.Is(), "PFC " + p.PFC.V.String()},
			{p.Watchdog.Is(), fmt.Sprintf("watchdog %v", p.Watchdog.V)},
			{p.CableMM.Is(), fmt.Sprintf("%d mm of cable", p.CableMM.V)},
			{p.LLDPOff.V, "without LLDP"}, {p.DCBX.Is(), "DCBX " + p.DCBX.V},
			{p.MLAG.Is(), fmt.Sprintf("MLAG %d", p.MLAG.V)},
			{p.VRF.Is(), "VRF " + p.VRF.V}, {p.Tag.Is(), fmt.Sprintf("tag %d", p.Tag.V)},
			{p.Segment.V, "Ethernet segment"}, {p.ESI.Is(), p.ESI.V}, {p.Core.V, "watched by EVPN"}} {
			if x.said {
				f += ", " + x.what
			}
		}
		for _, a := range p.Addrs {
			f += ", " + a.V.String()
		}
		for _, a := range p.Alike {
			f += ", " + a.What + " " + a.V
		}
		add("%s", f)
		if p.QoS == nil {
			continue
		}
		if like, ok := seen[p.QoS]; ok {
			if treated(p.QoS) != nil {
				add("  as %s", like)
			}
			continue
		}
		seen[p.QoS] = p.Name
		s = append(s, treated(p.QoS)...)
	}
	s = append(s, routes(c.BGP)...)
	for _, l := range c.SRv6.Locators {
		add("locator %s is %v, %d + %d + %d bits", l.Name, l.Prefix, l.Block, l.Node, l.Func)
	}
	for _, sid := range c.SRv6.SIDs {
		add("SID %v of %s: %s, pipe %v", sid.Prefix, sid.Locator, sid.Action, sid.Pipe.V)
	}
	for _, r := range c.Routes {
		add("%v by %s to %v", r.Prefix, r.Port, r.Next)
	}
	for _, i := range c.Idle {
		add("line %d: %s of %s does nothing, %s counts", i.At.Line, i.Text, i.Port.Name, i.By.Name)
	}
	for _, u := range c.Unknown {
		add("line %d is unknown: %s", u.At.Line, u.Why)
	}
	for _, f := range c.Faults {
		add("line %d column %d: %s", f.Line, f.Column, f.Message)
	}
	return strings.Join(s, "\n")
}

// treated returns the treatment of packets.
func treated(q *swconf.QoS) (s []string) {
	for _, p := range []struct {
		how  string
		name swconf.Said[string]
	}{{"classified", q.Input}, {"queued", q.Output}, {"paused and framed", q.Network}} {
		if p.name.V != "" {
			s = append(s, "  "+p.how+" by "+p.name.V)
		}
	}
	if q.Away.Is() {
		s = append(s, "  classified by what another text has, "+strconv.Quote(q.Away.V))
	}
	if q.Lossy.Is() {
		s = append(s, "  lossy on purpose")
	}
	for p, to := range q.Stops {
		if to.Is() && int(to.V) != p {
			s = append(s, fmt.Sprintf("  priority %d stops queue %d", p, to.V))
		}
	}
	if q.Trust.Is() {
		s = append(s, "  trusts "+q.Trust.V.String())
	}
	for i := range q.Queues {
		var dscps [64]uint8
		k, f := &q.Queues[i], ""
		any := false
		for d := range dscps {
			if dscps[d] = 1; q.DSCP[d].Is() && int(q.DSCP[d].V) == i {
				dscps[d], any = 0, true
			}
		}
		if any {
			f += " DSCP " + swconf.DSCPSet(dscps, 0)
		}
		for _, x := range []struct {
			said bool
			what string
		}{{k.Strict.V && k.Strict.Is(), "strict"}, {k.Share.Is(), fmt.Sprintf("%d %%", k.Share.V)},
			{k.WRED.Is() && k.WRED.V.ECN, "marks"}, {k.WRED.Is() && !k.WRED.V.ECN, "drops early"},
			{k.WRED.V.Away != "", "as " + k.WRED.V.Away + " of another text says"},
			{k.WRED.Is() && k.WRED.V.Away == "", fmt.Sprintf("from %d to %d with %g %%, weight %d",
				k.WRED.V.Min, k.WRED.V.Max,
				k.WRED.V.Percent,
				k.WRED.V.Weight)},
			{k.Pause.Is(), fmt.Sprintf("lossless by priority %d", k.Pause.V)},
			{k.PG.Is(), fmt.Sprintf("xOFF %d, xON %d, offset %d, alpha %g, headroom %d", k.PG.V.XOff,
				k.PG.V.XOn, k.PG.V.XOnOffset, k.PG.V.Alpha, k.PG.V.Headroom)},
			{k.Limit.Is(), fmt.Sprintf("limit %d", k.Limit.V)},
			{k.Alpha.Is(), fmt.Sprintf("alpha %g", k.Alpha.V)},
			{k.Trim.V, "trims"}, {k.Sized.Is(), k.Sized.V},
			{k.MTU.Is(), fmt.Sprintf("MTU %d", k.MTU.V)},
			{k.Floor.Is(), "at least " + k.Floor.V},
			{k.WRED.V.MinText+k.WRED.V.MaxText != "", fmt.Sprintf("thresholds %q and %q", k.WRED.V.MinText,
				k.WRED.V.MaxText)},
			{q.COSOf(i) != "", "CoS " + q.COSOf(i)}} {
			if x.said {
				f += ", " + x.what
			}
		}
		if f != "" {
			s = append(s, fmt.Sprintf("  queue %d: %s", i, strings.TrimLeft(f, ", ")))
		}
	}
	return s
}

func routes(b *swconf.BGP) (s []string) {
	if b == nil {
		return nil
	}
	f := fmt.Sprintf("AS %d, %d paths", b.ASN.V, b.MaxPaths.V)
	if b.RouterID.Is() {
		f += ", router " + b.RouterID.V.String()
	}
	if b.Relax.V {
		f += ", relaxed"
	}
	if b.NeedsPolicy && !b.NoPolicy.V {
		f += ", takes nothing without policies"
	}
	if b.Connected.V {
		f += ", announces what is connected"
	}
	for _, n := range b.Networks {
		f += ", announces " + n.V.String()
	}
	if b.NoDefault.V {
		f += ", puts nobody into IPv4 alone"
	}
	if b.Others.V {
		f += ", announces what others know"
	}
	s = append(s, f)
	for _, n := range b.Neighbors {
		f := fmt.Sprintf("neighbour %s in AS %s", n.Name(), n.Remote.V)
		if n.Group.Is() {
			f += " of " + n.Group.V
		}
		if !n.Active {
			f += " inactive"
		}
		if n.Keeps.V {
			f += ", told next hops as they came"
		}
		if n.Overlay {
			f += " for overlays"
		}
		if n.VRF != "" {
			f += " in VRF " + n.VRF
		}
		if n.Local.Is() {
			f += ", told of AS " + n.Local.V
		}
		if n.Down.V {
			f += ", shut down"
		}
		s = append(s, f)
	}
	return s
}

// Table returns the treatment of packets as show prints it: groups of equal ports, their queues from the highest one
// down. Queues without packets and settings are omitted.
func Table(c *swconf.Config) string {
	var s []string
	for _, v := range c.Views() {
		s = append(s, fmt.Sprintf("%d ports, MTU %d, PFC %s", len(v.Ports), v.MTU, v.PFC))
		for _, r := range v.Rows {
			l := fmt.Sprintf("  %d: DSCP %s, %s, ECN %s, PFC %s", r.Group, r.DSCP, r.Schedule, r.ECN, r.PFC)
			if r.COS != "" {
				l += ", CoS " + r.COS
			}
			s = append(s, l)
		}
	}
	return strings.Join(s, "\n")
}

// Span formats a time, or its absence in both configuration and language.
func Span(t unit.Time) string {
	if t == 0 {
		return "a time not in the text"
	}
	return t.String()
}

// Package tell says in words what a switch's configuration says, for the pages that tests of the
// languages keep.
package tell

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/swconf"
)

// Facts is what a configuration says, a fact a line, ports in the order of the text: whoever compares
// it compares everything that lint, show and a simulated switch look at.
func Facts(c *swconf.Config) string {
	var s []string
	add := func(format string, args ...any) { s = append(s, fmt.Sprintf(format, args...)) }
	if c.Hostname.Is() {
		add("called %s", c.Hostname.V)
	}
	if c.LLDP.Is() {
		add("LLDP %v", c.LLDP.V)
	}
	if w := c.Watchdog; w.On.V {
		add("watchdog: polls every %v, detects in %v, restores after %v, forwards %v", w.Poll.V, w.Detect.V,
			w.Restore.V, w.Forward.V)
	}
	if c.Buffer.Is() {
		add("packet memory of %d", c.Buffer.V)
	}
	if t := c.Trim; t != (swconf.Trim{}) {
		add("trims to %d, DSCP %d, to servers %d, queue %d", t.Size.V, t.DSCP.V, t.LastHop.V, t.Queue.V)
	}
	if c.HashSeed.Is() {
		add("hashes with %s", c.HashSeed.V)
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
	seen := map[*swconf.QoS]string{}
	for i, p := range slices.Concat(c.Ports, c.Bundles) {
		f := fmt.Sprintf("%s is port %d", p.Name, p.Number)
		if i >= len(c.Ports) {
			f = fmt.Sprintf("%s is channel %d", p.Name, p.Number)
		}
		for _, x := range []struct {
			said bool
			what string
		}{{p.Desc.Is(), fmt.Sprintf("%q", p.Desc.V)}, {p.Down.V, "down"},
			{p.MTU.Is(), fmt.Sprintf("MTU %d", p.MTU.V)},
			{p.Speed.Is(), p.Speed.V.String()}, {p.LinkOnly.V, "unnumbered"},
			{p.VLAN.Is(), fmt.Sprintf("VLAN %d", p.VLAN.V)},
			{p.Channel.Is(), fmt.Sprintf("of channel %d", p.Channel.V)},
			{p.Least.Is(), fmt.Sprintf("at least %d members", p.Least.V)},
			{p.PFC.Is(), "PFC " + p.PFC.V.String()},
			{p.Watchdog.Is(), fmt.Sprintf("watchdog %v", p.Watchdog.V)},
			{p.CableMM.Is(), fmt.Sprintf("%d mm of cable", p.CableMM.V)},
			{p.LLDPOff.V, "without LLDP"}, {p.DCBX.Is(), "DCBX " + p.DCBX.V}} {
			if x.said {
				f += ", " + x.what
			}
		}
		for _, a := range p.Addrs {
			f += ", " + a.V.String()
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
	for _, u := range c.Unknown {
		add("line %d is unknown: %s", u.At.Line, u.Why)
	}
	for _, f := range c.Faults {
		add("line %d column %d: %s", f.Line, f.Column, f.Message)
	}
	return strings.Join(s, "\n")
}

// treated is what happens to packets.
func treated(q *swconf.QoS) (s []string) {
	for _, p := range []struct {
		how  string
		name swconf.Said[string]
	}{{"classified", q.Input}, {"queued", q.Output}, {"paused and framed", q.Network}} {
		if p.name.V != "" {
			s = append(s, "  "+p.how+" by "+p.name.V)
		}
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
		}{{k.Strict.V, "strict"}, {k.Share.Is(), fmt.Sprintf("%d %%", k.Share.V)},
			{k.WRED.Is() && k.WRED.V.ECN, "marks"}, {k.WRED.Is() && !k.WRED.V.ECN, "drops early"},
			{k.WRED.Is(), fmt.Sprintf("from %d to %d with %g %%, weight %d", k.WRED.V.Min, k.WRED.V.Max,
				k.WRED.V.Percent,
				k.WRED.V.Weight)},
			{k.Pause.Is(), fmt.Sprintf("lossless by priority %d", k.Pause.V)},
			{k.PG.Is(), fmt.Sprintf("xOFF %d, xON %d, offset %d, alpha %g, headroom %d", k.PG.V.XOff,
				k.PG.V.XOn, k.PG.V.XOnOffset, k.PG.V.Alpha, k.PG.V.Headroom)},
			{k.Limit.Is(), fmt.Sprintf("limit %d", k.Limit.V)},
			{k.Alpha.Is(), fmt.Sprintf("alpha %g", k.Alpha.V)},
			{k.Trim.V, "trims"},
			{k.MTU.Is(), fmt.Sprintf("MTU %d", k.MTU.V)}} {
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
	s = append(s, f)
	for _, n := range b.Neighbors {
		f := fmt.Sprintf("neighbour %s in AS %s", n.Name(), n.Remote.V)
		if n.Group.Is() {
			f += " of " + n.Group.V
		}
		if !n.Active {
			f += " inactive"
		}
		s = append(s, f)
	}
	return s
}

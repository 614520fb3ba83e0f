package eos

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/story"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/topo"
	"railyard/unit"

	"pgregory.net/rapid"
)

func read(t testing.TB, text string) *swconf.Config {
	t.Helper()
	c, err := Parse("eos.cfg", []byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return c
}

// facts is what a configuration says, a fact a line, ports in the order of the text.
func facts(c *swconf.Config) string {
	var s []string
	add := func(format string, args ...any) { s = append(s, fmt.Sprintf(format, args...)) }
	if c.Hostname.Is() {
		add("called %s", c.Hostname.V)
	}
	if !c.LLDP.V {
		add("no LLDP")
	}
	if w := c.Watchdog; w.On.V {
		add("watchdog: polls every %v, detects in %v, restores after %v, forwards %v", w.Poll.V, w.Detect.V,
			w.Restore.V, w.Forward.V)
	}
	if c.HashSeed.Is() {
		add("hashes with %s", c.HashSeed.V)
	}
	if d := c.DLB; d != nil {
		add("balances by %s, %v", d.Mode.V, d.Aging.V)
	}
	seen := map[*swconf.QoS]string{}
	for _, p := range c.Ports {
		f := fmt.Sprintf("%s is port %d", p.Name, p.Number)
		for _, x := range []struct {
			said bool
			what string
		}{{p.Desc.Is(), fmt.Sprintf("%q", p.Desc.V)}, {p.Down.V, "down"},
			{p.MTU.Is(), fmt.Sprintf("MTU %d", p.MTU.V)},
			{p.Speed.Is(), p.Speed.V.String()}, {p.LinkOnly.V, "unnumbered"},
			{p.VLAN.Is(), fmt.Sprintf("VLAN %d", p.VLAN.V)},
			{p.Channel.Is(), fmt.Sprintf("of channel %d", p.Channel.V)},
			{p.PFC.Is(), "PFC " + p.PFC.V.String()},
			{p.LLDPOff.V, "without LLDP"}, {p.DCBX.Is(), "DCBX " + p.DCBX.V}} {
			if x.said {
				f += ", " + x.what
			}
		}
		for _, a := range p.Addrs {
			f += ", " + a.V.String()
		}
		add("%s", f)
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
	if q.Input.Is() {
		s = append(s, "  classified by "+q.Input.V)
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
			{k.PG.Is(), fmt.Sprintf("xOFF %d, xON %d, alpha %g, headroom %d", k.PG.V.XOff, k.PG.V.XOn,
				k.PG.V.Alpha,
				k.PG.V.Headroom)}, {k.Limit.Is(), fmt.Sprintf("limit %d", k.Limit.V)},
			{k.Alpha.Is(), fmt.Sprintf("alpha %g", k.Alpha.V)}} {
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
	if !b.Relax.V {
		f += ", not relaxed"
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

// What EOS's lines say: of ports, of queues in profiles and under interfaces, of buffers, of BGP.
func TestLines(t *testing.T) {
	for _, page := range []string{"ports", "queues", "routing"} {
		t.Run(page, func(t *testing.T) {
			story.Cases(t, page, func(text string) string { return facts(read(t, text)) })
		})
	}
}

// A range of interfaces is each of them, in whatever way it is written.
func TestRangesOfPorts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.IntRange(1, 60).Draw(t, "from")
		b := a + rapid.IntRange(0, 8).Draw(t, "ports")
		head := rapid.SampledFrom([]string{"Et", "et", "Eth", "Ethernet", "ethernet", "Ethernet "}).Draw(t,
			"head")
		slot := rapid.SampledFrom([]string{"", "3/"}).Draw(t, "slot")
		extra := rapid.SampledFrom([]string{"", ",99", ",Et99", ", 99"}).Draw(t, "extra")
		text := fmt.Sprintf("%s%s%d-%d%s", head, slot, a, b, extra)
		names, ok := portRange(text)
		if !ok {
			t.Fatalf("%q is refused", text)
		}
		var want []string
		for n := a; n <= b; n++ {
			want = append(want, fmt.Sprintf("Ethernet%s%d", slot, n))
		}
		if extra != "" {
			want = append(want, "Ethernet99")
		}
		if !slices.Equal(names, want) {
			t.Fatalf("%q: %v, want %v", text, names, want)
		}
	})
	for _, bad := range []string{"", "Et", "Et4-1", "Et1-", "Po1-x", "Et1-5000", "swp1"} {
		if names, ok := portRange(bad); ok {
			t.Errorf("%q is read as %v", bad, names)
		}
	}
}

// EOS writes shares of the buffer as 1/8, 1 or 2; what is written reads back.
func TestShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := float64(rapid.IntRange(1, 64).Draw(t, "over")) / float64(rapid.IntRange(1, 64).Draw(t, "under"))
		if got, ok := fraction(share(a)); !ok || got != a {
			t.Fatalf("%g is written %s and read %g, %v", a, share(a), got, ok)
		}
	})
	for s, want := range map[string]float64{"1/8": 0.125, "1": 1, "8": 8, "3/4": 0.75, "0": 0} {
		if got, ok := fraction(s); !ok || got != want {
			t.Errorf("%s is %g, %v", s, got, ok)
		}
	}
	for _, bad := range []string{"", "1/0", "-1", "1/-8", "x", "1/8/2", "NaN", "Inf", "1e9"} {
		if got, ok := fraction(bad); ok {
			t.Errorf("%q is %g", bad, got)
		}
	}
	for s, want := range map[string]unit.Rate{
		"400g":     400,
		"100gfull": 100,
		"400g-8":   400,
		"800G-8":   800,
		"25g":      25,
	} {
		if got, ok := speed(s); !ok || got != want*unit.Gbps {
			t.Errorf("%s is %v, %v", s, got, ok)
		}
	}
	for _, bad := range []string{"auto", "400", "g", "4x100g", "100000000g"} {
		if got, ok := speed(bad); ok {
			t.Errorf("%q is %v", bad, got)
		}
	}
}

// What EOS cannot say of a Spec is refused with its key, before a file is written.
func TestRefusedSpecs(t *testing.T) {
	g, err := topo.Build("rail", topo.Params{Server: topo.Server{GPUs: 1, NICs: 1, Ports: 1},
		Hosts: 1, Segments: 1,
		Spines: 1, Uplinks: 1, HostCable: topo.Cable{Rate: 400 * unit.Gbps},
		Fabric: topo.Cable{Rate: 400 * unit.Gbps}})
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(s *queue.Spec){
		"whole percents": func(s *queue.Spec) { s.Queues[3].WRED.Probability = 0.075 },
		"xon=0B":         func(s *queue.Spec) { s.Queues[3].XOff, s.Queues[3].Alpha = 0, 1 },
	} {
		s := queue.Default()
		change(&s)
		d, err := design.Make(design.Fabric{Name: "f", Graph: g, Spec: func(int) queue.Spec {
			return s
		}, DataDSCP: 24,
			CNPDSCP: 48, OS: swconf.EOS, Addressing: design.Numbered, Multihome: design.MLAG})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Render(d, d.Switches[0]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Any text is read or refused, never a panic, and its lines are all accounted for.
func FuzzParse(f *testing.F) {
	f.Add("qos profile A\n   tx-queue 3\n      bandwidth percent 50\ninterface Et1-4,Et7\n" +
		"   service-profile A\n")
	f.Add("platform trident mmu queue profile P\n   ingress priority-group 3 threshold 1/8\nno router bgp\n")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := Parse("x", []byte(text)); err == nil && c.Read+c.Passed+len(c.Unknown) != c.Total {
			t.Errorf("%d read, %d passed over and %d unknown of %d lines", c.Read, c.Passed,
				len(c.Unknown), c.Total)
		}
	})
}

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
	"railyard/internal/swconf/tell"
	"railyard/internal/topo"
	"railyard/unit"

	"pgregory.net/rapid"
)

// The meaning of EOS's lines on ports, on queues in profiles and under interfaces, on buffers, and on BGP, and the
// reports on malformed ones.
func TestLines(t *testing.T) {
	for _, page := range []string{"ports", "queues", "routing", "texts", "faults"} {
		t.Run(page, func(t *testing.T) {
			story.Cases(t, page, func(text string) string {
				c, err := Parse("eos.cfg", []byte(text))
				if err != nil {
					return "refused: " + err.Error()
				}
				return tell.Facts(c)
			})
		})
	}
}

// A range of interfaces is each of them, in any notation.
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

// A Spec that EOS cannot express is rejected with its key, before a file is written.
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

// Values that the text does not set and the simulation assumes are reported.
func TestNotes(t *testing.T) {
	const open = "hostname a\npriority-flow-control pause watchdog default timeout 0.2\n" +
		"interface Ethernet1\n no switchport\n mtu 9214\n priority-flow-control on\n" +
		" priority-flow-control priority 3 no-drop\n" +
		" tx-queue 3\n  random-detect ecn minimum-threshold 100 kbytes maximum-threshold 200 kbytes\n"
	for text, want := range map[string]string{
		open:                                  "no line sets the priority of queue 3: strict",
		open + "  bandwidth percent 50\n":     "!no line sets the priority",
		open + " tx-queue 5\n  no priority\n": "!no line sets the priority",
		open + "  priority strict\n":          "!no line sets the priority",
		open + "qos profile P\n":              "recovery time 200ms",
		open + "platform trident mmu headroom-pool limit cells 9\n": "not simulated: platform trident mmu " +
			"headroom-pool limit cells 9 (line 10)",
	} {
		c, err := Parse("a.cfg", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		_, notes, err := c.Spec(queue.Default())
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(notes, "\n")
		if what, never := strings.CutPrefix(want, "!"); never == strings.Contains(said, what) {
			t.Errorf("%s\nwant %q", said, want)
		}
	}
}

// Any text is parsed or rejected without a panic, and its lines are all accounted for.
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

// Transmit queues are strict unless a line changes that. A queue that shares makes all lower ones share, too
// (platform eos.json, tx_priority). Both show and the simulated switch follow this.
func TestPriorityUnsaid(t *testing.T) {
	for _, c := range []struct{ queues, want string }{
		{"", "7 strict by default, 6 strict by default, 5 strict by default, 4 strict by default, " +
			"3 strict by default, 2 strict by default, 1 strict by default, 0 strict by default"},
		{"   tx-queue 5\n      no priority\n",
			"7 strict by default, 6 strict by default, 5 leftover, 4 leftover, " +
				"3 leftover, 2 leftover, 1 leftover, 0 leftover"},
		{"   uc-tx-queue 6\n      priority strict\n   uc-tx-queue 3\n      no priority\n" +
			"      bandwidth percent 95\n   uc-tx-queue 1\n      no priority\n      bandwidth percent 5\n",
			"7 strict by default, 6 strict, 5 strict by default, 4 strict by default, 3 95 %, " +
				"2 leftover, 1 5 %, 0 leftover"},
		{"   tx-queue 3\n      no priority\n      bandwidth percent 90\n" +
			"   tx-queue 1\n      bandwidth percent 60\n",
			"7 strict by default, 6 strict by default, 5 strict by default, 4 strict by default, 3 60 %, " +
				"2 leftover, 1 40 %, 0 leftover"},
	} {
		cfg, err := Parse("x", []byte("hostname a\nqos profile P\n   priority-flow-control on\n"+
			"   priority-flow-control priority 3 no-drop\n"+c.queues+
			"interface Ethernet1\n   no switchport\n   mtu 9214\n   service-profile P\n"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		spec, _, err := cfg.Spec(queue.Default())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range cfg.Views()[0].Rows {
			got = append(got, fmt.Sprintf("%d %s", r.Group, r.Schedule))
			if strict := strings.HasPrefix(r.Schedule, "strict"); spec.Queues[r.Group].Strict != strict {
				t.Errorf("queue %d is %q and simulated with strict %v", r.Group, r.Schedule, !strict)
			}
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.queues, s, c.want)
		}
	}
}

// TestQueuedBy: a port's queues are those of its profile, of its egress policy-map, or of its own lines.
func TestQueuedBy(t *testing.T) {
	const maps = "policy-map type tx-queue OUT\n class tx-queue 3\n  bandwidth percent 50\nqos profile R\n tx-queue 3\n" +
		"  bandwidth percent 50\ninterface Ethernet1\n"
	for own, want := range map[string]string{" service-profile R\n": "R", " service-policy type tx-queue output OUT\n": "OUT",
		" tx-queue 3\n  bandwidth percent 50\n": "interface"} {
		c, err := Parse("a.cfg", []byte(maps+own))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Ports[0].QoS.Output.V; got != want {
			t.Errorf("%q: queued by %q, want %q", own, got, want)
		}
	}
}

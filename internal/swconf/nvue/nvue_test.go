package nvue

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"railyard/internal/story"
	"railyard/internal/swconf"
	"railyard/internal/swconf/tell"

	"pgregory.net/rapid"
)

func facts(text string) string {
	c, err := Parse("nvue.txt", []byte(text))
	if err != nil {
		return "refused: " + err.Error()
	}
	return strings.TrimSpace(fmt.Sprintf("%s\n%d lines: %d read, %d passed", tell.Facts(c), c.Total,
		c.Read, c.Passed))
}

// The meaning of NVUE's lines on queues (with RoCE's one command and profile by profile), on ports and bonds, and
// on BGP, as commands and as YAML, and the reports on malformed ones.
func TestLines(t *testing.T) {
	for _, page := range []string{"roce", "queues", "ports", "routing", "yaml", "json", "faults"} {
		t.Run(page, func(t *testing.T) { story.Cases(t, page, facts) })
	}
}

// Every figure of the platform's sheet that the parser uses is present, each map whole.
func TestDefaultsAreWhole(t *testing.T) {
	for key, n := range map[string]int{"dscp_to_priority": 64, "cos_to_priority": 8, "priority_to_queue": 8,
		"shares": 8, "roce_priority_to_queue": 8, "roce_shares": 8, "multi_dscp_to_priority": 64,
		"multi_shares": 8,
		"multi_ecn":    8} {
		if _, ok := known.Map(key, n); !ok {
			t.Errorf("%s does not name %d values: %q", key, n, known.Word(key))
		}
		if known.Source(key) == "unsourced" {
			t.Errorf("%s has no source", key)
		}
	}
	for _, key := range []string{"roce_pfc", "roce_strict", "mtu", "watchdog_polling_ms",
		"watchdog_robustness",
		"ecn_queue", "ecn_min", "ecn_max", "ecn_percent", "roce_ecn_max", "bgp_paths", "multi_ecn_min",
		"trim_size", "trim_dscp", "trim_dscp_servers", "trim_priority"} {
		if _, ok := known.Number(key); !ok {
			t.Errorf("%s is not a number: %q", key, known.Word(key))
		}
	}
	if sum := slices.Max(shares); len(shares) != 8 || sum != 13 {
		t.Errorf("shares are %v", shares)
	}
}

// paths are settings as a tree has them, for the two forms.
var samplePaths = []string{"system hostname a", "qos roce mode lossless", "qos roce cable-length 30",
	"qos mapping default-global trust both", "qos mapping default-global dscp 26 switch-priority 4",
	"qos mapping default-global pcp 4 switch-priority 4", "qos pfc default-global switch-priority 4",
	"qos egress-queue-mapping default-global switch-priority 4 traffic-class 3",
	"qos egress-scheduler default-global traffic-class 2 mode strict",
	"qos egress-scheduler default-global traffic-class 1 bw-percent 7",
	"qos congestion-control default-global traffic-class 3 max-threshold 900000",
	"interface swp1 link mtu 9000", "interface swp1 ip address 10.0.0.0/31", "interface swp2 link state down",
	"interface bond1 bond member swp2", "interface bond1 bridge domain br_default access 7",
	"interface swp1 qos pfc-watchdog state enable", "router bgp autonomous-system 65001",
	"vrf default router bgp neighbor swp1 remote-as external",
	"vrf default router bgp address-family ipv4-unicast redistribute connected enable on"}

// yamlOf writes paths as nv config show does.
func yamlOf(paths []string) string {
	type node struct {
		keys []string
		kids map[string]*node
	}
	top := &node{kids: map[string]*node{}}
	for _, p := range paths {
		at := top
		for _, w := range strings.Fields(p) {
			if at.kids[w] == nil {
				at.keys = append(at.keys, w)
				at.kids[w] = &node{kids: map[string]*node{}}
			}
			at = at.kids[w]
		}
	}
	var b strings.Builder
	b.WriteString("- header:\n    model: VX\n    nvue-api-version: nvue_v1\n- set:\n")
	var write func(n *node, depth int)
	write = func(n *node, depth int) {
		slices.Sort(n.keys)
		for _, k := range n.keys {
			fmt.Fprintf(&b, "%*s'%s':", depth, "", k)
			below := n.kids[k]
			switch {
			case len(below.keys) == 0:
				b.WriteString(" {}\n")
			case len(below.keys) == 1 && len(below.kids[below.keys[0]].keys) == 0:
				b.WriteString(" " + below.keys[0] + "\n")
			default:
				b.WriteString("\n")
				write(below, depth+2)
			}
		}
	}
	write(top, 4)
	return b.String()
}

// A tree has the meaning of the commands, in any order, and of the YAML.
func TestBothForms(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		paths := rapid.Permutation(samplePaths).Draw(rt, "order")[:rapid.IntRange(1,
			len(samplePaths)).Draw(rt, "n")]
		commands := "nv set " + strings.Join(paths, "\nnv set ") + "\n"
		a, err := Parse("a", []byte(commands))
		if err != nil {
			rt.Fatal(err)
		}
		yaml := yamlOf(paths)
		b, err := Parse("a", []byte(yaml))
		if err != nil {
			rt.Fatal(err, yaml)
		}
		if x, y := sorted(tell.Facts(a)), sorted(tell.Facts(b)); x != y {
			rt.Fatalf("commands say\n%s\nYAML says\n%s\n%s", x, y, yaml)
		}
	})
}

// sorted orders facts. Ports are in the order of the text, and of several equal ones the first has the treatment of
// packets.
func sorted(s string) string {
	lines := slices.DeleteFunc(strings.Split(s, "\n"), func(l string) bool {
		return strings.HasPrefix(l, "  as ")
	})
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// An unset value is gone with everything below it; a value that is set again applies.
func TestUnset(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		keep := rapid.SliceOfDistinct(rapid.SampledFrom(samplePaths), rapid.ID[string]).Draw(rt, "kept")
		gone := []string{"qos pfc lost switch-priority 5", "qos pfc lost tx disable",
			"interface swp9 link mtu 1400",
			"interface swp9 qos pfc profile lost"}
		text := "nv set " + strings.Join(append(slices.Clone(gone), keep...), "\nnv set ") +
			"\nnv unset interface swp8-9\nnv unset qos pfc lost\n"
		with, err := Parse("a", []byte(text))
		if err != nil {
			rt.Fatal(err)
		}
		without, err := Parse("a", []byte(strings.Repeat("\n", len(gone))+"nv set "+
			strings.Join(append(keep, "system hostname z"), "\nnv set ")))
		if err != nil {
			rt.Fatal(err)
		}
		with.Hostname, without.Hostname = swconf.Said[string]{}, swconf.Said[string]{}
		if a, b := tell.Facts(with), tell.Facts(without); a != b {
			rt.Fatalf("%s\nwant\n%s", a, b)
		}
	})
}

// Lists of interfaces in all notations of NVUE.
func TestLists(t *testing.T) {
	for text, want := range map[string]string{"swp1": "swp1", "swp1-3": "swp1 swp2 swp3",
		"swp1-swp3":   "swp1 swp2 swp3",
		"swp1,swp4-5": "swp1 swp4 swp5", "swp1s0-2": "swp1s0 swp1s1 swp1s2", "vlan10,20": "vlan10 vlan20",
		"bond1-2,peerlink": "bond1 bond2 peerlink", "eth0": "eth0", "br_default": "br_default"} {
		if got, ok := expand(text); !ok || strings.Join(got, " ") != want {
			t.Errorf("%q is %v, %v; want %s", text, got, ok, want)
		}
	}
	for _, bad := range []string{"", "swp4-1", "swp1-99999", "swp1-bond3", ",", "swp1,,swp2"} {
		if got, ok := expand(bad); ok {
			t.Errorf("%q is %v", bad, got)
		}
	}
	for text, want := range map[string]float64{"alpha_1_8": 0.125, "alpha_2": 2, "alpha_0": 0,
		"alpha_infinity": 1024,
		"alpha_64":       64, "alpha_1_128": 1. / 128} {
		if got, ok := alpha(text); !ok || got != want {
			t.Errorf("%s is %g, %v", text, got, ok)
		}
		if w := alphaWord(want); want <= 64 && w != text {
			t.Errorf("%g is written %s", want, w)
		}
	}
	for _, bad := range []string{"", "2", "alpha", "alpha_3_8", "alpha_1_0", "alpha_x", "alpha_128"} {
		if got, ok := alpha(bad); ok {
			t.Errorf("%q is %g", bad, got)
		}
	}
}

// Any text is parsed or rejected without a panic, and its lines are all accounted for.
func FuzzParse(f *testing.F) {
	f.Add("nv set qos roce\nnv set interface swp1-4,swp7 qos pfc profile A\nnv unset interface swp2\n")
	f.Add("- set:\n    interface:\n      swp1-2:\n        type: swp\n    qos:\n      roce: {}\n")
	f.Add(yamlOf(samplePaths))
	for _, page := range []string{"queues", "faults"} {
		if b, err := os.ReadFile("testdata/" + page + ".txt"); err == nil {
			f.Add(string(b))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := Parse("x", []byte(text)); err == nil && (c.Read < 0 ||
			c.Read+c.Passed+len(c.Unknown) != c.Total) {
			t.Errorf("%d read, %d passed over and %d unknown of %d lines", c.Read, c.Passed,
				len(c.Unknown), c.Total)
		}
	})
}

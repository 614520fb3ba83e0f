package cabling

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/topo"
	"railyard/unit"
)

var htsimMark = regexp.MustCompile(`(?im)^\s*tiers\s+\d+\s*$`)

func looksHtsim(_, text string) bool {
	return htsimMark.MatchString(text) && strings.Contains(strings.ToLower(text), "podsize")
}

// htsimTier is a tier of htsim's fat tree: 0 next to servers.
type htsimTier struct {
	speed, down, up, bundle int
	mm                      int64
}

// readHtsim reads a .topo file of htsim's fat tree and expands it to the fabric. Switches of the first tier take
// servers in order. Those of a pod are meshed with the pod's second tier (all of it, with two tiers). The ith
// switch of a pod's second tier connects to every core whose number has the same remainder.
func readHtsim(b *builder, text string) error {
	top := map[string]int{}
	var tiers [3]htsimTier
	cur := -1
	err := lines(text, func(n int, line string) error {
		w := strings.Fields(line)
		if len(w) == 0 || w[0][0] == '#' {
			return nil
		}
		key := strings.ToLower(w[0])
		if len(w) < 2 {
			return b.at(n, 1).fail("%s has no value", field.Quote(w[0]))
		}
		v, err := strconv.Atoi(w[1])
		if err != nil || v < 0 || v > 10_000_000 {
			return b.at(n, column(line, 1)).fail("%s is not a number", field.Quote(w[1]))
		}
		if key == "tier" {
			if v > 2 {
				return b.at(n, 1).fail("tier %d: a fat tree of htsim has tiers 0 to 2", v)
			}
			cur = v
			tiers[cur].bundle = 1
			return nil
		}
		if cur < 0 {
			top[key] = v
			return nil
		}
		switch t := &tiers[cur]; key {
		case "downlink_speed_gbps":
			t.speed = v
		case "radix_down":
			t.down = v
		case "radix_up":
			t.up = v
		case "downlink_latency_ns":
			if t.mm, err = lengthOf(w[1]+"ns", float64(v)*1e3); err != nil {
				return b.at(n, column(line, 1)).fail("%v", err)
			}
		case "bundle":
			t.bundle = v
		case "switch_latency_ns":
			if v > 0 {
				b.note(b.at(n, 1), "switch_latency_ns is fabric.pipeline in Railyard: left out")
			}
		case "oversubscribed", "queue_up", "queue_down":
		default:
			b.note(b.at(n, 1), "%s is not known: left out", key)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return b.fatTree(top["nodes"], top["tiers"], top["podsize"], tiers)
}

// fatTree writes out htsim's fat tree.
func (b *builder) fatTree(nodes, n, pod int, t [3]htsimTier) error {
	at := b.at(1, 1)
	if n < 2 || n > 3 || nodes < 1 || nodes > topo.MaxNodes || pod < 1 {
		return at.fail("nodes %d, tiers %d, podsize %d: expected 2 or 3 tiers and at least one node", nodes, n, pod)
	}
	for i := range n {
		x, above := t[i], max(t[min(i+1, 2)].bundle, 1)
		if x.down < 1 || x.speed < 1 || x.bundle < 1 || i < n-1 && (x.up < 1 || x.up%above != 0) {
			return at.fail("tier %d: radix_down %d, radix_up %d, bundle %d, downlink_speed_gbps %d do not fit together",
				i, x.down, x.up, x.bundle, x.speed)
		}
	}
	tors := nodes / t[0].down * t[0].bundle
	perPod := min(pod, nodes) / t[0].down * t[0].bundle
	hosts := t[0].down / t[0].bundle
	if tors < 1 || perPod < 1 || tors%perPod != 0 || tors*hosts != nodes {
		return at.fail("%s in pods of %d, %d to a switch, do not divide", unit.Plural(nodes, "node"), pod, t[0].down)
	}
	aggs := t[0].up / t[1].bundle // of a pod
	pods := tors / perPod
	if n == 2 {
		aggs, perPod, pods = tors*t[0].up/t[1].down, tors, 1
		if aggs*t[1].bundle != t[0].up {
			return at.fail("%s with %s up and %d above with %d down do not divide",
				unit.Plural(tors, "switch"),
				unit.Plural(t[0].up, "cable"), aggs, t[1].down)
		}
	}
	cable := func(a, z, tier int) {
		for range t[tier].bundle {
			b.cable(Cable{A: End{Node: a}, B: End{Node: z}, Rate: unit.Rate(t[tier].speed) * unit.Gbps,
				LengthMM: t[tier].mm, At: at})
		}
	}
	node := func(k Kind, role, format string, args ...any) int {
		x := b.node(at, fmt.Sprintf(format, args...))
		b.is(x, k, role)
		return x
	}
	above := struct{ role, name string }{"aggregation", "agg"}
	if n == 2 {
		above.role, above.name = "spine", "spine"
	}
	for tor := range tors {
		p := tor / perPod
		sw := node(Switch, "leaf", "leaf-%s", inPod(n, p, tor%perPod))
		for h := range hosts {
			cable(node(Server, "", "host-%d", tor*hosts+h+1), sw, 0)
		}
		for a := range aggs {
			up := node(Switch, above.role, above.name+"-%s", inPod(n, p, a))
			cable(sw, up, 1)
		}
	}
	if n == 2 {
		return nil
	}
	for a := range aggs * pods {
		for l := range t[1].up / t[2].bundle {
			agg := node(Switch, above.role, above.name+"-%s", inPod(n, a/aggs, a%aggs))
			cable(agg, node(Switch, "core", "core-%d", a%aggs+aggs*l+1), 2)
		}
	}
	return nil
}

// inPod returns a switch's number within its pod, if there are pods.
func inPod(tiers, pod, i int) string {
	if tiers == 2 {
		return strconv.Itoa(i + 1)
	}
	return fmt.Sprintf("%d-%d", pod+1, i+1)
}

package dialect_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
	"railyard/internal/topo"
	"railyard/unit"

	"pgregory.net/rapid"
)

// segmented is a design whose packets name their paths.
func segmented(g *topo.Graph, s queue.Spec, os swconf.OS) (*design.Design, error) {
	g, err := onDevice(g, os)
	if err != nil {
		return nil, err
	}
	return design.Make(design.Fabric{Name: "test", Graph: g, Spec: func(int) queue.Spec { return s },
		DataDSCP: 24, CNPDSCP: 48, OS: os, Addressing: design.Unnumbered, Multihome: dialect.Multihome(os),
		Apart: true, Segments: true})
}

// core is a switch that trims, and marks at ports to switches alone.
func core() queue.Spec {
	s := trims(40_000, queue.Trim{Size: 128, DSCP: 46, LastHop: 47})
	s.CoreMarks = true
	s.Queues[3].WRED = queue.WRED{Min: 10_000, Max: 30_000, Probability: 1, ECN: true}
	return s
}

// A packet that names the switches of a path, as a NIC writes it, takes that path link by link with the rendered
// and parsed configuration: for any fabric and any of several parallel cables.
func TestSegmentsArrive(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom([]string{"rail", "fat-tree"}).Draw(rt, "kind")
		g, err := topo.Build(kind, topo.Params{Server: topo.Server{GPUs: 1, NICs: 1, Ports: 1}, Hosts: 2,
			Segments: rapid.IntRange(2, 4).Draw(rt, "leaves"), Spines: rapid.IntRange(1, 3).Draw(rt,
				"spines"),
			Uplinks: rapid.IntRange(1, 3).Draw(rt, "cables"), K: 4, Tiers: rapid.IntRange(2, 3).Draw(rt,
				"tiers"),
			HostCable: topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 3000},
			Fabric:    topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 30_000}})
		if err != nil {
			rt.Fatal(err)
		}
		os := rapid.SampledFrom([]swconf.OS{swconf.SONiC, swconf.FRR}).Draw(rt, "language")
		d, err := segmented(g, core(), os)
		if err != nil {
			rt.Fatal(err)
		}
		cs, text := configs(t, d)
		for _, f := range lint(g, cs) {
			rt.Fatalf("%s:%d: %s: %s\n%s", f.File, f.Line, f.Rule, f.Message, text[f.File])
		}
		w := newWalk(g, cs)
		for range 10 {
			at := rapid.SampledFrom(w.leaves()).Draw(rt, "from")
			var sids []netip.Prefix
			want := []int{at}
			sids = append(sids, w.own(at)[0])
			for range rapid.IntRange(0, 4).Draw(rt, "switches") {
				l := rapid.SampledFrom(w.up(at)).Draw(rt, "cable")
				next := g.Links[l].A + g.Links[l].B - at
				sids = append(sids, w.names(rt, at, l))
				want, at = append(want, l, next), next
			}
			if got := w.follow(rt, want[0], sids); fmt.Sprint(got) != fmt.Sprint(want) {
				rt.Fatalf("%s: %v leads %v, want %v", os, sids, got, want)
			}
		}
	})
}

// walk is configurations by switch of a graph.
type walk struct {
	g  *topo.Graph
	of map[int]*swconf.Config
}

func newWalk(g *topo.Graph, cs []*swconf.Config) *walk {
	w := &walk{g, map[int]*swconf.Config{}}
	for _, c := range cs {
		w.of[g.Node(c.Name())] = c
	}
	return w
}

func (w *walk) leaves() (nodes []int) {
	for n, node := range w.g.Nodes {
		if node.Role != topo.Host && node.Tier == 1 {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// up returns the cables of a switch to others.
func (w *walk) up(n int) (links []int) {
	for l, link := range w.g.Links {
		if (link.A == n || link.B == n) && w.g.Nodes[link.A+link.B-n].Role != topo.Host {
			links = append(links, l)
		}
	}
	return links
}

func (w *walk) own(n int) (sids []netip.Prefix) {
	for _, s := range w.of[n].SRv6.SIDs {
		sids = append(sids, s.Prefix)
	}
	return sids
}

// names returns a uSID to which a switch has a path by a cable.
func (w *walk) names(t *rapid.T, n, link int) netip.Prefix {
	port := w.of[n].Plugged(w.g.Nodes[n].Panel, w.g.Jack(link, n))
	for _, r := range w.of[n].Routes {
		if r.Port == port.Name {
			return r.Prefix
		}
	}
	t.Fatalf("%s has no way by %s", w.g.Nodes[n].Name, port.Name)
	return netip.Prefix{}
}

// follow forwards as switches do: the first uSID is the switch's own and is shifted out, and the next one's route
// determines the cable. It returns switches and cables alternately.
func (w *walk) follow(t *rapid.T, at int, sids []netip.Prefix) (way []int) {
	for {
		mine := false
		for _, s := range w.own(at) {
			mine = mine || s == sids[0]
		}
		if !mine {
			t.Fatalf("%v comes to %s, whose uSIDs are %v", sids[0], w.g.Nodes[at].Name, w.own(at))
		}
		way = append(way, at)
		if sids = sids[1:]; len(sids) == 0 {
			return way
		}
		found := false
		for _, r := range w.of[at].Routes {
			if r.Prefix != sids[0] {
				continue
			}
			for _, l := range w.up(at) {
				far := w.g.Links[l].A + w.g.Links[l].B - at
				near := w.of[at].Plugged(w.g.Nodes[at].Panel, w.g.Jack(l, at))
				other := w.of[far].Plugged(w.g.Nodes[far].Panel, w.g.Jack(l, far))
				if near.Name == r.Port && len(other.Addrs) == 1 && other.Addrs[0].V.Addr() == r.Next {
					way, at, found = append(way, l), far, true
					break
				}
			}
			break
		}
		if !found {
			t.Fatalf("%s sends %v nowhere", w.g.Nodes[at].Name, sids[0])
		}
	}
}

// Trimming queues, and marks only at ports to switches, parse unchanged.
func TestCoreMarksComeBack(t *testing.T) {
	d, err := segmented(fabric(t, "rail"), core(), swconf.SONiC)
	if err != nil {
		t.Fatal(err)
	}
	cs, _ := configs(t, d)
	for _, c := range cs {
		got, notes, err := c.Spec(spec())
		want := core()
		said := strings.Contains(strings.Join(notes, "\n"), "mark nothing while others do")
		if strings.HasPrefix(c.Name(), "spine") { // not the last hop of any path
			want.CoreMarks, want.Trim.LastHop = false, want.Trim.DSCP
		}
		if err != nil || got != swconf.Normal(want) || said != want.CoreMarks {
			t.Errorf("%s: %v, %q: %s", c.Name(), err, notes, differs(got, want))
		}
	}
}

// Other languages report unsupported settings, and a fabric what it cannot name.
func TestSegmentsRefused(t *testing.T) {
	lossy := core()
	lossy.Queues[3].Trim, lossy.Trim = false, queue.Trim{}
	for _, os := range []swconf.OS{swconf.NXOS, swconf.EOS} {
		d, err := segmented(fabric(t, "rail"), lossy, os)
		if err == nil {
			_, err = dialect.Render(d)
		}
		if err == nil || !strings.Contains(err.Error(), "in "+string(os)+": SRv6 uSIDs "+
			"(transport.forwarding "+
			"srv6): its published syntax has no endpoint") {
			t.Errorf("%s: %v", os, err)
		}
		if d, err = plan(fabric(t, "rail"), lossy, os, design.Unnumbered, "", ""); err == nil {
			_, err = dialect.Render(d)
		}
		if err == nil || !strings.Contains(err.Error(), "(switch.mark_core_only), which is written for "+
			"SONiC") {
			t.Errorf("%s: %v", os, err)
		}
	}
	d := design.Fabric{Name: "test", Graph: fabric(t, "dual-rail"), Segments: true, OS: swconf.SONiC,
		Spec: func(int) queue.Spec { return spec() }, Addressing: design.Unnumbered, Multihome: design.MLAG}
	if _, err := design.Make(d); err == nil || !strings.Contains(err.Error(), "share bundles") {
		t.Error(err)
	}
}

// Errors of segments are found at their lines, in both languages.
func TestSegmentFindings(t *testing.T) {
	g := fabric(t, "rail")
	for _, c := range []struct {
		os              swconf.OS
		file, old, with string
		rule, want      string // "": no finding
	}{
		{"sonic", leaf, `default|fcbb:bb00:5::/48`, `default|fcbb:bb00:9::/48`, "srv6-way",
			"which has no such SID"},
		{"sonic", leaf, `default|fcbb:bb00:5::/48`, `Vrf1|fcbb:bb00:5::/48`, "srv6-way",
			"no route to a SID of it leaves there"},
		{"sonic", leaf, `"nexthop": "fd00:64::1"`, `"nexthop": "fd00:64::5"`, "srv6-way",
			"has no such address"},
		{"sonic", leaf, `"nexthop": "fd00:64::1"`, `"nexthop": "fd00:64::1,fd00:64::3"`, "bad-value",
			"2 next hops and 1 ports"},
		{"sonic", leaf, `"action": "uN"`, `"action": "uX"`, "bad-value", "uN and uDT46 are accepted"},
		{"sonic", leaf, `"decap_dscp_mode": "uniform"`, `"decap_dscp_mode": "pipe"`, "srv6-sid",
			"the NIC does not learn of it"},
		{"sonic", leaf, `RAILYARD1|fcbb:bb00:1::/48`, `RAILYARD1|fcbb:bb00:4::/48`, "srv6-sid",
			"is not in its locator"},
		{"sonic", leaf, `fcbb:bb00:1::`, `fcbb:bb00:4::`, "srv6-sid", "has the SID fcbb:bb00:4::/48"},
		{"sonic", leaf, `fcbb:bb00:1::`, `fccc:bb00:1::`, "srv6-sid", "is in the block"},
		{"sonic", leaf, `RAILYARD1|`, `NOBODY|`, "policy-undefined", "NOBODY"},
		{"sonic", leaf, `"block_len": "32"`, `"block_len": "120"`, "bad-value", "is not a locator"},
		{"frr", leaf, "sid fcbb:bb00:1::/48 locator RAILYARD1", "sid fcbb:bb00:1::/48 locator NOBODY",
			"policy-undefined", "NOBODY"},
		{"frr", leaf, "behavior uN", "behavior uNN", "bad-value", "uDT46"},
		{"frr", leaf, "ipv6 route fcbb:bb00:5::/48", "ipv6 route " +
			"fcbb:bb00:5::/200", "bad-value", "an IPv6 prefix"},
		{"frr", leaf, "block-len 32 node-len 16", "block-len 32 node-len 24", "bad-value", "as long as " +
			"block-len"},
		{"frr", leaf, "fd00:64::1 swp3", "fd00:64::1", "", ""}, // its address determines its port
		{"frr", leaf, "ipv6 route fcbb:bb00:5::/48", "no ipv6 route fcbb:bb00:5::/48", "srv6-way",
			"no route to a SID of it"},
	} {
		d, err := segmented(g, core(), c.os)
		if err != nil {
			t.Fatal(err)
		}
		_, text := configs(t, d)
		var cs []*swconf.Config
		for path, was := range text {
			if !strings.Contains(path, "/") || strings.HasSuffix(path, "daemons") {
				continue
			}
			if strings.HasPrefix(path, c.file+"/") {
				if !strings.Contains(was, c.old) {
					t.Fatalf("no %q in\n%s", c.old, was)
				}
				was = strings.ReplaceAll(was, c.old, c.with)
			}
			cfg, err := dialect.Parse(path, []byte(was), "")
			if err != nil {
				t.Fatal(err)
			}
			cs = append(cs, cfg)
		}
		found, all := c.rule == "", lint(g, cs)
		for _, f := range all {
			found = found || f.Rule == c.rule && f.Line > 0 && strings.Contains(f.Message, c.want)
		}
		if !found || c.rule == "" && len(all) > 0 {
			t.Errorf("%s, %q: %+v", c.os, c.with, all)
		}
	}
}

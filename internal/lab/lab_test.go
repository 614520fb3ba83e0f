package lab

import (
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/site"
	"railyard/internal/topo"
	"railyard/unit"
)

func fabric(t *testing.T, kind string, change func(*topo.Params)) *topo.Graph {
	t.Helper()
	p := topo.Params{Hosts: 2, Segments: 2, Spines: 2, Uplinks: 1, K: 4, Tiers: 3,
		Server:    topo.Server{GPUs: 2, NICs: 2, Ports: 1},
		HostCable: topo.Cable{Rate: 400 * unit.Gbps}, Fabric: topo.Cable{Rate: 200 * unit.Gbps}}
	if change != nil {
		change(&p)
	}
	g, err := topo.Build(kind, p)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

var options = Options{Name: "t1", Routing: RoutingFRR, Rate: 100 * unit.Mbps, Say: func(string, ...any) {}}

// Addresses are unique, both ends of a cable share a /31, rates keep their
// proportion, and names fit what the kernel takes.
func TestPlan(t *testing.T) {
	for _, kind := range []string{"rail", "fat-tree"} {
		g := fabric(t, kind, func(p *topo.Params) {
			if kind == "fat-tree" {
				p.Server = topo.Server{GPUs: 1, NICs: 1, Ports: 1}
			}
		})
		o := options
		o.Numbered = true
		s, err := plan(g, o)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[netip.Addr]bool{}
		for _, l := range s.Links {
			a, b := l.AddrA, l.AddrB
			if seen[a] || seen[b] || !a.IsValid() || netip.PrefixFrom(a, 31).Masked() != netip.PrefixFrom(b,
				31).Masked() || len(l.APort) > 15 || len(l.BPort) > 15 {
				t.Errorf("%s: link %+v", kind, l)
			}
			seen[a], seen[b] = true, true
			if s.Nodes[l.A].Switch && s.Nodes[l.B].Switch && kind == "rail" && l.Rate != 50*unit.Mbps {
				t.Errorf("an uplink of half the rate has %v", l.Rate)
			}
		}
		if len(s.NICs) != len(g.NICs) {
			t.Errorf("%d NICs", len(s.NICs))
		}
	}
}

func TestPlanRefuses(t *testing.T) {
	for what, c := range map[string]func(*Options) *topo.Graph{
		"name":    func(o *Options) *topo.Graph { o.Name = "../etc"; return fabric(t, "rail", nil) },
		"routing": func(o *Options) *topo.Graph { o.Routing = "ospf"; return fabric(t, "rail", nil) },
		"rate":    func(o *Options) *topo.Graph { o.Rate = 1; return fabric(t, "rail", nil) },
		"size": func(o *Options) *topo.Graph {
			return fabric(t, "rail", func(p *topo.Params) { p.Hosts = 40 })
		},
	} {
		o := options
		if _, err := plan(c(&o), o); err == nil {
			t.Errorf("%s: taken", what)
		}
	}
}

// FRR itself reads the configuration we write.
func TestBGPConfigInFRR(t *testing.T) {
	if _, err := exec.LookPath("vtysh"); err != nil {
		t.Skip("vtysh is not installed")
	}
	s, err := plan(fabric(t, "rail", nil), options)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range s.Nodes {
		if !n.Switch {
			continue
		}
		file := filepath.Join(t.TempDir(), "frr.conf")
		if err := os.WriteFile(file, []byte(s.frr[i]), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("vtysh", "-C", "-f", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s\n%s", n.Name, err, out, s.frr[i])
		}
	}
}

// Static routes find their way around cables that are down.
func TestDistances(t *testing.T) {
	s, err := plan(fabric(t, "rail", nil), options)
	if err != nil {
		t.Fatal(err)
	}
	leaf := -1
	for i, n := range s.Nodes {
		if strings.HasSuffix(n.Name, "rail-1") && leaf < 0 {
			leaf = i
		}
	}
	count := func() (n int) {
		for _, d := range s.distances(leaf) {
			if d >= 0 {
				n++
			}
		}
		return n
	}
	all := count()
	for i := range s.Links {
		if l := &s.Links[i]; l.A == leaf || l.B == leaf {
			l.Down = true
		}
	}
	if all != 6 || count() != 1 {
		t.Errorf("%d of 6 switches in reach, %d after losing every cable", all, count())
	}
}

// Of several labs that are built at once under one name, one is; what an up that was killed
// at once has left, down removes.
func TestOneLabOfAName(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("labs keep their state under " + root + ", which needs root")
	}
	s := &State{Name: own("claim")}
	defer os.RemoveAll(s.dir())
	made := make(chan error, 8)
	for range cap(made) {
		go func() { made <- (&State{Name: s.Name}).claim() }()
	}
	won := 0
	for range cap(made) {
		if err := <-made; err == nil {
			won++
		} else if !strings.Contains(err.Error(), "is being built") {
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d labs of one name", won)
	}
	if err := ready("ip"); err != nil {
		t.Skip(err)
	}
	if _, err := Down(t.Context(), s.Name); err != nil || exists(s.dir()) {
		t.Error(err)
	}
	os.MkdirAll(s.dir(), 0o755) // killed before it had noted anything
	if _, err := Down(t.Context(), s.Name); err != nil || exists(s.dir()) {
		t.Error(err)
	}
}

// Every port of a NIC is there, with an address of its own that no other has and a route of its own, where
// two
// make a bundle elsewhere and where each is in a plane.
func TestNICsOfSeveralPorts(t *testing.T) {
	planes, err := (&site.Site{
		Types: []site.Type{{Name: "host", GPUs: 2, NICs: 2, NICPorts: 2, NICRate: 200 * unit.Gbps},
			{Name: "leaf", OS: "sonic"}, {Name: "spine", OS: "nxos", Role: "spine"}},
		Nodes: []site.Group{{Name: "host", Type: "host", Count: 2},
			{Name: "leaf", Type: "leaf", Per: site.Pairs{{Key: "plane", Value: "2"}}},
			{Name: "spine", Type: "spine", Per: site.Pairs{{Key: "plane", Value: "2"}}}},
		Cables: []site.Rule{{From: "host", To: "leaf", Match: site.Pairs{{Key: "plane", Value: "port"}}},
			{From: "leaf", To: "spine", Same: []string{"plane"}}},
	}).Build(site.Defaults{Host: topo.Cable{Rate: 200 * unit.Gbps},
		Fabric: topo.Cable{Rate: 400 * unit.Gbps}})
	if err != nil {
		t.Fatal(err)
	}
	pods := fabric(t, "pod", func(p *topo.Params) { p.Server.Ports = 2 })
	for name, g := range map[string]*topo.Graph{"planes": planes, "pods": pods} {
		s, err := plan(g, options)
		if err != nil {
			t.Fatal(name, err)
		}
		ports := 0
		for _, nic := range g.NICs {
			ports += len(nic.Links)
		}
		seen := map[netip.Addr]bool{}
		for _, nic := range s.NICs {
			l := &s.Links[nic.Link]
			_, addr, gw := l.end(nic.Node)
			if seen[addr] || !addr.IsValid() || addr != nic.Addr || gw != addr.Prev() && gw != addr.Next() ||
				l.Rate != 100*unit.Mbps {
				t.Errorf("%s: %+v at %+v", name, nic, l)
			}
			seen[addr] = true
		}
		if len(s.NICs) != ports || ports != 2*len(g.NICs) {
			t.Errorf("%s: %d ports of NICs, the fabric has %d", name, len(s.NICs), ports)
		}
		for _, l := range s.Links { // as on the device, but for what Linux does not take
			if name == "planes" && s.Nodes[l.A].Switch && (!strings.HasPrefix(l.APort, "Ethernet") ||
				!strings.HasPrefix(l.BPort, "Ethernet1_") || !strings.Contains(s.frr[l.B], "interface "+
				""+l.BPort+"\n")) {
				t.Errorf("%+v", l)
			}
		}
	}
}

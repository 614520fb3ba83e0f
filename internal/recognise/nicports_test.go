package recognise

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/cabling"
	"railyard/internal/site"
)

// planes is four servers of four NICs on two planes, each port to a leaf of its NIC's rail; name calls the
// ports, and gpus is what the source says of GPUs.
func planes(t *testing.T, gpus int, name func(nic, port int) string) *cabling.Cabling {
	t.Helper()
	of := func(words ...string) (p site.Pairs) {
		for i := 0; i < len(words); i += 2 {
			p = append(p, site.Pair{Key: words[i], Value: words[i+1]})
		}
		return p
	}
	g, err := (&site.Site{
		Types: []site.Type{{Name: "host", GPUs: 4, NICs: 4, NICPorts: 2}, {Name: "leaf"}},
		Nodes: []site.Group{{Name: "host", Type: "host", Count: 4},
			{Name: "leaf", Type: "leaf", Per: of("plane", "2", "rail", "4")}},
		Cables: []site.Rule{{From: "host", To: "leaf", Match: of("rail", "nic", "plane", "port")}},
	}).Build(site.Defaults{Host: hostCable, Fabric: fabricCable})
	if err != nil {
		t.Fatal(err)
	}
	c := cabling.Of(g)
	for i := range c.Nodes {
		if c.Nodes[i].Kind == cabling.Server {
			c.Nodes[i].GPUs = gpus
		}
	}
	for i := range c.Cables {
		end := &c.Cables[i].A
		var nic, port int
		if n, err := fmt.Sscanf(end.Port, "nic%dp%d", &nic, &port); n != 2 || err != nil {
			t.Fatalf("a port of a NIC of two is called %s", end.Port)
		}
		end.Port = name(nic, port)
	}
	return c
}

// Which cables share a NIC is told by the names of ports, however a system calls them; without, a NIC of
// several ports for each GPU is assumed, and said; with neither, every cable is a NIC.
func TestNICPorts(t *testing.T) {
	bus := []int{24, 41, 59, 170} // the PCI buses of the cards
	for _, x := range []struct {
		what        string
		gpus        int
		name        func(nic, port int) string
		nics, ports int
		note        string
	}{
		{"PCI functions", -1, func(n, p int) string {
			return fmt.Sprintf("enp%ds0f%dnp%d", bus[n-1], p-1,
				p-1)
		},
			4, 2, ""},
		{"driver's ports", -1, func(n, p int) string { return fmt.Sprintf("enp%ds0np%d", bus[n-1], p-1) },
			4, 2, ""},
		{"verbs", -1, func(n, p int) string { return fmt.Sprintf("mlx5_%d/%d", n-1, p) }, 4, 2, ""},
		{"slots", -1, func(n, p int) string { return fmt.Sprintf("Slot%d-P%d", n, p) }, 4, 2, ""},
		{"our own", -1, func(n, p int) string { return fmt.Sprintf("nic%dp%d", n, p) }, 4, 2, ""},
		{"cards of one port", -1, func(n, p int) string { return fmt.Sprintf("enp%ds0np0", 20+2*n+p) }, 8,
			1, ""},
		{"no names, and GPUs", 4, func(int, int) string { return "" }, 4, 2,
			"a NIC of 2 ports for each GPU is assumed"},
		{"counted, and GPUs", 8, func(n, p int) string { return fmt.Sprintf("eth%d", 2*n+p) }, 8, 1, ""},
		{"odd GPUs", 3, func(n, p int) string { return fmt.Sprintf("eth%d", 2*n+p) }, 8, 1,
			"every cable is read as one"},
		{"counted", -1, func(n, p int) string { return fmt.Sprintf("eth%d", 2*n+p) }, 8, 1, "as many as " +
			"NICs, 8"},
		{"torn", -1, func(n, p int) string { return fmt.Sprintf("enp%ds0f%d", bus[n-1]+n/4*p, p-1) }, 8, 1,
			""},
	} {
		got, err := Recognise(planes(t, x.gpus, x.name), Options{})
		if err != nil {
			t.Errorf("%s: %v", x.what, err)
			continue
		}
		host := got.Site.Types[0]
		if host.NICs != x.nics || max(host.NICPorts, 1) != x.ports {
			t.Errorf("%s: %d NICs of %d ports, want %d of %d", x.what, host.NICs, host.NICPorts, x.nics,
				x.ports)
		}
		if notes := strings.Join(got.Notes, "\n"); !strings.Contains(notes, x.note) ||
			x.note == "" && strings.Contains(notes, "--nic-ports 1") {
			t.Errorf("%s: %q is not in %q", x.what, x.note, notes)
		}
		if x.ports == 2 && x.note == "" && len(got.Site.Cables) != 1 {
			t.Errorf("%s: %d rules\n%s", x.what, len(got.Site.Cables), got.YAML("x", ""))
		}
	}
}

// NICs whose ports go ways that no rule can say are taken apart, unless somebody said that they are whole.
func TestNICPortsWithoutAPattern(t *testing.T) {
	c := planes(t, -1, func(n, p int) string { return fmt.Sprintf("nic%dp%d", n, p) })
	for i, k := range []int{3, 1, 0, 2, 7, 4, 6, 5} { // host-1's cables, shuffled
		c.Cables[i].A.Port = fmt.Sprintf("nic%dp%d", k/2+1, k%2+1)
	}
	got, err := Recognise(c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(got.Notes, "\n"); got.Site.Types[0].NICs != 8 ||
		!strings.Contains(notes, "have no common rule") {
		t.Errorf("%d NICs, and %s", got.Site.Types[0].NICs, notes)
	}
	_, err = Recognise(c, Options{NICPorts: 2})
	if err == nil || !strings.Contains(err.Error(), "--nic-ports") {
		t.Errorf("what --nic-ports says was not held to: %v", err)
	}
}

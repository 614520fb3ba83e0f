package cabling

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"railyard/internal/published"
	"railyard/internal/story"
)

// show writes a cabling as lines that a test can compare.
func show(c *Cabling) string {
	var out []string
	for _, x := range c.Cables {
		s := c.End(x.A) + " " + c.End(x.B)
		if x.Rate > 0 {
			s += " " + x.Rate.String()
		}
		if x.LengthMM > 0 {
			s += fmt.Sprintf(" %gm", float64(x.LengthMM)/1000)
		}
		out = append(out, s)
	}
	sort.Strings(out)
	return strings.Join(out, "; ")
}

// samples are small files in each format, in a folder of its name, in the style of their usual authors.
func samples(t testing.TB, format string) (out []File) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("testdata", format, "*"))
	if err != nil || len(all) == 0 {
		t.Fatalf("%s has no sample: %v", format, err)
	}
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, File{filepath.Base(name), text})
	}
	return out
}

// Each format is recognised and parsed, with one expected page for all of them.
func TestFormats(t *testing.T) {
	p := &strings.Builder{}
	fmt.Fprintln(p, "# What import reads from a small file of each format (testdata beside it): nodes with")
	fmt.Fprintln(p, "# their kind and role, cables with their ends, rate and length, and what did not fit.")
	for _, f := range Formats() {
		files := samples(t, f.Name)
		c, err := Read(files, "")
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		if c.Formats[0] != f.Name || len(c.Conflicts) > 0 {
			t.Errorf("%s is taken for %s, %v", f.Name, c.Formats[0], c.Conflicts)
		}
		fmt.Fprintf(p, "\n%s: %s\n", f.Name, f.About)
		for _, n := range c.Nodes {
			fmt.Fprintf(p, "  %s\n", strings.TrimSpace(fmt.Sprintf("%s, %v %s", n.Name, n.Kind, n.Role)))
		}
		for _, s := range strings.Split(show(c), "; ") {
			fmt.Fprintf(p, "    %s\n", s)
		}
		for _, n := range c.Notes {
			fmt.Fprintf(p, "  %v: %s\n", n.At, n.Text)
		}
	}
	story.Check(t, "formats", p.String())
}

// Impossible input is rejected with its position and what is accepted.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"x", "", "x: is empty"},
		{"x", "\x00", "x: is a binary file"},
		{"x", "hello\n", "x: unsupported format; set it with --format; accepted: dot, lldpcli"},
		{"x.csv", "from,to,rate\na,b,fast\n", `x.csv:2:5: "fast" is not a rate; accepted: 400Gbps, 400G`},
		{"x.csv", "from,to,length\na,b,far\n", `x.csv:2:5: "far" is not a length; accepted: 5, 5m`},
		{"x.csv", "from,to\na,\n", `x.csv:2:1: a cable from "a" to ""`},
		{"x.csv", "from,to,count\na,b,many\n", `x.csv:2:5: "many" is not a number of cables`},
		{"c.yml", "topology:\n  nodes:\n    a: {}\n  links:\n    - endpoints: [\"a:e1\", \"b:e1\"]\n",
			`c.yml:5:27: "b" is not among the nodes`},
		{"c.yml", "topology:\n  links:\n    - endpoints: [\"a\"]\n", "c.yml:3:18: a link has 1 endpoints"},
		{"c.yml", "topology:\n  nodes: {a: }, b\n  links: [\n", "c.yml:2:15: \", b\" is not accepted here"},
		{"t.conf", "SwitchName=a Nodes=h[1-\n", "t.conf:1:14: nodes: \"h[1-\" has a bracket"},
		{"h.txt", "3 1 2\n2\n0 9 100Gbps 1us 0\n", "h.txt:3:3: word 2: \"9\" is not a number from 0 to 2"},
		{"h.topo", "Nodes 4\nTiers 2\nPodsize x\n", `h.topo:3:9: "x" is not a number`},
		{"n.yml", "topology: [Switch, Ring]\nnpus_count: [2, 2]\nbandwidth: [1, 1]\nlatency: [1, 1]\n",
			"n.yml:1:11: dimension 2 is \"Ring\" between NPUs"},
		{"g.dot", "graph { a -- ", "g.dot:1:11: \"\" is not accepted here"},
		{"g.dot", "graph { a -- b", "g.dot:1:14: a } is missing at the end"},
		{"i.yaml", "instances:\n- {name: h, count: 2, device: s}\nedges:\n- {ep1: {instance: \"h[2]\", component: nic}, ep2: {instance: h, component: nic}}\n",
			`i.yaml:4:20: "h[2]": there are 2 of h`},
	} {
		_, err := Read([]File{{c.file, []byte(c.text)}}, "")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v\nwant %s", c.text, err, c.want)
		}
	}
}

// htsim's fat tree of three tiers: 16 servers, 8 switches of two, 8 above, 4 of four at the top, and the i-th of a
// pod at every second core.
func TestHtsimThreeTiers(t *testing.T) {
	text := "Nodes 16\nTiers 3\nPodsize 4\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\n" +
		"Downlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 2\n" +
		"Tier 2\nDownlink_speed_Gbps 400\nRadix_Down 4\n"
	c, err := Read([]File{{"x.topo", []byte(text)}}, "")
	if err != nil || len(c.Nodes) != 16+8+8+4 || len(c.Cables) != 16+16+16 {
		t.Fatal(err, len(c.Nodes), len(c.Cables))
	}
	if got := show(c); !strings.Contains(got, "agg-3-2 core-2 400Gbps; agg-3-2 core-4 400Gbps") ||
		!strings.Contains(got, "leaf-3-1 agg-3-2 200Gbps") {
		t.Error(got)
	}
}

// Reading ends at the position where there are more nodes or cables than can be simulated.
func TestTooMany(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"t.conf", strings.Repeat("SwitchName=a Nodes=h[1-150000]\nSwitchName=b Nodes=g[1-150000]\n", 100),
			"t.conf:2:1: more than 200000 nodes"},
		{"c.csv", "from,to,count\n" + strings.Repeat("a,b,1024\n", 3000),
			"c.csv:2150:1: more than 2200000 cables"},
		{"g.dot", "graph { {" + words(1500, "a") + "} -- {" + words(1500, "b") + "} }",
			"g.dot:1:9: more than 2200000"},
	} {
		_, err := Read([]File{{c.file, []byte(c.text)}}, "")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
}

func words(n int, head string) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint(head, i))
	}
	return strings.Join(out, " ")
}

const nxosTable = "Device ID            Local Intf      Hold-time  Capability  Port ID\n"

// Two devices that report each other have one cable between them, for any spelling of its ports and names. A port
// that announces its MAC is found from its own side.
func TestBothEnds(t *testing.T) {
	a := nxosTable + "spine-1.example.com  Eth1/1          120        BR          Ethernet1/7\n" +
		"spine-1.example.com  Eth1/2          120        BR          00:11:22:33:44:55\n"
	z := nxosTable + "leaf-1               Eth1/7          120        BR          Ethernet1/1\n" +
		"leaf-1               Eth1/8          120        BR          Ethernet1/2\n"
	c, err := Read([]File{{"leaf-1", []byte(a)}, {"spine-1", []byte(z)}}, "")
	if err != nil || len(c.Conflicts) > 0 {
		t.Fatal(err, c.Conflicts)
	}
	if got := show(c); got != "leaf-1:Eth1/1 spine-1:Ethernet1/7; leaf-1:Eth1/2 spine-1:Eth1/8" {
		t.Error(got)
	}
}

// Contradicting ends are one finding with both positions.
func TestContradiction(t *testing.T) {
	a := nxosTable + "spine-1              Eth1/1          120        BR          Ethernet1/7\n"
	z := nxosTable + "leaf-2               Eth1/7          120        BR          Ethernet1/1\n"
	c, err := Read([]File{{"leaf-1", []byte(a)}, {"spine-1", []byte(z)}}, "")
	if err != nil {
		t.Fatal(err)
	}
	want := "spine-1:2:1: spine-1:Eth1/7 is cabled to leaf-2:Ethernet1/1 here, and to leaf-1:Eth1/1, which contradicts leaf-1:2:1"
	if len(c.Conflicts) != 1 || c.Err().Error() != want {
		t.Errorf("%v\nwant %s", c.Err(), want)
	}
	twice := "from,from_port,to,to_port\na,1,b,1\na,1,c,1\n"
	if c, err = Read([]File{{"x.csv", []byte(twice)}}, ""); err != nil || len(c.Conflicts) != 1 {
		t.Error(err, c)
	}
}

// NetBox's three exports form one cabling.
func TestNetboxTables(t *testing.T) {
	c, err := Read([]File{
		{"devices.csv", []byte("name,role,device_type\nsw9,Leaf,SN5600\nbox,GPU server,\nspare,Leaf,\n")},
		{"interfaces.csv", []byte("device,name,type\nsw9,swp1,800gbase-x-osfp\nbox,ens1,400gbase-x-osfp\n")},
		{"cables.csv", []byte("side_a_device,side_a_name,side_b_device,side_b_name,length,length_unit\n" +
			"box,ens1,sw9,swp1,10,m\n")}}, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := show(c); got != "box:ens1 sw9:swp1 400Gbps 10m" || c.Nodes[0].Model != "SN5600" ||
		c.Nodes[1].Kind != Server || len(c.Nodes) != 3 {
		t.Error(got, c.Nodes)
	}
}

// A port's speed counts before its type, in kb/s or as tables show it. A speed of 0 or none is unset. A type
// without a letter, as for Ethernet's slow ones, is in Mb/s.
func TestNetboxSpeeds(t *testing.T) {
	for speed, want := range map[string]string{"400000000,": "400Gbps", "100 Gbps,": "100Gbps",
		"25000000,100gbase-x-qsfp28": "25Gbps", ",1000base-t": "1Gbps", ",100base-tx": "100Mbps",
		",2.5gbase-t": "2.5Gbps", "0,10gbase-x-sfpp": "10Gbps", ",infiniband-ndr": "", ",lag": "",
		",database": ""} {
		ports := "device,name,speed,type\nsw,p1," + speed + "\n"
		cables := "side_a_device,side_a_name,side_b_device,side_b_name\nsw,p1,h,e1\n"
		c, err := Read([]File{{"i.csv", []byte(ports)}, {"c.csv", []byte(cables)}}, "netbox-csv")
		if err != nil || show(c) != strings.TrimSpace("sw:p1 h:e1 "+want) {
			t.Errorf("%s: %v %v, want %s", speed, err, c, want)
		}
	}
}

// Interfaces alone contain the cables, each from its own end, across a patch panel between them.
func TestNetboxInterfaces(t *testing.T) {
	side := func(dev, port, far, farPort string) string {
		return fmt.Sprintf(`{"name": %q, "device": {"name": %q}, "type": {"value": "400gbase-x-osfp"},
 "link_peers": [{"name": "F1", "device": {"name": "panel"}}], "link_peers_type": "dcim.frontport",
 "connected_endpoints": [{"name": %q, "device": {"name": %q}}],
 "connected_endpoints_type": "dcim.interface"}`, port, dev, farPort, far)
	}
	text := `{"results": [` + side("leaf1", "swp1", "gpu1", "ens1") + ", " +
		side("gpu1", "ens1", "leaf1", "swp1") + "]}"
	c, err := Read([]File{{"interfaces.json", []byte(text)}}, "")
	if err != nil || show(c) != "leaf1:swp1 gpu1:ens1 400Gbps" || len(c.Conflicts) > 0 {
		t.Error(err, c)
	}
}

// In a directed graph an arrow back is the same cable, and a second one in the same direction is another cable.
func TestDigraph(t *testing.T) {
	text := "digraph { leaf1 -> spine1; spine1 -> leaf1; leaf1 -> spine1; h1 -> leaf1 [label=\"2x 800G\"] }"
	c, err := Read([]File{{"g.dot", []byte(text)}}, "")
	if err != nil || show(c) != "h1 leaf1 400Gbps; h1 leaf1 400Gbps; leaf1 spine1; leaf1 spine1" {
		t.Error(err, show(c))
	}
}

// A graph begins in any form of the language, and its name may be a quoted sign. Arrows in both directions are one
// cable only if the graph is directed.
func TestDotHeads(t *testing.T) {
	for head, want := range map[string]int{"graph": 2, "strict graph": 2, "GRAPH net": 2, "digraph": 1,
		"strict digraph g": 1, `digraph "{"`: 1, `graph "a" + "b"`: 0, "strict": 0, "": 0} {
		c, err := Read([]File{{"g.dot", []byte(head + " { a -> b; b -> a }")}}, "")
		if (err == nil) != (want > 0) || err == nil && len(c.Cables) != want {
			t.Errorf("%s: %v %v, want %d cables", head, err, c, want)
		}
	}
}

// Files are named after devices in many ways.
func TestDeviceOf(t *testing.T) {
	for file, want := range map[string]string{"leaf-1.txt": "leaf-1", "a/leaf-1_lldp.json": "leaf-1",
		"lldp-leaf-1.log": "leaf-1", "leaf-1": "leaf-1", "r1.sw.7": "r1.sw.7",
		"x/leaf-2-lldp-neighbors.txt":        "leaf-2",
		"all/leaf-3/show_lldp_neighbors.txt": "leaf-3", "leaf-4/lldp.json": "leaf-4", "show.txt": "show",
		`c:\tables\leaf-5.txt`: "leaf-5", "tower.txt": "tower"} {
		if got := deviceOf(file); got != want {
			t.Errorf("%s is of %s, want %s", file, got, want)
		}
	}
}

// lldpcli's other form, in which every level is a list and every value is wrapped. A port with a MAC address is
// named by its description. Names of devices are the files'.
func TestLLDPJSON0(t *testing.T) {
	text := `{"lldp": [{"interface": [{"name": "eth0", "via": "LLDP", "chassis": [{
 "id": [{"type": "mac", "value": "00:00:00:00:00:02"}], "name": [{"value": "tor-2.example.com"}],
 "capability": [{"type": "Bridge", "enabled": true}]}],
 "port": [{"id": [{"type": "mac", "value": "00:00:00:00:00:02"}], "descr": [{"value": "eth1"}]}]}]}]}`
	c, err := Read([]File{{"lldp/gpu-7_lldp.json", []byte(text)}}, "")
	if err != nil || show(c) != "gpu-7:eth0 tor-2.example.com:eth1" || c.Nodes[1].Kind != Switch {
		t.Error(err, c)
	}
}

// FuzzRead gives every parser any text: no panic, no hang, and the result is consistent.
func FuzzRead(f *testing.F) {
	for _, format := range Names() {
		s := string(samples(f, format)[0].Text)
		f.Add(s)
		for i := 7; i < len(s); i += 41 {
			f.Add(s[:i] + s[i+1:])
			f.Add(s[:i] + "{[\"-" + s[i:])
			f.Add(s[:i])
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 10_000 {
			return
		}
		for _, format := range append(Names(), "") {
			c, err := Read([]File{{"leaf-1.txt", []byte(text)}}, format)
			if err != nil {
				continue
			}
			for _, x := range c.Cables {
				if x.A.Node == x.B.Node || x.A.Node >= len(c.Nodes) || x.B.Node >= len(c.Nodes) ||
					x.Rate < 0 || x.LengthMM < 0 {
					t.Fatalf("%s: %+v", format, x)
				}
			}
			for i, n := range c.Nodes {
				if n.Name == "" || c.Node(n.Name) != i {
					t.Fatalf("%s: %+v", format, n)
				}
			}
		}
	})
}

// shared is the folder of other simulators' inputs, if available.
func shared(t *testing.T, name string) []byte {
	t.Helper()
	return published.Read(t, name)
}

// Files of other simulators have their stated counts.
func TestOthersFiles(t *testing.T) {
	for name, want := range map[string]string{
		"hpcc/topology.txt":          "66 nodes, 65 cables",
		"htsim/leaf_spine_tiny.topo": "38 nodes, 40 cables",
		"htsim/fat_tree_1024.topo":   "1344 nodes, 3072 cables",
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Read([]File{{name, shared(t, name)}}, "")
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%d nodes, %d cables", len(c.Nodes), len(c.Cables)); got != want ||
				len(c.Conflicts) > 0 {
				t.Errorf("%s, want %s; %v", got, want, c.Conflicts)
			}
		})
	}
}

// A byte order mark before a list of cables is no part of it.
func TestByteOrderMark(t *testing.T) {
	for _, text := range []string{"from,to\na,b\n", "\ufefffrom,to\r\na,b\r\n"} {
		if c, err := Read([]File{{"x.csv", []byte(text)}}, ""); err != nil || len(c.Cables) != 1 {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestManagementNetworks checks that management networks in neighbour tables are omitted with one note, by ports
// and by names of switches, and read on request. A server's eth0 at a leaf belongs to the fabric.
func TestManagementNetworks(t *testing.T) {
	table := []File{{"leaf-1.txt", []byte(`leaf-1.mgmt.example.com# show lldp neighbors
Port          Neighbor Device ID       Neighbor Port ID    TTL
---------- ------------------------ ---------------------- ---
Et1           spine-1.mgmt.example.com Ethernet1           120
Et2           host-1                   eth0                120
Ma1           core-1                   Ethernet7           120
Et46          oob-switch-1             Ethernet9           120
Et47          sw-mgmt2.example.com     Ethernet9           120
Et48          spine-2                  eth0                120
`)}, {"oob-switch-1.txt", []byte(`oob-switch-1# show lldp neighbors
Port          Neighbor Device ID       Neighbor Port ID    TTL
---------- ------------------------ ---------------------- ---
Et9           leaf-1                   Ethernet46          120
`)}}
	c, err := Read(table, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Cables) != 2 || len(c.Nodes) != 3 || len(c.Notes) != 1 || c.Notes[0].Count != 5 {
		t.Errorf("%+v, %+v, %+v", c.Cables, c.Nodes, c.Notes)
	}
	if c, err = ReadAll(table, ""); err != nil || len(c.Cables) != 6 || len(c.Notes) != 0 {
		t.Errorf("%+v, %+v, %v", c.Cables, c.Notes, err)
	}
}

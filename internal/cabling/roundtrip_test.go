package cabling

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// graph draws servers and leaves, and cables between them, each with its own ports, in a random order and from
// either end.
func graph(t *rapid.T) *Cabling {
	hosts, leaves := rapid.IntRange(1, 5).Draw(t, "hosts"), rapid.IntRange(1, 4).Draw(t, "leaves")
	var nodes []Node
	for i := range hosts {
		nodes = append(nodes, Node{Name: fmt.Sprintf("host-%d", i), Kind: Server})
	}
	for i := range leaves {
		nodes = append(nodes, Node{Name: fmt.Sprintf("leaf-%d", i+hosts), Kind: Switch, Role: "leaf"})
	}
	ports := make([]int, len(nodes))
	port := func(n int) End {
		ports[n]++
		return End{n, fmt.Sprintf("Eth%d", ports[n])}
	}
	var cables []Cable
	add := func(a, z int) {
		x := Cable{A: port(a), B: port(z), LengthMM: 99 * rapid.Int64Range(1, 9000).Draw(t, "length"),
			Rate: rapid.SampledFrom([]unit.Rate{10, 100, 400, 800}).Draw(t, "rate") * unit.Gbps}
		if rapid.Bool().Draw(t, "from the other end") {
			x.A, x.B = x.B, x.A
		}
		cables = append(cables, x)
	}
	for i := range len(nodes) { // each node has a cable, because lists of cables contain no others
		add(i%hosts, hosts+i%leaves)
		add(min(i, hosts-1), max(i, hosts))
	}
	return New(nodes, rapid.Permutation(cables).Draw(t, "order"))
}

// each writes a line for each cable.
func each(c *Cabling, head string, line func(a, z Node, x Cable) string) string {
	var s strings.Builder
	s.WriteString(head)
	for _, x := range c.Cables {
		s.WriteString(line(c.Nodes[x.A.Node], c.Nodes[x.B.Node], x) + "\n")
	}
	return s.String()
}

// heads writes the neighbours of each node, one file each; servers have lldpcli instead of a switch's tables.
func heads(c *Cabling, head string, line func(port, far, farPort string) string, tail string) (out []File) {
	for n := range c.Nodes {
		if c.Nodes[n].Kind == Server && tail == "" {
			continue
		}
		text, sep := head, ""
		for _, x := range c.Cables {
			for _, e := range [][2]End{{x.A, x.B}, {x.B, x.A}} {
				if e[0].Node == n {
					text += sep + line(e[0].Port, c.Nodes[e[1].Node].Name, e[1].Port)
					if sep = "\n"; tail != "" {
						sep = ",\n"
					}
				}
			}
		}
		out = append(out, File{c.Nodes[n].Name + ".txt", []byte(text + "\n" + tail)})
	}
	return out
}

func gbps(r unit.Rate) string { return fmt.Sprintf("%dGbps", r/unit.Gbps) }

// writers write a cabling in the formats of others, with which of rates, lengths and ports a format can hold.
var writers = map[string]struct {
	rates, lengths, ports bool
	write                 func(c *Cabling) []File
}{
	"csv": {true, true, true, func(c *Cabling) []File {
		return []File{{"x", []byte(each(c, "src,src_port,dst,dst_port,length_mm,rate\n",
			func(a, z Node, x Cable) string {
				return fmt.Sprintf("%s,%s,%s,%s,%d,%s", a.Name, x.A.Port, z.Name, x.B.Port, x.LengthMM,
					gbps(x.Rate))
			}))}}
	}},
	"netbox-csv": {true, true, true, func(c *Cabling) []File {
		ports := "device,name,speed\n"
		for _, x := range c.Cables {
			ports += fmt.Sprintf("%s,%s,%d\n", c.Nodes[x.A.Node].Name, x.A.Port, x.Rate/1000)
		}
		return []File{{"interfaces", []byte(ports)}, {"cables", []byte(each(c,
			"side_a_device,side_a_name,side_b_device,side_b_name,length,length_unit\n",
			func(a, z Node, x Cable) string {
				return fmt.Sprintf("%s,%s,%s,%s,%d.%d,cm", a.Name, x.A.Port, z.Name, x.B.Port,
					x.LengthMM/10, x.LengthMM%10)
			}))}}
	}},
	"netbox-json": {false, true, true, func(c *Cabling) []File {
		end := func(n Node, e End) string {
			return fmt.Sprintf(`[{"object": {"device": {"name": %q}, "name": %q}}]`, n.Name, e.Port)
		}
		text := each(c, `{"results": [`, func(a, z Node, x Cable) string {
			return fmt.Sprintf(`{"a_terminations": %s, "b_terminations": %s, "length": %d.%03d, `+
				`"length_unit": {"value": "m"}},`, end(a, x.A), end(z, x.B), x.LengthMM/1000, x.LengthMM%1000)
		})
		return []File{{"x", []byte(strings.TrimSuffix(text, ",\n") + "]}")}}
	}},
	"dot": {true, false, true, func(c *Cabling) []File {
		return []File{{"x", []byte(each(c, "graph {\n", func(a, z Node, x Cable) string {
			return fmt.Sprintf("%q:%s -- %q:%q [label=\"%s\"];", a.Name, x.A.Port, z.Name, x.B.Port,
				gbps(x.Rate))
		}) + "}")}}
	}},
	"containerlab": {false, false, true, func(c *Cabling) []File {
		head := "topology:\n  nodes:\n"
		for _, n := range c.Nodes {
			head += "    " + n.Name + ": {}\n"
		}
		return []File{{"x", []byte(each(c, head+"  links:\n", func(a, z Node, x Cable) string {
			return fmt.Sprintf("    - endpoints: [\"%s:%s\", \"%s:%s\"]", a.Name, x.A.Port, z.Name, x.B.Port)
		}))}}
	}},
	"infragraph": {true, true, true, func(c *Cabling) []File {
		links, edges := "links:\n", "connections:\n"
		for i, x := range c.Cables {
			// 99 mm are 500 ps at 1.98e8 m/s
			links += fmt.Sprintf("- {name: k%d, bandwidth: {gigabits_per_second: %d}, "+
				"latency: {ns: %d.%d}}\n",
				i, x.Rate/unit.Gbps, x.LengthMM/99/2, x.LengthMM/99%2*5)
			dots := func(e End) string {
				return strings.Replace(c.Nodes[e.Node].Name, "-", ".", 1) + ".port." + e.Port[3:]
			}
			edges += fmt.Sprintf("- %s.k%d.%s\n", dots(x.A), i, dots(x.B))
		}
		return []File{{"x", []byte("infrastructure:\n  " +
			strings.TrimSpace(strings.ReplaceAll(links+edges, "\n",
				"\n  ")) + "\n")}}
	}},
	"hpcc": {true, true, false, func(c *Cabling) []File {
		head, ids := "", ""
		for i, n := range c.Nodes {
			if n.Kind == Switch {
				head, ids = fmt.Sprintf("%d %d %d\n", len(c.Nodes), len(c.Nodes)-i, len(c.Cables)),
					fmt.Sprintf("%d %s", i, ids)
				for k := i + 1; k < len(c.Nodes); k++ {
					ids += fmt.Sprintf(" %d", k)
				}
				break
			}
		}
		return []File{{"x", []byte(each(c, head+ids+"\n", func(_, _ Node, x Cable) string {
			return fmt.Sprintf("%d %d %s %dps 0", x.A.Node, x.B.Node, gbps(x.Rate), x.LengthMM/99*500)
		}))}}
	}},
	"lldp-eos": {false, false, true, func(c *Cabling) []File {
		return heads(c, "Port  Neighbor Device ID  Neighbor Port ID  TTL\n",
			func(port, far, farPort string) string {
				return fmt.Sprintf("%s  %s  %s  120", port, far, farPort)
			}, "")
	}},
	"lldp-nxos": {false, false, true, func(c *Cabling) []File {
		return heads(c, "Device ID  Local Intf  Hold-time  Capability  Port ID\n",
			func(port, far, farPort string) string {
				return fmt.Sprintf("%s  %s  120  BR  %s", far, port, farPort)
			}, "")
	}},
	"lldp-sonic": {false, false, true, func(c *Cabling) []File {
		return heads(c, "LocalPort    RemoteDevice  RemotePortID\n---------    ------------  ------------\n",
			func(port, far, farPort string) string {
				return fmt.Sprintf("%-13s%-14s%s", port, far, farPort)
			}, "")
	}},
	"lldpcli": {false, false, true, func(c *Cabling) []File {
		return heads(c, `{"lldp": {"interface": [`, func(port, far, farPort string) string {
			return fmt.Sprintf(`{%q: {"chassis": {%q: {}}, "port": {"id": {"type": "ifname", "value": %q}}}}`,
				port, far, farPort)
		}, "]}}")
	}},
}

// plainNames are the names without a format's additions and omissions.
func plainNames(c *Cabling) *Cabling {
	out := &Cabling{byName: map[string]int{}, Cables: c.Cables}
	for i, n := range c.Nodes {
		n.Name = n.Name[strings.LastIndexAny(n.Name, "-.")+1:]
		out.byName[n.Name], out.Nodes = i, append(out.Nodes, n)
	}
	return out
}

// A cabling written in a format parses to an equal one. infragraph and HPCC have numbers for names; SimAI, htsim,
// ASTRA-sim and Slurm cannot hold every graph.
func TestRoundTrip(t *testing.T) {
	names := slices.Sorted(maps.Keys(writers))
	rapid.Check(t, func(t *rapid.T) {
		want := graph(t)
		for _, name := range names {
			w := writers[name]
			files := w.write(want)
			got, err := Read(files, name)
			if err == nil {
				err = got.Err()
			}
			if err != nil {
				t.Fatalf("%s: %v in\n%s", name, err, files[0].Text)
			}
			if diff := Same(plainNames(want), plainNames(got), w.rates, w.lengths); diff != "" {
				t.Fatalf("%s: %s in\n%s", name, diff, files[0].Text)
			}
			if w.ports && name != "infragraph" {
				if a, z := joined(want), joined(got); !maps.Equal(a, z) {
					t.Fatalf("%s: ports %v, want %v", name, z, a)
				}
			}
		}
	})
}

// joined returns which port is cabled to which, from both sides.
func joined(c *Cabling) map[string]string {
	out := map[string]string{}
	for _, x := range c.Cables {
		out[c.End(x.A)], out[c.End(x.B)] = c.End(x.B), c.End(x.A)
	}
	return out
}

// The order of lines, or of the files of several devices, is irrelevant.
func TestOrderDoesNotMatter(t *testing.T) {
	head := map[string]int{"csv": 1, "hpcc": 2, "lldp-eos": 1, "lldp-nxos": 1, "lldp-sonic": 2}
	names := slices.Sorted(maps.Keys(head))
	rapid.Check(t, func(t *rapid.T) {
		want := graph(t)
		for _, name := range names {
			files := writers[name].write(want)
			for i, f := range files {
				rows := strings.Split(strings.TrimSpace(string(f.Text)), "\n")
				rest := rapid.Permutation(rows[head[name]:]).Draw(t, "rows")
				rows = append(rows[:head[name]:head[name]], rest...)
				files[i].Text = []byte(strings.Join(rows, "\r\n"))
			}
			got, err := Read(rapid.Permutation(files).Draw(t, "files"), name)
			if err != nil {
				t.Fatal(name, err)
			}
			w := writers[name]
			if diff := Same(plainNames(want), plainNames(got), w.rates, w.lengths); diff != "" {
				t.Fatalf("%s: %s", name, diff)
			}
		}
	})
}

// A slice expands to its names, with any step.
func TestSlices(t *testing.T) {
	for _, c := range []struct {
		text string
		want []int
	}{{"h", []int{0, 1, 2, 3}}, {"h[2]", []int{2}}, {"h[1:3]", []int{1, 2}}, {"h[:2]", []int{0, 1}},
		{"h[2:]", []int{2, 3}}, {"h[0:4:2]", []int{0, 2}}, {"h[1:4:3]", []int{1}},
		{"h[1:3:9223372036854775807]", []int{1}}} {
		_, got, _, err := span(&tree{text: c.text}, func(string) int { return 4 })
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.text, got, err, c.want)
		}
	}
}

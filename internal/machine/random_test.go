package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// box is a random server: leaves, GPUs and NICs, each below PCIe switches of a CPU.
type box struct {
	cpus   []*bridge
	gpus   []leaf
	nics   []leaf
	linked string  // none, switch or mesh
	links  [][]int // NVLinks by pair of GPUs
}

// bridge is a CPU or a PCIe switch.
type bridge struct {
	below  []*bridge
	leaves []string // as XML
}

// leaf is the position of a device: its path from the CPU, by numbers.
type leaf struct {
	name string
	way  []int
}

// drawBox draws a server whose devices have distinct addresses.
func drawBox(t *rapid.T) *box {
	b := &box{}
	var places []*bridge
	var ways [][]int
	var grow func(at *bridge, way []int)
	grow = func(at *bridge, way []int) {
		places, ways = append(places, at), append(ways, way)
		if len(way) > 3 {
			return
		}
		for i := range rapid.IntRange(0, 2).Draw(t, "switches below") {
			next := &bridge{}
			at.below = append(at.below, next)
			grow(next, append(slices.Clone(way), i))
		}
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "CPUs") {
		b.cpus = append(b.cpus, &bridge{})
		grow(b.cpus[i], []int{i})
	}
	put := func(i int, xml string) []int {
		p := rapid.IntRange(0, len(places)-1).Draw(t, "place")
		places[p].leaves = append(places[p].leaves, xml)
		return ways[p]
	}
	gpus, nics := rapid.IntRange(1, 8).Draw(t, "GPUs"), rapid.IntRange(1, 8).Draw(t, "NICs")
	b.linked = rapid.SampledFrom([]string{"none", "switch", "mesh"}).Draw(t, "NVLink")
	if gpus < 3 && b.linked == "switch" {
		b.linked = "none"
	}
	for g := range gpus {
		b.links = append(b.links, make([]int, gpus))
		for k := range g {
			if b.linked == "mesh" { // at most 2 to each of 7, because more than 18 would lead to a switch
				b.links[g][k] = rapid.IntRange(0, 2).Draw(t, "NVLinks")
				b.links[k][g] = b.links[g][k]
			}
		}
	}
	for g := range gpus {
		xml := fmt.Sprintf(`<pci busid="0000:%02x:00.0" class="0x030200"><gpu dev="%d" sm="90">`, 16+g, g)
		if b.linked == "switch" {
			xml += `<nvlink target="ffffff" count="18" tclass="0x068000"/>`
		}
		for k, n := range b.links[g] {
			if n > 0 {
				xml += fmt.Sprintf(`<nvlink target="0000:%02X:00.0" count="%d" tclass="0x030200"/>`, 16+k, n)
			}
		}
		if b.linked == "mesh" { // to itself, so that the matrix has an entry
			xml += fmt.Sprintf(`<nvlink target="0000:%02x:00.0" count="1" tclass="0x030200"/>`, 16+g)
		}
		b.gpus = append(b.gpus, leaf{fmt.Sprintf("GPU%d", g), put(g, xml+"</gpu></pci>")})
	}
	for n := range nics {
		name := fmt.Sprintf("mlx5_%d", n)
		b.nics = append(b.nics, leaf{name, put(n, fmt.Sprintf(`<pci busid="0000:%02x:00.0" class="0x020000">`+
			`<nic><net name="%s" dev="%d" speed="400000"/></nic></pci>`, 128+n, name, n))})
	}
	return b
}

// xml writes the box as NCCL does.
func (b *box) xml() string {
	var s strings.Builder
	bus := 0x2000
	var write func(at *bridge)
	write = func(at *bridge) {
		s.WriteString(strings.Join(at.leaves, "\n"))
		for _, next := range at.below {
			bus++
			fmt.Fprintf(&s, "<pci busid=\"%04x:00:00.0\" class=\"0x060400\">\n", bus)
			write(next)
			s.WriteString("</pci>\n")
		}
	}
	s.WriteString("<system version=\"1\">\n")
	for i, c := range b.cpus {
		fmt.Fprintf(&s, "<cpu numaid=\"%d\">\n", i)
		write(c)
		s.WriteString("</cpu>\n")
	}
	return s.String() + "</system>\n"
}

// word returns the distance between two devices, by the common part of their paths.
func word(a, b leaf) string {
	n := 0
	for n < min(len(a.way), len(b.way)) && a.way[n] == b.way[n] {
		n++
	}
	switch {
	case n == 0:
		return "SYS"
	case n == 1:
		return "PHB"
	case n == len(a.way) && n == len(b.way):
		return "PIX"
	}
	return "PXB"
}

// matrix writes the box as nvidia-smi does.
func (b *box) matrix() string {
	all := append(slices.Clone(b.gpus), b.nics...)
	name := func(i int) string {
		if i < len(b.gpus) {
			return b.gpus[i].name
		}
		return fmt.Sprintf("NIC%d", i-len(b.gpus))
	}
	rows := make([]string, len(all)+1)
	for i := range all {
		rows[0] += "\t" + name(i)
		rows[i+1] = name(i)
		for k := range all {
			w := word(all[i], all[k])
			switch {
			case i == k:
				w = "X"
			case max(i, k) < len(b.gpus) && b.linked == "switch":
				w = "NV18"
			case max(i, k) < len(b.gpus) && b.links[i][k] > 0:
				w = fmt.Sprintf("NV%d", b.links[i][k])
			}
			rows[i+1] += "\t" + w
		}
	}
	legend := "\nNIC Legend:\n\n"
	for i, n := range b.nics {
		legend += fmt.Sprintf("  NIC%d: %s\n", i, n.name)
	}
	return strings.Join(rows, "\n") + "\n" + legend
}

// told returns the content of a server that both formats have, without the order of NICs.
func told(s *Server) string {
	var out []string
	for g, of := range s.Uses {
		var names []string
		for _, n := range of {
			names = append(names, s.NICs[n].Name)
		}
		slices.Sort(names)
		out = append(out, fmt.Sprint(s.GPUs[g], names, s.Near[g]))
	}
	apart := slices.Clone(s.Apart)
	slices.Sort(apart)
	return fmt.Sprint(out, apart)
}

// A server is equal in both formats. Each GPU sends by NICs that are as near as any, and the NVLinks are those of
// the box.
func TestBothToolsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBox(t)
		dump, err := Read("dump.xml", []byte(b.xml()))
		if err != nil {
			t.Fatalf("%v\n%s", err, b.xml())
		}
		table, err := Read("topo.txt", []byte(b.matrix()))
		if err != nil {
			t.Fatalf("%v\n%s", err, b.matrix())
		}
		if told(dump) != told(table) {
			t.Fatalf("%s\nand by its matrix %s\n%s\n%s", told(dump), told(table), b.xml(), b.matrix())
		}
		for g, of := range dump.Uses {
			least := SYS
			for _, n := range b.nics {
				d, _ := nearOf(word(b.gpus[g], n))
				least = min(least, d)
			}
			if dump.Near[g] != least {
				t.Fatalf("GPU %d is %v from its NICs, the nearest is %v", g, dump.Near[g], least)
			}
			for _, n := range of {
				i := slices.IndexFunc(b.nics, func(l leaf) bool { return l.name == dump.NICs[n].Name })
				if d, _ := nearOf(word(b.gpus[g], b.nics[i])); d != least {
					t.Fatalf("GPU %d sends by %s, which is %v away", g, b.nics[i].name, d)
				}
			}
		}
		want := map[string]int{"switch": 18}[b.linked]
		if b.linked == "mesh" {
			want = 1 << 20
			for _, row := range b.links {
				sum := 0
				for _, n := range row {
					sum += n
				}
				want = min(want, sum)
			}
		}
		if dump.Links() != want || table.Links() != want {
			t.Fatalf("%s: %d and %d NVLinks, want %d", b.linked, dump.Links(), table.Links(), want)
		}
	})
}

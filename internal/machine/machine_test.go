package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"railyard/unit"
)

func read(t testing.TB, name string) *Server {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Read(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// uses returns the NICs by which each GPU sends.
func uses(s *Server) string {
	var out []string
	for g, of := range s.Uses {
		var names []string
		for _, n := range of {
			names = append(names, strings.TrimSuffix(s.NICs[n].Name, ":00:00.0"))
		}
		out = append(out, fmt.Sprintf("%s %v", strings.Join(names, "+"), s.Near[g]))
	}
	return strings.Join(out, ", ")
}

// A DGX A100 has two cards at two GPUs each, and four for storage that are near none; twelve NVLinks
// lead to a switch.
func TestDGXA100(t *testing.T) {
	s := read(t, "dgx-a100.txt")
	if got := uses(s); got != "mlx5_0 PXB, mlx5_1 PXB, mlx5_2 PXB, mlx5_3 PXB, mlx5_6 PXB, mlx5_7 PXB, "+
		"mlx5_8 PXB, mlx5_9 PXB" {
		t.Error(got)
	}
	if got := fmt.Sprint(s.Apart); got != "[mlx5_4 mlx5_5 mlx5_10 mlx5_11]" || s.Links() != 12 {
		t.Errorf("%s near none, %d links", got, s.Links())
	}
	f, err := s.Join(200*unit.Gbps, 0)
	if err != nil || f.Paired() || f.Rate(0, 7) != 2400*unit.Gbps {
		t.Errorf("%+v, %v", f, err)
	}
}

// A DGX-1 is a cube whose edges have one or two NVLinks; GPUs without an edge between them use PCIe. Four cards
// serve two GPUs each.
func TestDGX1(t *testing.T) {
	s := read(t, "dgx-1.txt")
	if got := uses(s); got != "mlx5_0 PIX, mlx5_0 PIX, mlx5_1 PIX, mlx5_1 PIX, mlx5_2 PIX, mlx5_2 PIX, "+
		"mlx5_3 PIX, mlx5_3 PIX" {
		t.Error(got)
	}
	if _, err := s.Join(200*unit.Gbps, 0); err == nil ||
		!strings.Contains(err.Error(), "GPU0 and GPU5 are connected by PCIe alone") {
		t.Error(err)
	}
	f, err := s.Join(200*unit.Gbps, 100*unit.Gbps)
	if err != nil || s.Links() != 6 || !f.Paired() || f.Rate(0, 3) != 400*unit.Gbps ||
		f.Rate(0, 1) != 200*unit.Gbps || f.Rate(0, 5) != 100*unit.Gbps || f.Check() != nil {
		t.Errorf("%d links, %v", s.Links(), err)
	}
}

// Azure's file names no GPU and no net. Devices are GPUs and cards by their class, in the order of their addresses,
// which differs from that of the CPUs. Nothing limits a card of 200G at a switch.
func TestNDA100v4(t *testing.T) {
	s := read(t, "nd-a100-v4.xml")
	if got := uses(s); got != "0101 PIX, 0102 PIX, 0103 PIX, 0104 PIX, 0105 PIX, 0106 PIX, 0107 PIX, "+
		"0108 PIX" {
		t.Error(got)
	}
	if f, err := s.Join(unit.Gbps, 0); f != nil || err != nil || s.SM != 0 {
		t.Errorf("the file says nothing of NVLink: %v, %v", f, err)
	}
	for _, b := range s.Buses {
		if len(b.NICs) != 1 || b.Rate < 230*unit.Gbps || b.Rate > 231*unit.Gbps {
			t.Errorf("%+v", b)
		}
	}
	if len(s.Buses) != 16 { // a GPU's and a card's link for each card, and no uplink
		t.Errorf("%d links", len(s.Buses))
	}
}

// A dump has rates and links.
func TestDumpOfAnH100(t *testing.T) {
	s := read(t, "hgx-h100-dump.xml")
	if len(s.GPUs) != 8 || len(s.NICs) != 8 || s.NICs[7] != (NIC{"mlx5_7", 400 * unit.Gbps, s.NICs[7].at}) ||
		s.SM != 90 || s.Links() != 18 || len(s.Apart) != 0 {
		t.Errorf("%v", s)
	}
	f, err := s.Join(200*unit.Gbps, 0)
	if err != nil || f.Rate(2, 5) != 3600*unit.Gbps || f.Paired() {
		t.Errorf("%+v, %v", f, err)
	}
}

// Four cards of 100G at a GPU's switch, as in a P5, share the GPU's own link. A card at another CPU shares its
// CPU's capacity with all cards of that CPU.
func TestBuses(t *testing.T) {
	p5 := `<system version="1"><cpu numaid="0" vendor="AuthenticAMD" familyid="25" modelid="17">
<pci busid="0:1" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">
<pci busid="0:2" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16"><gpu dev="0" sm="90"/></pci>`
	for i := range 4 {
		p5 += fmt.Sprintf(`<pci busid="0:%d" class="0x020000" link_speed="16.0 GT/s PCIe" link_width="8">`+
			`<nic><net name="efa_%d" dev="%d" speed="100000"/></nic></pci>`, i+3, i, i)
	}
	p5 += `</pci></cpu></system>`
	s, err := Read("p5", []byte(p5))
	if err != nil || uses(s) != "efa_0+efa_1+efa_2+efa_3 PIX" {
		t.Fatalf("%v, %v", s, err)
	}
	if len(s.Buses) != 5 || len(s.Buses[0].NICs) != 4 || s.Buses[0].Rate.String()[:3] != "230" {
		t.Errorf("%+v", s.Buses)
	}
	far := `<system version="1"><cpu numaid="0" vendor="GenuineIntel" modelid="85">
<pci busid="0:1" class="0x0302" link_speed="8 GT/s" link_width="16"/></cpu>
<cpu numaid="1" vendor="GenuineIntel" modelid="85">
<pci busid="0:2" class="0x02" link_speed="" link_width="0"/>
</cpu></system>`
	if s, err = Read("far", []byte(far)); err != nil || s.Near[0] != SYS || len(s.Buses) != 3 ||
		s.Buses[0].Rate != 80*unit.Gbps {
		t.Errorf("%+v, %v", s, err)
	}
}

// A mesh of XGMI, as RCCL dumps it, is pairs; so are NVLinks between two GPUs.
func TestPairsOfXML(t *testing.T) {
	text := `<system version="1"><cpu numaid="0">`
	for i := range 3 {
		text += fmt.Sprintf(`<pci busid="0000:0%d:00.0" class="0x0302"><gpu dev="%d">`, i, i)
		for k := range 3 {
			if k != i {
				text += fmt.Sprintf(`<xgmi target="0000:0%d:00.0" count="1" tclass="0x038000"/>`, k)
			}
		}
		text += `</gpu></pci>`
	}
	text += `<pci busid="0000:09:00.0" class="0x02"/></cpu></system>`
	s, err := Read("mesh", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if f, err := s.Join(512*unit.Gbps, 0); err != nil || !f.Paired() || f.Slowest() != 512*unit.Gbps {
		t.Errorf("%v", err)
	}
	if uses(s) != "0000:09:00.0 PHB, 0000:09:00.0 PHB, 0000:09:00.0 PHB" {
		t.Error(uses(s))
	}
}

// Links to unknown devices are skipped and reported, as in Azure's file of the NCv4. Its GPUs then reach one
// another over PCIe and between CPUs.
func TestLinksToNobody(t *testing.T) {
	text := `<system version="1">`
	for i := range 2 {
		text += fmt.Sprintf(`<cpu numaid="%d" vendor="AuthenticAMD" familyid="175"><pci busid="%d" `+
			`class="0x0302" link_speed="" link_width="0"><gpu dev="%d" sm="80"><nvlink target="%d" `+
			`count="12" tclass="0x0302"/></gpu></pci><nic><net name="eth%d" dev="%d" speed="100000"/>`+
			`</nic></cpu>`, i, i, i, 5*i, i, i)
	}
	s, err := Read("ncv4", []byte(text+"</system>"))
	if err != nil || fmt.Sprint(s.Notes) != "[line 1: 12 links of 0 to itself ignored "+
		"line 1: 12 links to 5, which is not a GPU here, ignored]" {
		t.Fatalf("%v, %v", s, err)
	}
	if uses(s) != "eth0 PHB, eth1 PHB" || s.NICs[0].Rate != 100*unit.Gbps {
		t.Error(uses(s))
	}
	if f, err := s.Join(unit.Gbps, 0); err != nil || f.Slowest() != 24*8*unit.Gbps {
		t.Errorf("%v, %v", f, err)
	}
}

// An impossible file is rejected with its line and column.
func TestBadTopologies(t *testing.T) {
	m := "\tGPU0\tGPU1\tNIC0\tCPU Affinity\nGPU0\t X \tNV4\tPIX\t0\nGPU1\tNV4\t X \tPIX\t0\n" +
		"NIC0\tPIX\tPIX\t X\t\n"
	x := `<system version="1"><cpu numaid="0"><pci busid="a" class="0x0302"/><pci busid="b" class="0x02"/>` +
		`</cpu></system>`
	for _, text := range []string{m, x, strings.ReplaceAll(m, "\t", "   ")} {
		if _, err := Read("x", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ text, from, to, want string }{
		{m, m, "", "x: is empty"},
		{m, m, "\x00", "x: is a binary file"},
		{m, m, "hello\nworld\n", "x: has no line that begins with GPU0"},
		{m, "PIX\t0\nGPU1", "PIY\t0\nGPU1", `x:2:14: GPU0 to NIC0 is "PIY" (did you mean "PIX"?)`},
		{m, "GPU1\tNV4", "GPU1\tNV2", "x:3:6: GPU1 to GPU0 is NV2, and NV4 in line 2"},
		{m, "GPU1\tNV4\t X ", "GPU1\t X \tNV4", "x:3:7: GPU1 to GPU0 is \"X\""},
		{m, "\nGPU1\t", "\nGPU2\t", `x:3:1: "GPU2" is not a column of the matrix; they are GPU0, GPU1, NIC0`},
		{m, "\nGPU1\tNV4\t X \tPIX\t0", "", "x: GPU1 has a column and no row"},
		{m, "\nGPU1\tNV4\t X \tPIX\t0", "\nGPU0\t X \tNV4\tPIX\t0",
			"x:3:1: GPU0 has a row already, in line 2"},
		{m, "\nGPU1\tNV4\t X \tPIX\t0", "\nGPU1\tNV4", "x:3:1: the row of GPU1 has 1 entry"},
		{m, "GPU0\tGPU1\tNIC0", "GPU0\tGPU0\tNIC0", `x:1:7: "GPU0" is repeated`},
		{m, "NV4", "NV4000", "x:2:10: NV4000 is not a number of NVLinks"},
		{x, "<system ", "<topology ", "x:1:1: begins with <topology>, expected <system>"},
		{x, `version="1"`, `version="2"`, "x:1:1: version 2 of NCCL's topology"},
		{x, "</cpu>", "", "x:1:"},
		{x, `<cpu numaid="0">`, "\n <pci>", "x:2:2: <pci> is in a wrong place"},
		{x, `<cpu numaid="0">`, `<cpu familyid="y">`, `x:1:21: familyid="y" is not a number`},
		{x, `class="0x0302"`, `class="0x06"`, "x: has no GPU"},
		{x, `class="0x02"`, `class="0x06"`, "x: has no NIC"},
		{x, `class="0x0302"/>`, `class="0x0302"><gpu/><gpu/></pci>`, "a second GPU of one <pci>"},
		{x, `class="0x0302"/>`, `class="0x0302"><gpu><nvlink target="c" count="0"/></gpu></pci>`,
			`count="0" is not a number of links`},
		{x, `class="0x02"/>`, `class="0x02"><nic><net speed="-4"/></nic></pci>`, `speed="-4" is not a rate`},
		{x, `</cpu>`, `<pci busid="c" class="0x03"><gpu><nvlink target="a"/></gpu></pci></cpu>`,
			"GPU c has 1 link to a, which has 0 back"},
		{x, `busid="b"`, `busid="A"`, `busid="A" is that of the <pci> in line 1 as well`},
		{x, `<cpu numaid="0">`, `<cpu host_hash="1"/><cpu host_hash="2">`, "describes several servers"},
		{x, `<cpu numaid="0">`, `<cpu>` + strings.Repeat("<pci>", 80), "has more than 64 levels"},
	} {
		text := strings.Replace(c.text, c.from, c.to, 1)
		if c.to == "NV4000" {
			text = strings.ReplaceAll(c.text, c.from, c.to)
		}
		if _, err := Read("x", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v\nwant %s", c.to, err, c.want)
		}
	}
}

// Every listed NIC is used by some GPU. GPUs with equal near NICs share them evenly.
func TestShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gpus, nics := rapid.IntRange(1, 9).Draw(t, "GPUs"), rapid.IntRange(1, 9).Draw(t, "NICs")
		s := &Server{GPUs: make([]string, gpus)}
		var all []NIC
		for n := range nics {
			all = append(all, NIC{Name: fmt.Sprint(n)})
		}
		near := make([][]Near, gpus)
		for g := range near {
			for range nics {
				near[g] = append(near[g], Near(rapid.IntRange(1, 3).Draw(t, "near")))
			}
		}
		s.settle(all, near)
		used := map[int]int{}
		for g, of := range s.Uses {
			if len(of) == 0 {
				t.Fatalf("GPU %d has no NIC", g)
			}
			for _, n := range of {
				used[n]++
				at := 0
				fmt.Sscan(s.NICs[n].Name, &at)
				if near[g][at] != s.Near[g] {
					t.Fatalf("GPU %d takes a NIC that is farther than others", g)
				}
			}
		}
		if len(s.NICs)+len(s.Apart) != nics {
			t.Fatalf("%d NICs used, %d not, of %d", len(s.NICs), len(s.Apart), nics)
		}
	})
}

// Any text is a server that can be told and joined, or is refused.
func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.*")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Read("x", text)
		if err != nil {
			return
		}
		if len(s.Uses) != len(s.GPUs) || len(s.GPUs) == 0 || len(s.NICs) == 0 || s.String() == "" {
			t.Errorf("%+v", s)
		}
		if fabric, err := s.Join(unit.Gbps, unit.Gbps); err == nil && fabric != nil && fabric.Check() != nil {
			t.Error(fabric.Check())
		}
	})
}

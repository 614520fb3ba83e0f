package sonic

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/panel"
	"railyard/internal/queue"
	"railyard/internal/topo"
	"railyard/unit"

	"pgregory.net/rapid"
)

// An impossible list of ports is reported with its line and column.
func TestBadLists(t *testing.T) {
	many := strings.Builder{}
	for i := range 1030 {
		fmt.Fprintf(&many, "Ethernet%d %d\n", i, i)
	}
	for text, want := range map[string]string{
		"":                                       "is empty",
		"# name lanes\n":                         "1:1: has no port",
		"Ethernet0\x00 0\n":                      "binary file (zero byte)",
		"Ethernet0\xff\xfe":                      "no UTF-8 text",
		"Ethernet0\n":                            "1:1: has no lanes; columns are name, lanes, alias, index",
		"# name alias\nEthernet0 etp1\n":         "2:1: has no lanes; columns are name, alias",
		"Eth1/1 0,1,2,3\n":                       `1:1: "Eth1/1" is not a name of a port; accepted`,
		"Ethernet0 0,x\n":                        `1:11: lanes "0,x": "x" is not a lane`,
		"Ethernet0 0,-1\n":                       `1:11: lanes "0,-1": "-1" is not a lane`,
		"Ethernet0 0,1,1\n":                      `1:11: lanes "0,1,1": lane 1 is repeated`,
		"Ethernet0  4096\n":                      `"4096" is not a lane; accepted: whole numbers from 0`,
		"Ethernet0 0\nEthernet0 1\n":             "2:1: the name Ethernet0 is repeated, first on line 1",
		"Ethernet0 0 etp1 1 9\n":                 `1:20: "9" follows the last column`,
		"Ethernet0 0 etp1 one\n":                 `1:18: index "one" is not a whole number from 0 to 65535`,
		"# name lanes speed\nEthernet0 0 fast\n": `2:13: speed "fast" is not a whole number from 10`,
		"# name lanes fec\nEthernet0 0 yes\n":    `2:13: fec "yes"; accepted: rs, fc, none, auto`,
		"Ethernet0 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16\n": "a port has 16 lanes at most",
		many.String():                          "1025:1: is the 1025th port; a switch has 1024 at most",
		"# name lanes role\nEthernet0 0 Int\n": "has no port",
		strings.Repeat("# a line that says nothing\n", 900_000) + "x": "at most 16777216 are read",
	} {
		_, err := PortConfig("list", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

const platformText = `{"chassis": {"name": "x"}, "interfaces": {
 "Ethernet0": {"index": "1,1,1,1", "lanes": "9,10,11,12", "breakout_modes": {
  "1x400G[200G]": ["etp1"], "2x200G": ["etp1a", "etp1b"], "2x50G(2)+1x100G(2)": ["a", "b", "c"]}},
 "Ethernet4": {"index": "2,2,2,2", "lanes": "1,2,3,4", "breakout_modes": {
  "1x400G[200G]": ["etp2"], "2x200G": ["etp2a", "etp2b"]}},
 "Ethernet8": {"index": "3", "lanes": "20", "breakout_modes": {"1x25G[10G]": ["etp3"]}}}}`

const skuText = `{"interfaces": {
 "Ethernet0": {"default_brkout_mode": "1x400G[200G]", "fec": "rs"},
 "Ethernet4": {"default_brkout_mode": "2x200G"},
 "Ethernet8": {"default_brkout_mode": "1x25G[10G]"}}}`

// The same holds for platform.json and hwsku.json.
func TestBadPlatforms(t *testing.T) {
	for _, c := range []struct{ in, with, sku, skuWith, want string }{
		{"", "", "", "", ""},
		{platformText, "", "", "", "platform.json: is empty"},
		{platformText, "[1]", "", "", "platform.json:1:1: is not an object"},
		{platformText, `{"interfaces": 3}`, "", "", "platform.json:1:1: has no interfaces"},
		{`"etp3"]}}}}`, `"etp3"`, "", "", "the JSON ends in the middle"},
		{`"9,10,11,12"`, `[9,10]`, "", "", `interfaces.Ethernet0.lanes is not text such as "1,2,3,4"`},
		{`"9,10,11,12"`, `"9,10,11,9"`, "", "", "platform.json:2:36: lanes"},
		{`"1,1,1,1"`, `"1,1,x,1"`, "", "", `interfaces.Ethernet0.index "1,1,x,1": "x" is not a whole number`},
		{`"2x200G": ["etp1a"`, `"2x0G": ["etp1a"`, "", "", `"2x0G" is not a mode of 4 lanes; accepted: such as`},
		{`"2x200G": ["etp1a"`, `"8x200G": ["etp1a"`, "", "", `"8x200G" is not a mode of 4 lanes`},
		{`["etp1a", "etp1b"]`, `["etp1a"]`, "", "", "breakout_modes.2x200G needs a list of 2 names"},
		{`["etp1a", "etp1b"]`, `"etp1a"`, "", "", "breakout_modes.2x200G needs a list of 2 names"},
		{`{"1x25G[10G]": ["etp3"]}`, `"1x25G"`, "", "", "interfaces.Ethernet8.breakout_modes is not an object"},
		{`"Ethernet0": {"index"`, `"swp1": {"index"`, `"Ethernet0"`, `"swp1"`, `"swp1" is not a name of a port`},
		{"", "", `"2x200G"`, `"4x100G"`,
			`hwsku.json:3:16: interfaces.Ethernet4.default_brkout_mode "4x100G" is ` +
				`not one of the port's; accepted: 1x400G[200G], 2x200G`},
		{"", "", `"default_brkout_mode": "2x200G"`, ``, "default_brkout_mode is missing; accepted: 1x400G"},
		{"", "", `"fec": "rs"`, `"fec": "loud"`, `fec "loud"; accepted: rs, fc, none, auto`},
		{"", "", skuText, `{"interfaces": {"Ethernet9": {}}}`, "has none of the ports of platform.json"},
	} {
		in, sku := platformText, skuText
		if c.in != "" {
			in = strings.Replace(in, c.in, c.with, 1)
		}
		if c.sku != "" {
			sku = strings.Replace(sku, c.sku, c.skuWith, 1)
		}
		_, err := Platform("platform.json", []byte(in), "hwsku.json", []byte(sku))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v, want %s", c.with, c.skuWith, err, c.want)
		}
	}
}

// star is a switch with cables of these rates.
func star(front *panel.Panel, rates ...unit.Rate) *topo.Graph {
	g := &topo.Graph{Nodes: []topo.Node{{Name: "leaf", Role: topo.Leaf, Tier: 1, Panel: front}}}
	for i, r := range rates {
		g.Nodes = append(g.Nodes, topo.Node{Name: fmt.Sprintf("far-%d", i), Role: topo.Spine, Tier: 2})
		g.Links = append(g.Links, topo.Link{A: 0, B: i + 1, APort: fmt.Sprintf("Eth%d", i+1), BPort: "Eth1",
			Rate: r * unit.Gbps, LengthMM: 1000})
	}
	return g
}

// names returns the ports of the first switch's cables: name, lanes, alias, error correction.
func names(g *topo.Graph) (out []string) {
	for i := range g.Links {
		s, _ := g.Nodes[0].Panel.Socket(g.Jack(i, 0))
		out = append(out, fmt.Sprintf("%s=%s=%s=%s", s.Name, s.Lanes, s.Alias, s.FEC))
	}
	return out
}

func fitted(g *topo.Graph, p *Profile) error {
	return Fit(g, func(node int) *Profile {
		if node == 0 {
			return p
		}
		return nil
	})
}

// Cables go into ports in order. Jacks are broken out if there are more cables than ports, or if no whole one runs
// at their speed. A cable that does not fit is reported with switch, port, profile and what would fit.
func TestFit(t *testing.T) {
	p, err := Platform("platform.json", []byte(platformText), "hwsku.json", []byte(skuText))
	if err != nil {
		t.Fatal(err)
	}
	p.HwSKU = "X"
	three, err := PortConfig("port_config.ini", []byte("# name lanes\nEthernet0 1,2,3\n"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := PortConfig("port_config.ini", []byte("# name lanes alias index speed\nEthernet0 1,2 a1 1 200000\n"+
		"Ethernet2 3,4 a2 1 200000\nEthernet4 5,6,7,8 b 2 400000\nEthernet8 8 c 3 10000\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		p     *Profile
		rates []unit.Rate
		want  string
	}{
		{p, []unit.Rate{400}, "Ethernet0=9,10,11,12=etp1=rs"},
		{p, []unit.Rate{400, 200, 200}, "Ethernet0=9,10,11,12=etp1=rs Ethernet4=1,2=etp2a=rs Ethernet6=3,4=etp2b=rs"},
		{p, []unit.Rate{200, 400}, "Ethernet0=9,10,11,12=etp1=rs Ethernet4=1,2,3,4=etp2=rs"},
		{p, []unit.Rate{10, 200, 200, 200, 200}, "Ethernet8=20=etp3=none Ethernet0=9,10=etp1a=rs Ethernet2=11,12=etp1b=rs Ethernet4=1,2=etp2a=rs Ethernet6=3,4=etp2b=rs"},
		{p, []unit.Rate{800}, "leaf: port 1, to far-0 at 800Gbps: no port of X (platform.json) has that speed; the first can be: 1x400G[200G]; 2x200G; 2x50G(2)+1x100G(2)"},
		{p, []unit.Rate{400, 400, 400}, "leaf: port 3, to far-2 at 400Gbps: the switch has 3 cables, and X (platform.json) has no port left for this one: 3 jacks, of which the first can be"},
		{list, []unit.Rate{200, 200, 400}, "Ethernet0=1,2=a1=rs Ethernet2=3,4=a2=rs Ethernet4=5,6,7,8=b=rs"},
		{list, []unit.Rate{100, 10}, "Ethernet0=1,2=a1=rs Ethernet8=8=c=none"},
		{list, []unit.Rate{400, 10}, "port_config.ini:5:1: lane 8 of Ethernet8 is one of Ethernet4's (line 4) as well"},
		{list, []unit.Rate{800}, "no port of port_config.ini has that speed; the first can be: 2 ports unchanged, at 200Gbps, 100Gbps, 50Gbps"},
		{three, []unit.Rate{400}, "the first can be: whole, at no speed of Ethernet, which has none of 3 lanes"},
	} {
		g := star(nil, c.rates...)
		got := ""
		if err := fitted(g, c.p); err != nil {
			got = err.Error()
		} else {
			got = strings.Join(names(g), " ")
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%v: %s\nwant %s", c.rates, got, c.want)
		}
	}
}

// If a switch's type defines its front, cables have its jacks and parts.
func TestFitJacks(t *testing.T) {
	front := &panel.Panel{System: panel.SONiC, Runs: []panel.Run{{Ports: 64, Lanes: 8}}}
	plug := func(jacks ...panel.Jack) *topo.Graph {
		rates := make([]unit.Rate, len(jacks))
		for i, j := range jacks {
			rates[i] = unit.Rate(800 / max(int(j.Parts), 1))
		}
		g := star(front, rates...)
		for i, j := range jacks {
			g.Links[i].AJack = j
		}
		return g
	}
	p := Known("Arista-7060X6-64PE")
	g := plug(panel.Jack{Port: 2}, panel.Jack{Port: 1, Part: 2, Parts: 2}, panel.Jack{Port: 64, Part: 4,
		Parts: 4})
	if err := fitted(g, p); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(names(g), " ")
	want := "Ethernet8=1,2,3,4,5,6,7,8=etp2=rs Ethernet4=21,22,23,24=etp1b=rs Ethernet510=503,504=etp64d=rs"
	if got != want || g.Links[0].APort != "Ethernet8" {
		t.Errorf("%s, and %s\nwant %s", got, g.Links[0].APort, want)
	}
	for _, c := range []struct {
		p    *Profile
		j    panel.Jack
		want string
	}{
		{p, panel.Jack{Port: 67}, "leaf: port 67, to far-0 at 800Gbps: Arista-7060X6-64PE has 66 jacks on its front"},
		{p, panel.Jack{Port: 65}, "Ethernet512 of Arista-7060X6-64PE cannot be used so; it can be: 1x10G"},
		{Known("Dell-Z9864f-O64"), panel.Jack{Port: 3, Part: 1, Parts: 5}, "port 3 part 1, to far-0 at 160Gbps: Ethernet16 of Dell-Z9864f-O64 cannot be broken out into 5 so; it can be: 1x800G; 1x400G(8)"},
	} {
		if err := fitted(plug(c.j), c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.j, err, c.want)
		}
	}
}

// Every built-in device has each lane once in each of its modes, and every mode's ports run at a speed.
func TestKnownDevices(t *testing.T) {
	for _, name := range HwSKUs() {
		p := Known(name)
		if p == nil || p.Platform == "" || len(p.Cages) < 32 {
			t.Fatalf("%s: %+v", name, p)
		}
		if err := p.check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		lanes := map[int]string{}
		for i := range p.Cages {
			c := &p.Cages[i]
			for k := range c.Modes {
				seen, aliases := map[int]bool{}, map[string]bool{}
				for _, o := range c.Modes[k].Ports {
					if aliases[o.Alias] || o.Speed == 0 || len(o.Lanes) == 0 ||
						strings.ContainsAny(o.Alias, "#@%~") {
						t.Errorf("%s %s: %+v", name, c.Modes[k].Text, o)
					}
					aliases[o.Alias] = true
					for _, l := range o.Lanes {
						if seen[l] || lanes[l] != "" && lanes[l] != c.Name && name != "Accton-AS9726-32D" {
							t.Errorf("%s %s: lane %d is %s's", name, c.Name, l, lanes[l])
						}
						seen[l], lanes[l] = true, c.Name
					}
				}
			}
		}
	}
	if p, err := Named("--hwsku", "acs-sn5600"); err != nil || p.HwSKU != "ACS-SN5600" {
		t.Error(p, err)
	}
	if OfModel("sn5600").HwSKU != "ACS-SN5600" || OfModel("") != nil || OfModel("tomahawk5") != nil {
		t.Error("a model is another device")
	}
}

// Any cables of a switch get separate ports and lanes of their speed, or are rejected. With one cable fewer at
// least as many of the others fit.
func TestFitKeepsCablesApart(t *testing.T) {
	all := HwSKUs()
	rapid.Check(t, func(rt *rapid.T) {
		p := Known(rapid.SampledFrom(all).Draw(rt, "device"))
		rates := rapid.SliceOfN(rapid.SampledFrom([]unit.Rate{10, 25, 50, 100, 200, 400, 800}), 1,
			140).Draw(rt, "rates")
		g := star(nil, rates...)
		if err := fitted(g, p); err != nil {
			if !strings.Contains(err.Error(), p.HwSKU) && !strings.Contains(err.Error(), "both are used") {
				rt.Fatalf("%v names no device", err)
			}
			return
		}
		ports, lanes := map[string]bool{}, map[string]bool{}
		for i, r := range rates {
			s, ok := g.Nodes[0].Panel.Socket(g.Jack(i, 0))
			if !ok || ports[s.Name] || !s.Can(int64(r)*1000) {
				rt.Fatalf("cable %d at %d: %+v", i, r, s)
			}
			ports[s.Name] = true
			for l := range strings.SplitSeq(s.Lanes, ",") {
				if lanes[l] {
					rt.Fatalf("lane %s twice", l)
				}
				lanes[l] = true
			}
		}
		if len(rates) > 1 {
			if err := fitted(star(nil, rates[:len(rates)-1]...), p); err != nil {
				rt.Fatalf("with one cable fewer: %v", err)
			}
		}
	})
}

// A config_db.json is also a profile, of its current ports.
func TestRunning(t *testing.T) {
	p, err := Running("db", []byte(`{"DEVICE_METADATA": {"localhost": {"hwsku": "H", "platform": "x86_64-p"}},
		"PORT": {"Ethernet4": {"lanes": "5,6", "index": "1", "speed": "200000", "alias": "b", "mtu": "9100"},
		"Ethernet0": {"lanes": "1,2", "index": "1", "speed": "200000", "alias": "a"},
		"Ethernet-Rec0": {"lanes": "90", "role": "Rec"}}}`))
	if err != nil || p.HwSKU != "H" || p.Platform != "x86_64-p" || len(p.Cages) != 1 ||
		p.Cages[0].Modes[0].Ports[0].Alias != "a" {
		t.Fatalf("%+v, %v", p, err)
	}
	for text, want := range map[string]string{
		`{"VLAN": {}}`: "has no PORT",
		`{"PORT": {"Ethernet0": {"speed": "1"}}}`:               "db:1:11: PORT|Ethernet0 has no lanes",
		`{"PORT": {"Ethernet0": {"lanes": "1", "speed": "a"}}}`: `db:1:39: speed "a" is not a whole number`,
		`{"PORT": {"swp1": {"lanes": "1"}}}`:                    `"swp1" is not a name of a port`,
		`[]`:                                                    "is not an object",
	} {
		if _, err := Running("db", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Any text is read or refused, never a panic.
func FuzzProfile(f *testing.F) {
	f.Add("# name lanes alias index speed\nEthernet0 1,2 a 1 1000\n")
	f.Add(platformText)
	f.Add(`{"PORT": {"Ethernet0": {"lanes": "1"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		PortConfig("x", []byte(text))
		Running("x", []byte(text))
		Platform("x", []byte(text), "y", []byte(skuText))
		Platform("x", []byte(platformText), "y", []byte(text))
	})
}

// Every known device of NVIDIA's has the chip that its table names, by its platform and by its HwSKU, and others have
// none: SONiC's calculation of headroom uses it.
func TestASICOfDevices(t *testing.T) {
	for i := range devices {
		d, name := &devices[i], Devices[i].Name
		want := ""
		if at := strings.Index(name, "Spectrum-"); at >= 0 {
			want = "spectrum" + name[at+len("Spectrum-"):]
		}
		if chip := d.profile().Chip; strings.HasPrefix(chip, "Tomahawk") != (queue.CellOf(chip) > 0) {
			t.Errorf("%s (%s): cells of %d bytes by %q", d.Key, name, queue.CellOf(chip), chip)
		}
		for _, device := range []string{d.Platform, d.Key} {
			if a, _ := queue.ASICOf(device); a.Name != want {
				t.Errorf("%s (%s) has %q by %s, want %q", d.Key, name, a.Name, device, want)
			}
		}
	}
	for device, want := range map[string]string{"x86_64-mlnx_msn2700-r0": "spectrum", "Mellanox-SN3800-D112C8": "spectrum2",
		"x86_64-nvidia_sn5400-r0": "spectrum4", "x86_64-kvm_x86_64-r0": "", "Force10-S6000": ""} {
		if a, _ := queue.ASICOf(device); a.Name != want {
			t.Errorf("%s has %q, want %q", device, a.Name, want)
		}
	}
}

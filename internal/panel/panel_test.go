package panel

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// Names as devices have them. SONiC's are those of the published port_config.ini of SN5600-O128
// (Ethernet4 is lanes 4 to 7 and printed etp1b), EOS's by the first lane of a port.
func TestNames(t *testing.T) {
	sn5600 := &Panel{System: SONiC, Runs: []Run{{64, 8}, {1, 1}}}
	sn3700 := &Panel{System: SONiC, Runs: []Run{{32, 4}}}
	arista := &Panel{System: EOS, Runs: []Run{{64, 8}, {2, 1}}}
	var nobody *Panel
	for _, c := range []struct {
		p      *Panel
		system string
		j      Jack
		want   string
	}{
		{sn5600, SONiC, Jack{Port: 1}, "Ethernet0"},
		{sn5600, SONiC, Jack{Port: 1, Part: 2, Parts: 2}, "Ethernet4"},
		{sn5600, SONiC, Jack{Port: 64, Part: 2, Parts: 2}, "Ethernet508"},
		{sn5600, SONiC, Jack{Port: 65}, "Ethernet512"},
		{sn3700, SONiC, Jack{Port: 3}, "Ethernet8"},
		{sn3700, SONiC, Jack{Port: 3, Part: 4, Parts: 4}, "Ethernet11"},
		{nobody, SONiC, Jack{Port: 3}, "Ethernet16"},
		{arista, EOS, Jack{Port: 3}, "Ethernet3/1"},
		{arista, EOS, Jack{Port: 3, Part: 2, Parts: 2}, "Ethernet3/5"},
		{arista, EOS, Jack{Port: 3, Part: 8, Parts: 8}, "Ethernet3/8"},
		{arista, EOS, Jack{Port: 65}, "Ethernet65"},
		{nobody, EOS, Jack{Port: 3}, "Ethernet3"},
		{nobody, NXOS, Jack{Port: 3}, "Ethernet1/3"},
		{nobody, NXOS, Jack{Port: 3, Part: 2, Parts: 4}, "Ethernet1/3/2"},
		{nobody, FRR, Jack{Port: 3}, "swp3"},
		{nobody, FRR, Jack{Port: 3, Part: 1, Parts: 2}, "swp3s0"},
		{nobody, Junos, Jack{Port: 1}, "et-0/0/0"},
		{nobody, Junos, Jack{Port: 3, Part: 2, Parts: 4}, "et-0/0/2:1"},
		{nobody, "", Jack{Port: 3}, "Eth3"},
	} {
		if got := c.p.Name(c.system, c.j); got != c.want {
			t.Errorf("%s, %+v: %s, want %s", c.system, c.j, got, c.want)
		}
	}
}

// A device's files say what a jack is called, which broken out part of it has which lanes.
func TestDevice(t *testing.T) {
	p := &Panel{Runs: []Run{{64, 8}}, Device: &Device{Ports: 66, Sockets: map[Jack]Socket{
		{Port: 2, Part: 2, Parts: 2}: {Name: "Ethernet12", Lanes: "13,14,15,16", Speeds: []int64{200000}}}}}
	if got := p.Name(SONiC, Jack{Port: 2, Part: 2, Parts: 2}); got != "Ethernet12" || p.Ports() != 66 {
		t.Errorf("%s of %d", got, p.Ports())
	}
	if got := p.Name(EOS, Jack{Port: 2, Part: 2, Parts: 2}); got != "Ethernet2/5" {
		t.Errorf("in EOS %s", got)
	}
	s, ok := p.Socket(Jack{Port: 2, Part: 2, Parts: 2})
	if _, none := p.Socket(Jack{Port: 2}); !ok || none || !s.Can(200000) || s.Can(400000) {
		t.Errorf("%+v, %v, %v", s, ok, none)
	}
}

// No two jacks of a panel have one name, or one lane, in any system.
func TestNoTwoAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &Panel{}
		for range rapid.IntRange(0, 3).Draw(t, "runs") {
			p.Runs = append(p.Runs, Run{rapid.IntRange(1, 9).Draw(t, "ports"),
				rapid.SampledFrom([]int{1, 4, 8}).Draw(t, "lanes")})
		}
		for _, system := range append(Systems(), "") {
			p.System = system
			names, lanes := map[string]Jack{}, map[int]Jack{}
			for port := 1; port <= max(p.Ports(), 5); port++ {
				_, width := p.Lanes(Jack{Port: int32(port)})
				parts := rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "parts")
				for part := 1; part <= min(parts, width); part++ {
					j := Jack{Port: int32(port), Part: uint8(part), Parts: uint8(min(parts, width))}
					first, _ := p.Lanes(j)
					if old, twice := names[p.Own(j)]; twice {
						t.Fatalf("%s: %v and %v are both %s", system, old, j, p.Own(j))
					}
					if old, twice := lanes[first]; twice {
						t.Fatalf("%s: %v and %v both have lane %d", system, old, j, first)
					}
					names[p.Own(j)], lanes[first] = j, j
				}
			}
			if len(names) == 0 || len(names) != len(lanes) {
				t.Fatal(fmt.Sprint(names, lanes))
			}
		}
	})
}

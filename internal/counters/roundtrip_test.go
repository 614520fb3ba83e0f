package counters

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"railyard/internal/long"
	"railyard/unit"
)

// Properties are drawn 40 times, or 400 when long tests run.
var _ = long.Draws(40, 400)

// drawn is a random snapshot of a device with the given system.
func drawn(t *rapid.T, system string) Snapshot {
	s := Snapshot{Device: "leaf-1", Kind: Switch, At: Moment{Seconds: 1700000000, Nanos: 5, Is: true}}
	names := map[string]string{"nxos": "Ethernet1/%d", "eos": "Ethernet%d", "sonic": "Ethernet%d",
		"host": "eth%d"}
	if system == "host" {
		s.Kind = Host
	}
	state, shift := rapid.Uint64().Draw(t, "seed"), rapid.IntRange(32, 63).Draw(t, "shift")
	value := func() uint64 {
		state = state*6364136223846793005 + 1442695040888963407
		return state >> shift
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "ports") {
		p := Port{Name: fmt.Sprintf(names[system], 1+i)}
		if system == "host" && rapid.Bool().Draw(t, "rdma") {
			p.Name, p.NetDev = fmt.Sprintf("mlx5_%d/1", i), p.Name
		}
		p.Each(func(_ string, c *Count, _ bool) { *c = Of(value()) })
		p.RxPFCAll, p.TxPFCAll = Count{}, Count{}
		p.RxPFCAll, p.TxPFCAll = p.got(), p.sent()
		p.Up, p.PFC = Say(rapid.Bool().Draw(t, "up")), Say(true)
		p.MTU, p.Speed = Say(unit.Bytes(value()&0xffff)), Say(400*unit.Gbps)
		p.Lossless = Say(uint8(value()))
		p.Peer = Peer{Device: "spine-1.example.com.with.a.long.name"[:8+4*i], Port: "Ethernet1/7"}
		if system == "sonic" { // whose ports announce their front-panel labels
			p.Alias, p.Lanes, p.FEC = fmt.Sprintf("etp%d", 1+i), "0,1,2,3", "rs"
			p.Enabled = Say(p.Up.V || rapid.Bool().Draw(t, "enabled"))
			p.Peer.Port, p.Peer.ID = "Ethernet8", "etp2"
		}
		s.Ports = append(s.Ports, p)
	}
	return s
}

// TestRoundTrip: written output parses to equal values, and writing these again gives equal text, so nothing is
// omitted.
func TestRoundTrip(t *testing.T) {
	for _, f := range Formats() {
		t.Run(f.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				system := f.System
				if system == "" {
					system = "sonic"
				}
				s := drawn(t, system)
				if f.Name == "ethtool" || f.Name == "ethtool-link" {
					s.Ports = s.Ports[:1]
				}
				var w bytes.Buffer
				f.write(&w, &s)
				text := w.Bytes()
				if len(text) == 0 {
					return // RDMA devices alone, or interfaces alone
				}
				command := strings.Replace(f.Command, "PORT", s.Ports[0].Name, 1)
				if command != "" {
					command = "leaf-1# " + command + "\n"
				}
				all, unknown, err := Read("leaf-1.txt", append([]byte(command), text...))
				if err != nil || len(all) != 1 || len(unknown) > 0 || all[0].Format != f.Name {
					t.Fatalf("%v %v %d\n%s", err, unknown, len(all), text)
				}
				var again bytes.Buffer
				if f.write(&again, &all[0]); !bytes.Equal(again.Bytes(), text) {
					t.Fatalf("written again:\n%s\nafter\n%s", &again, text)
				}
				same(t, &s, &all[0])
			})
		})
	}
}

// same checks every counter that was read.
func same(t *rapid.T, want, got *Snapshot) {
	for i := range got.Ports {
		p := &got.Ports[i]
		w := want.Find(p.Name)
		if w == nil {
			t.Fatalf("%s is none of the ports", p.Name)
		}
		var should []uint64
		w.Each(func(_ string, c *Count, _ bool) { should = append(should, c.V) })
		k := 0
		p.Each(func(name string, c *Count, _ bool) {
			if c.Is && c.V != should[k] {
				t.Fatalf("%s %s is %d, should be %d", p.Name, name, c.V, should[k])
			}
			if c.Is && c.Line == 0 {
				t.Fatalf("%s %s stands nowhere", p.Name, name)
			}
			k++
		})
		if p.Peer.Is() && (p.Peer.Device != w.Peer.Device || p.Peer.Port != w.Peer.Port) {
			t.Fatalf("%+v", p.Peer)
		}
		if p.Alias != "" && (p.Alias != w.Alias || p.Lanes != w.Lanes || p.FEC != w.FEC ||
			p.Enabled.V != w.Enabled.V) {
			t.Fatalf("%+v", p)
		}
	}
}

// TestSession: a device's whole session is parsed, command by command, and joins to the written snapshot.
func TestSession(t *testing.T) {
	for _, system := range Systems {
		rapid.Check(t, func(t *rapid.T) {
			s := drawn(t, system)
			for i := range s.Ports { // an RDMA device without an interface is separate
				s.Ports[i].NetDev = ""
				s.Ports[i].Name = strings.Replace(s.Ports[i].Name, "mlx5_", "eth9", 1)
				s.Ports[i].Name = strings.TrimSuffix(s.Ports[i].Name, "/1/1")
			}
			text := Show(system, s)
			all, unknown, err := Read("x.txt", text)
			if err != nil || len(unknown) > 0 {
				t.Fatalf("%v %v\n%s", err, unknown, text)
			}
			joined, notes := Join(all)
			if len(joined) != 1 || len(notes) > 0 || joined[0].Device != "leaf-1" || !joined[0].At.Is {
				t.Fatalf("%d devices, %v\n%s", len(joined), notes, text)
			}
			same(t, &s, &joined[0])
		})
	}
}

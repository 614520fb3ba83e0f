package design_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"railyard/internal/panel"
	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/topo"
	"railyard/unit"
)

// Port channels, pairs and headroom are returned as the ports have them, in every kind of fabric.
func TestPartsOfSwitches(t *testing.T) {
	each(t, func(t *testing.T, d *design.Design) {
		paired := false
		macs := map[string]string{}
		for _, s := range d.Switches {
			hosts := map[int]bool{}
			for _, p := range s.Channels() {
				if p.Kind != design.ToHost || p.Channel <= 0 || hosts[p.Channel] {
					t.Errorf("%s: channel %d of port %d", s.Name, p.Channel, p.Number)
				}
				hosts[p.Channel] = true
			}
			peers := 0
			for _, p := range s.Ports {
				if p.Kind == design.ToHost && p.Channel > 0 && !hosts[p.Channel] {
					t.Errorf("%s: channel %d is left out", s.Name, p.Channel)
				}
				if p.Kind == design.ToPeer {
					peers++
				}
			}
			if len(s.PeerPorts()) != peers || s.Routed() != (len(s.Neighbors()) > 0) {
				t.Errorf("%s: %d ports to its peer, %d neighbours", s.Name, peers, len(s.Neighbors()))
			}
			paired = paired || s.Peer != nil
			for c := range hosts {
				mac := s.ESIMAC(c)
				if s.Peer != nil && s.Peer.ESIMAC(c) != mac {
					t.Errorf("%s and its peer have MACs %s and %s", s.Name, mac, s.Peer.ESIMAC(c))
				}
				first := s.Name
				if s.Peer != nil && !s.First {
					first = s.Peer.Name
				}
				if who, taken := macs[mac]; taken && who != first && s.Peer != nil {
					t.Errorf("%s has the MAC %s of %s", s.Name, mac, who)
				}
				macs[mac] = first
			}
			most := s.Most()
			for i, k := range s.Spec.Queues {
				if most[i] > k.Headroom {
					t.Errorf("%s: most ports keep %v in queue %d, the switch %v", s.Name, most[i],
						i, k.Headroom)
				}
			}
		}
		if want := paired && d.Multihome == design.ESI; d.EVPN() != want {
			t.Errorf("EVPN is %v, want %v", d.EVPN(), want)
		}
	})
}

// The headroom of most ports; of two equally frequent values the greater.
func TestMost(t *testing.T) {
	port := func(n unit.Bytes) *design.Port {
		p := &design.Port{}
		p.Headroom[3] = n
		return p
	}
	for want, list := range map[unit.Bytes][]unit.Bytes{0: nil, 5: {5}, 7: {7, 9, 7}, 9: {7, 9, 9, 7},
		4: {3, 4}} {
		s := &design.Switch{}
		for _, n := range list {
			s.Ports = append(s.Ports, port(n))
		}
		if got := s.Most()[3]; got != want {
			t.Errorf("of %v most keep %v, want %v", list, got, want)
		}
	}
}

// The error of an impossible design names what is accepted, or the switch.
func TestRefusals(t *testing.T) {
	g, err := topo.Build("rail", topo.Params{Server: topo.Server{GPUs: 1, NICs: 1, Ports: 1}, Hosts: 1,
		Segments: 1,
		Spines:   1, Uplinks: 1, HostCable: topo.Cable{Rate: 400 * unit.Gbps},
		Fabric: topo.Cable{Rate: 400 * unit.Gbps}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = design.Make(design.Fabric{Name: "f", Graph: g,
		Spec:     func(int) queue.Spec { return queue.Default() },
		DataDSCP: 24, CNPDSCP: 48, OS: swconf.NXOS, Addressing: "dhcp", Multihome: design.MLAG})
	var e *design.Error
	if !errors.As(err, &e) || !strings.Contains(e.Msg, `"dhcp" is not known; accepted: `+
		design.Unnumbered+", "+design.Numbered) {
		t.Errorf("%v", err)
	}
	err = design.Refuse(swconf.EOS, &design.Switch{Name: "leaf-1"}, "no more than %d", 8)
	if !errors.As(err, &e) || e.Msg != "leaf-1 in eos: no more than 8" {
		t.Errorf("%v", err)
	}
}

// Lines are indented by the columns of their level.
func TestLines(t *testing.T) {
	w := &design.Writer{Step: 3}
	w.Line(0, "a %d", 1)
	w.Line(2, "b")
	w.Line(1, "100%%")
	if got := w.String(); got != "a 1\n      b\n   100%\n" {
		t.Errorf("%q", got)
	}
}

// In a fabric of several languages a description names the neighbour's port as the neighbour's configuration does,
// if the switch itself is written in its own language. Otherwise all are written in one.
func TestDescriptionsNamePortsOfTheirSwitch(t *testing.T) {
	for own, want := range map[string]string{panel.NXOS: "Ethernet31/1", panel.SONiC: "Ethernet1/31"} {
		g, err := topo.Build("rail", topo.Params{Server: topo.Server{GPUs: 1, NICs: 1, Ports: 1}, Hosts: 2, Segments: 2,
			Spines: 1, Uplinks: 1, HostCable: topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 3000},
			Fabric: topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 30_000}})
		if err != nil {
			t.Fatal(err)
		}
		for n := range g.Nodes {
			g.Nodes[n].Panel = &panel.Panel{System: panel.EOS, Runs: []panel.Run{{Ports: 64, Lanes: 8}}}
			if g.Nodes[n].Role == topo.Spine {
				g.Nodes[n].Panel.System = own
			}
		}
		d, err := design.Make(design.Fabric{Name: "test", Graph: g,
			Spec: func(int) queue.Spec { return queue.Default() }, DataDSCP: 24, CNPDSCP: 48, OS: swconf.NXOS,
			Addressing: design.Numbered})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range d.Switches {
			for _, p := range s.Ports {
				if p.Far == nil || s.Role != topo.Spine {
					continue
				}
				port := strings.Replace(want, "31", fmt.Sprint(p.FarJack.Port), 1)
				if want := "to " + p.FarName + " " + port; p.Description() != want {
					t.Errorf("a spine of %s: %s, want %s", own, p.Description(), want)
				}
			}
		}
	}
}

package design_test

import (
	"encoding/csv"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/topo"
	"railyard/unit"
)

// kinds are the fabrics designed here, with the ports of a NIC in each.
var kinds = map[string]int{"single-rail": 1, "dual-rail": 2, "rail-only": 1, "rail": 1, "pod": 2,
	"fat-tree": 1, "dragonfly": 1}

// each designs every kind of fabric with every addressing and attachment.
func each(t *testing.T, check func(t *testing.T, d *design.Design)) {
	for kind, ports := range kinds {
		for _, addressing := range []string{design.Unnumbered, design.Numbered} {
			for _, multihome := range []string{design.MLAG, design.ESI} {
				t.Run(kind+" "+addressing+" "+multihome, func(t *testing.T) {
					g, err := topo.Build(kind,
						topo.Params{Server: topo.Server{GPUs: 2, NICs: 2, Ports: ports},
							Hosts: 3, Segments: 2, Spines: 2, Uplinks: 2, K: 4, Tiers: 3,
							HostCable: topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 3000},
							Fabric:    topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 30_000}})
					if err != nil {
						t.Fatal(err)
					}
					d, err := design.Make(design.Fabric{Name: "test", Graph: g,
						Spec:     func(int) queue.Spec { return queue.Default() },
						DataDSCP: 24, CNPDSCP: 48, OS: swconf.NXOS, Addressing: addressing,
						Multihome: multihome})
					if err != nil {
						t.Fatal(err)
					}
					check(t, d)
				})
			}
		}
	}
}

// No address is assigned twice.
func TestAddressesAreUnique(t *testing.T) {
	each(t, func(t *testing.T, d *design.Design) {
		owner := map[netip.Addr]string{}
		give := func(a netip.Addr, format string, args ...any) {
			who := fmt.Sprintf(format, args...)
			if first, taken := owner[a]; taken {
				t.Errorf("%v belongs to %s and to %s", a, first, who)
			}
			owner[a] = who
		}
		for _, s := range d.Switches {
			give(s.RouterID, "%s loopback", s.Name)
			give(s.Mgmt.Addr(), "%s management", s.Name)
			for _, p := range s.Ports {
				if p.Addr.IsValid() {
					give(p.Addr.Addr(), "%s port %d", s.Name, p.Number)
				}
			}
			for _, v := range s.VLANs {
				if a, ok := v.Own[s]; ok && a != v.Gateway {
					give(a, "%s vlan %d", s.Name, v.ID)
				}
			}
		}
		for _, h := range d.Hosts {
			for _, n := range h.NICs {
				give(n.Addr.Addr(), "%s nic %d", h.Name, n.Index)
			}
		}
	})
}

// The two ends of a cable agree: port numbers and, in a numbered fabric, the two addresses of one /31 (RFC 3021).
func TestCablesHaveTwoEnds(t *testing.T) {
	each(t, func(t *testing.T, d *design.Design) {
		for _, s := range d.Switches {
			numbers := map[int]bool{}
			for _, p := range s.Ports {
				if numbers[p.Number] || p.Number < 1 {
					t.Errorf("%s has port %d twice, or it is not a number", s.Name, p.Number)
				}
				numbers[p.Number] = true
				if p.Kind == design.ToHost {
					continue
				}
				var back *design.Port
				for _, q := range p.Far.Ports {
					if q.Number == p.FarNumber() {
						back = q
					}
				}
				if back == nil || back.Far != s || back.FarNumber() != p.Number {
					t.Errorf("%s port %d leads to %s %s, which leads elsewhere", s.Name, p.Number,
						p.FarName, p.FarPort)
					continue
				}
				if p.Kind == design.ToSwitch && p.Addr.IsValid() != (d.Addressing == design.Numbered) {
					t.Errorf("%s port %d has %v in a fabric that is %s", s.Name, p.Number, p.Addr,
						d.Addressing)
				}
				near := p.Addr.Masked().Contains(p.FarAddr)
				if p.Addr.IsValid() && (p.Addr.Bits() != 31 || p.FarAddr != back.Addr.Addr() || !near) {
					t.Errorf("%s port %d has %v, the far end %v", s.Name, p.Number, p.Addr, back.Addr)
				}
			}
		}
	})
}

// AS numbers follow RFC 7938, section 5.2.1: private ones (RFC 6996), different for neighbours, a separate one for
// each leaf.
func TestASNumbers(t *testing.T) {
	each(t, func(t *testing.T, d *design.Design) {
		leaf := map[uint32]string{}
		for _, s := range d.Switches {
			if s.ASN < 4_200_000_000 || s.ASN > 4_294_967_294 {
				t.Errorf("%s: AS %d is not a private one", s.Name, s.ASN)
			}
			for _, p := range s.Neighbors() {
				if p.Far.ASN == s.ASN {
					t.Errorf("%s and its neighbour %s are both in AS %d", s.Name, p.FarName, s.ASN)
				}
			}
			if s.Tier == 1 {
				if other, taken := leaf[s.ASN]; taken {
					t.Errorf("%s and %s are both in AS %d", s.Name, other, s.ASN)
				}
				leaf[s.ASN] = s.Name
			}
		}
	})
}

// A NIC reaches its gateway without routing: both are in its subnet and differ.
func TestGatewaysAreNear(t *testing.T) {
	each(t, func(t *testing.T, d *design.Design) {
		nics := 0
		for _, h := range d.Hosts {
			for _, n := range h.NICs {
				nics++
				if g := n.Gateway; g.IsValid() && (!n.Addr.Masked().Contains(g) || g == n.Addr.Addr()) {
					t.Errorf("%s nic %d is %v and has the gateway %v", h.Name, n.Index, n.Addr, g)
				}
			}
		}
		if nics != len(d.Graph.NICs) {
			t.Errorf("%d of %d NICs have addresses", nics, len(d.Graph.NICs))
		}
	})
}

// The cabling plan has every cable once, numbered from 1.
func TestCablingPlan(t *testing.T) {
	each(t, func(t *testing.T, d *design.Design) {
		files, err := d.Plans()
		if err != nil {
			t.Fatal(err)
		}
		peers := 0 // cables within a pair, which the graph does not have: those of MLAG, or of ESI's underlay
		for _, s := range d.Switches {
			for _, p := range s.Ports {
				if s.First && p.Far == s.Peer {
					peers++
				}
			}
		}
		for _, f := range files {
			if f.Path != "cabling.csv" {
				continue
			}
			rows, err := csv.NewReader(strings.NewReader(f.Text)).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			if len(rows)-1 != len(d.Graph.Links)+peers {
				t.Errorf("%d cables are planned, the fabric has %d and %d between pairs",
					len(rows)-1, len(d.Graph.Links), peers)
			}
			seen := map[string]bool{}
			for i, r := range rows[1:] {
				a, b := r[1]+" "+r[2], r[3]+" "+r[4]
				if r[0] != fmt.Sprint(i+1) || seen[a] || seen[b] {
					t.Errorf("row %d: %v, a port is used twice or the number is wrong", i+1, r)
				}
				seen[a], seen[b] = true, true
			}
		}
	})
}

// An unknown addressing is rejected with the known ones.
func TestUnknownAddressing(t *testing.T) {
	_, err := design.Make(design.Fabric{Graph: &topo.Graph{}, Addressing: "ipx"})
	if err == nil || !strings.Contains(err.Error(), `"ipx" is not known; accepted: unnumbered, p2p`) {
		t.Errorf("%v", err)
	}
}

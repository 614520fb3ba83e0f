package design

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"railyard/internal/swconf"

	"github.com/goccy/go-yaml"
)

// Plans writes the files of the fabric as a whole: cabling, addresses, containerlab, Slurm's topology, Graphviz.
func (d *Design) Plans() ([]File, error) {
	clab, err := d.containerlab()
	if err != nil {
		return nil, err
	}
	topology, err := d.slurm()
	if err != nil {
		return nil, err
	}
	return []File{
		{"cabling.csv", d.cabling()},
		{"addressing.csv", d.addressing()},
		{"fabric.clab.yml", clab},
		{"topology.conf", topology},
		{"fabric.dot", d.Graph.Dot()},
	}, nil
}

func table(rows [][]string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.WriteAll(rows) // a strings.Builder does not fail
	return b.String()
}

// cabling lists every cable once, from the lower switch up.
func (d *Design) cabling() string {
	rows := [][]string{{"cable", "from", "from_port", "to", "to_port", "rate", "length_m", "purpose"}}
	n := 0
	for _, s := range d.Switches {
		for _, p := range s.Ports {
			purpose := "fabric"
			switch {
			case p.Kind == ToHost:
				purpose = fmt.Sprintf("rail-%d", p.Rail+1)
			case p.Far.Index < s.Index:
				continue // listed from the other end
			case p.Kind == ToPeer:
				purpose = "peer link"
			case p.Trunk != nil:
				purpose = fmt.Sprintf("channel %d to %d", p.Trunk.ID, p.Trunk.FarEnd.ID)
			}
			n++
			rows = append(rows, []string{fmt.Sprint(n), s.Name, p.Name, p.FarName, p.FarLabel,
				p.Rate.String(),
				fmt.Sprintf("%.1f", float64(p.LengthMM)/1000), purpose})
		}
	}
	return table(rows)
}

// addressing lists every address, AS number and VLAN.
func (d *Design) addressing() string {
	rows := [][]string{{"device", "interface", "address", "asn", "vlan", "gateway", "peer"}}
	add := func(r ...string) { rows = append(rows, r) }
	for _, s := range d.Switches {
		asn := ""
		if s.Routed() {
			asn = fmt.Sprint(s.ASN)
		}
		add(s.Name, "loopback0", s.RouterID.String()+"/32", asn, "", "", "")
		for _, sid := range s.SIDs {
			add(s.Name, "uSID "+sid.Name, sid.Prefix.String(), "", "", "", "")
		}
		for _, v := range s.VLANs {
			if a, ok := v.Own[s]; ok {
				add(s.Name, fmt.Sprintf("vlan %d", v.ID), fmt.Sprintf("%v/%d", a, v.Subnet.Bits()), "",
					fmt.Sprint(v.ID), v.Gateway.String(), "")
			}
		}
		for _, t := range s.Trunks {
			own, peer := "unnumbered", t.Far.Name+" "+t.FarEnd.Name(d.OS)
			if t.Addr.IsValid() {
				own, peer = t.Addr.String(), peer+" "+t.FarAddr.String()
			}
			add(s.Name, t.Name(d.OS), own, "", "", "", peer)
		}
		for _, p := range s.Ports {
			if p.Addr6.IsValid() {
				add(s.Name, p.Name, p.Addr6.String(), "", "", "", p.FarName+" "+p.FarLabel+" "+p.FarAddr6.String())
			}
			switch {
			case p.Addr.IsValid():
				add(s.Name, p.Name, p.Addr.String(), "", "", "", p.FarName+" "+p.FarLabel+" "+p.FarAddr.String())
			case p.Trunk != nil:
			case p.Kind == ToSwitch && !p.Addr6.IsValid():
				add(s.Name, p.Name, "unnumbered", "", "", "", p.FarName+" "+p.FarLabel)
			}
		}
	}
	for _, h := range d.Hosts {
		for _, n := range h.NICs {
			vlan, gateway := "", ""
			if n.VLAN > 0 {
				vlan = fmt.Sprint(n.VLAN)
			}
			if n.Gateway.IsValid() {
				gateway = n.Gateway.String()
			}
			name := fmt.Sprintf("nic%d", n.Index)
			if n.Port > 0 {
				name = fmt.Sprintf("nic%d port %d", n.Index, n.Port)
			}
			add(h.Name, name, n.Addr.String(), "", vlan, gateway, strings.Join(n.Ports, " "))
		}
	}
	return table(rows)
}

// images are containerlab's kinds, and the image and file each starts from.
var images = map[swconf.OS]struct{ kind, image string }{
	swconf.NXOS:  {"cisco_n9kv", "vrnetlab/cisco_n9kv:10.4.3"},
	swconf.SONiC: {"sonic-vs", "docker-sonic-vs:latest"},
	swconf.FRR:   {"linux", "frrouting/frr:latest"},
	swconf.EOS:   {"arista_ceos", "ceos:4.32.0F"},
	swconf.NVUE:  {"cumulus_cvx", "networkop/cx:5.3.0"},
	swconf.Junos: {"juniper_vjunosevolved", "vrnetlab/juniper_vjunosevolved:23.4R2-S2.1"},
}

type clabNode struct {
	Kind          string   `yaml:"kind"`
	Image         string   `yaml:"image,omitempty"`
	StartupConfig string   `yaml:"startup-config,omitempty"`
	Binds         []string `yaml:"binds,omitempty"`
	Exec          []string `yaml:"exec,omitempty"`
}

type clabLink struct {
	Endpoints []string          `yaml:"endpoints,flow"`
	Labels    map[string]string `yaml:"labels,omitempty,flow"`
}

type clabFile struct {
	Name     string `yaml:"name"`
	Topology struct {
		Nodes yaml.MapSlice `yaml:"nodes"`
		Links []clabLink    `yaml:"links"`
	} `yaml:"topology"`
}

// containerlab writes the fabric as a topology file for containerlab: switches with their configurations, and
// servers as Linux containers with addresses.
func (d *Design) containerlab() (string, error) {
	var f clabFile
	f.Name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, strings.ToLower(d.Name))
	im := images[d.OS]
	ethernet := func(number int, name string) string {
		tail, eos := strings.CutPrefix(name, "Ethernet")
		switch {
		case d.OS == swconf.FRR || d.OS == swconf.NVUE:
			return name
		case d.OS == swconf.EOS && eos: // eth3_1 is cEOS's Ethernet3/1
			return "eth" + strings.ReplaceAll(tail, "/", "_")
		}
		return fmt.Sprintf("eth%d", number)
	}
	for _, s := range d.Switches {
		n := clabNode{Kind: im.kind, Image: im.image}
		switch d.OS {
		case swconf.FRR:
			n.Binds = []string{s.Name + "/frr.conf:/etc/frr/frr.conf", s.Name + "/daemons:/etc/frr/daemons"}
		case swconf.SONiC:
			n.StartupConfig = s.Name + "/config_db.json"
			if s.Routed() {
				n.Binds = []string{s.Name + "/frr.conf:/etc/frr/frr.conf"}
			}
		case swconf.NVUE: // commands that the operator runs there
			n.Binds = []string{s.Name + "/nvue.txt:/etc/nvue.d/railyard.txt"}
		default:
			n.StartupConfig = s.Name + "/" + string(d.OS) + ".cfg"
		}
		f.Topology.Nodes = append(f.Topology.Nodes, yaml.MapItem{Key: s.Name, Value: n})
	}
	for _, h := range d.Hosts {
		n := clabNode{Kind: "linux", Image: "alpine:latest"}
		for i, nic := range h.NICs {
			dev := nic.Own[0]
			if len(nic.Own) > 1 {
				dev = fmt.Sprintf("bond%d", nic.Index)
				n.Exec = append(n.Exec, fmt.Sprintf("ip link add %s type bond mode 802.3ad", dev))
				for _, port := range nic.Own {
					n.Exec = append(n.Exec, fmt.Sprintf("ip link set %s down", port),
						fmt.Sprintf("ip link set %s master %s", port, dev))
				}
				n.Exec = append(n.Exec, fmt.Sprintf("ip link set %s up", dev))
			}
			n.Exec = append(n.Exec, fmt.Sprintf("ip addr add %v dev %s", nic.Addr, dev))
			if nic.Gateway.IsValid() && i == 0 {
				n.Exec = append(n.Exec, fmt.Sprintf("ip route replace default via %v dev %s", nic.Gateway, dev))
			}
		}
		f.Topology.Nodes = append(f.Topology.Nodes, yaml.MapItem{Key: h.Name, Value: n})
	}
	for _, s := range d.Switches {
		for _, p := range s.Ports {
			end := p.FarName + ":" + p.FarPort
			if p.Far != nil {
				if p.Far.Index < s.Index {
					continue
				}
				end = p.FarName + ":" + ethernet(p.FarNumber(), p.FarLabel)
			}
			link := clabLink{Endpoints: []string{s.Name + ":" + ethernet(p.Number, p.Name), end}}
			if p.Kind == ToPeer {
				link.Labels = map[string]string{"purpose": "peer link"} // import recognizes it by that
			}
			f.Topology.Links = append(f.Topology.Links, link)
		}
	}
	b, err := yaml.Marshal(f)
	return string(b), err
}

// slurm writes topology.conf for TopologyPlugin=topology/tree. Slurm supports trees of switches with every node on
// one leaf. Servers with equal switches, such as a segment of rails, are thus one leaf. Above it are the parts that
// a tier connects, and one root.
func (d *Design) slurm() (string, error) {
	group := map[string][]string{}
	at := map[string]*Switch{}
	var order []string
	for _, h := range d.Hosts {
		var names []string
		for _, n := range h.NICs {
			for _, p := range n.Ports {
				sw, _, _ := strings.Cut(p, ":")
				if !slices.Contains(names, sw) {
					names = append(names, sw)
				}
			}
		}
		key := strings.Join(names, ",")
		if group[key] == nil {
			order = append(order, key)
			at[key] = d.byNode[d.Graph.Node(names[0])]
		}
		group[key] = append(group[key], h.Name)
	}
	var b strings.Builder
	b.WriteString("# Slurm topology of " + d.Name +
		", written by railyard config render; TopologyPlugin=topology/tree\n")
	type part struct {
		name string
		sw   *Switch
	}
	var level []part
	for i, key := range order {
		name := key
		if strings.Contains(key, ",") {
			name = fmt.Sprintf("segment-%d", i+1)
			fmt.Fprintf(&b, "# %s: %s\n", name, key)
		}
		fmt.Fprintf(&b, "SwitchName=%s Nodes=%s\n", name, swconf.Brackets(group[key]))
		level = append(level, part{name, at[key]})
	}
	top := 0
	for _, s := range d.Switches {
		top = max(top, s.Tier)
	}
	for t := 2; t < top && len(level) > 1; t++ {
		pods := d.podOf(t)
		var next []part
		members := map[int][]string{}
		for _, p := range level {
			id := pods[p.sw.Node]
			if members[id] == nil {
				next = append(next, part{fmt.Sprintf("tier%d-part%d", t, id+1), p.sw})
			}
			members[id] = append(members[id], p.name)
		}
		for _, p := range next {
			fmt.Fprintf(&b, "SwitchName=%s Switches=%s\n", p.name, swconf.Brackets(members[pods[p.sw.Node]]))
		}
		level = next
	}
	if len(level) > 1 {
		var names []string
		for _, p := range level {
			names = append(names, p.name)
		}
		fmt.Fprintf(&b, "SwitchName=fabric Switches=%s\n", swconf.Brackets(names))
	}
	return b.String(), nil
}

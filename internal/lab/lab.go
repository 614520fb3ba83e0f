// Package lab builds a fabric out of network namespaces and veth pairs on this host: a namespace per host and switch, a
// veth pair per link, rates scaled down, kernel forwarding with equal-cost multipath over layer 4, routes from FRR's
// BGP unnumbered or static ones, and ECN marks from nftables. It needs Linux and root.
//
// Each object of a lab is written to its state file by name before it is created, so that Down removes exactly the
// objects that Up created, also after a crash.
package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"railyard/internal/panel"
	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/frr"
	"railyard/internal/topo"
	"railyard/unit"
)

// Limits of a lab.
const (
	MaxHosts    = 32
	MaxSwitches = 32
	MaxLinks    = 256
)

// root is the folder of the labs' state.
const root = "/run/railyard-lab"

// Routings.
const (
	RoutingFRR    = "frr"
	RoutingStatic = "static"
)

// State is a lab as it is written down.
type State struct {
	Name    string    `json:"name"`
	Routing string    `json:"routing"`
	Rate    unit.Rate `json:"rate_bps"` // rate of a host port
	Nodes   []Node    `json:"nodes"`
	Links   []Link    `json:"links"`
	NICs    []NIC     `json:"nics"`
	Made    []string  `json:"namespaces_made"` // namespaces in order; the last may not exist
	Ready   bool      `json:"ready"`

	frr map[int]string // configuration of each switch, while the lab is built
}

// Node is a host or switch in a namespace of its own.
type Node struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Switch    bool   `json:"switch"`
	ASN       uint32 `json:"asn,omitempty"`
}

// Link is a veth pair. In static labs and towards hosts both ends have an
// address of a /31.
type Link struct {
	A     int        `json:"a"` // node
	B     int        `json:"b"`
	APort string     `json:"a_port"`
	BPort string     `json:"b_port"`
	Rate  unit.Rate  `json:"rate_bps"`
	AddrA netip.Addr `json:"a_addr,omitzero"`
	AddrB netip.Addr `json:"b_addr,omitzero"`
	Down  bool       `json:"down,omitempty"` // whether one of its ports is down
	// DownBy lists the components that keep its ports down: the port's node, and the failed component there.
	DownBy []string `json:"down_by,omitempty"`
}

// NIC is a host's port with its RDMA address.
type NIC struct {
	Node int `json:"node"`
	Link int `json:"link"`
	Rail int `json:"rail"`
	// Index is its place in its server, from 1: host-1/nic-2.
	Index int        `json:"index"`
	Addr  netip.Addr `json:"addr"`
}

// Options are the settings for building a lab.
type Options struct {
	Name     string
	Routing  string    // frr or static
	Rate     unit.Rate // rate of a host port; other ports in proportion
	NoECN    bool
	Numbered bool          // cables between switches have a /31 each; BGP is unnumbered otherwise
	Wait     time.Duration // time for every switch to have its routes [DefaultWait]
	Say      func(format string, args ...any)
}

// DefaultWait is the time that Up waits for routes: BGP takes some seconds.
const DefaultWait = 30 * time.Second

var nameForm = regexp.MustCompile(`^[a-z0-9]{1,12}$`)

// InputError reports that a lab is impossible here, or with these settings.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }
func (e *InputError) Unwrap() error { return e.Err }

func refuse(format string, args ...any) error { return &InputError{fmt.Errorf(format, args...)} }

// ready checks privileges and programs.
func ready(programs ...string) error {
	if runtime.GOOS != "linux" {
		return refuse("a lab needs Linux's network namespaces")
	}
	if os.Geteuid() != 0 {
		return refuse("a lab needs root: it makes network namespaces")
	}
	packages := map[string]string{
		"ip":    "iproute2",
		"tc":    "iproute2",
		"nft":   "nftables",
		"vtysh": "frr",
		zebra:   "frr",
		bgpd:    "frr",
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			return refuse("%s is not installed (Debian's package %s)", p, packages[p])
		}
	}
	return nil
}

// HasFRR reports whether FRR's daemons are installed.
func HasFRR() bool {
	_, err := exec.LookPath(zebra)
	return err == nil
}

// plan designs a lab from a graph: names, rates and addresses.
func plan(g *topo.Graph, o Options) (*State, error) {
	hosts, switches := len(g.Hosts), len(g.Nodes)-len(g.Hosts)
	switch {
	case !nameForm.MatchString(o.Name):
		return nil, refuse("a lab's name has 1 to 12 letters a-z and digits, found %q", o.Name)
	case o.Routing != RoutingFRR && o.Routing != RoutingStatic:
		return nil, refuse("routing is frr or static, found %q", o.Routing)
	case o.Rate < unit.Mbps || o.Rate > 100*unit.Gbps:
		return nil, refuse("the rate %v of a host port is out of range 1Mbps–100Gbps", o.Rate)
	case hosts > MaxHosts || switches > MaxSwitches || len(g.Links) > MaxLinks:
		return nil,
			refuse("a lab has up to %s, %s and %s; this fabric has %d, %d and %d",
				unit.Plural(MaxHosts, "host"), unit.Plural(MaxSwitches, "switch"),
				unit.Plural(MaxLinks, "cable"), hosts, switches, len(g.Links))
	}
	s := &State{Name: o.Name, Routing: o.Routing, Rate: o.Rate, frr: map[int]string{}}
	d, err := decide(g, o)
	if err != nil {
		return nil, err
	}
	ports := map[string]*design.Port{} // ports of switches, by name, such as rail-1:Eth3
	asn := map[int]uint32{}
	for _, sw := range d.Switches {
		asn[sw.Node] = sw.ASN
		for _, p := range sw.Ports {
			ports[sw.Name+":"+p.Name] = p
		}
		s.frr[sw.Node] = frr.Config(d, sw, true)
	}
	for i, n := range g.Nodes {
		s.Nodes = append(s.Nodes, Node{Name: n.Name, Namespace: "ry-" + o.Name + "-" + n.Name,
			Switch: n.Role != topo.Host, ASN: asn[i]})
	}
	var fastest unit.Rate
	for _, nic := range g.NICs {
		for _, l := range nic.Links {
			fastest = max(fastest, g.Links[l].Rate)
		}
	}
	for _, l := range g.Links {
		link := Link{A: l.A, B: l.B, APort: linuxName(l.APort), BPort: linuxName(l.BPort),
			Rate: unit.Rate(float64(l.Rate) / float64(fastest) * float64(o.Rate))}
		if p := ports[g.Nodes[l.A].Name+":"+linuxName(l.APort)]; p != nil {
			link.AddrA, link.AddrB = p.Addr.Addr(), p.FarAddr
		} else if p := ports[g.Nodes[l.B].Name+":"+linuxName(l.BPort)]; p != nil {
			link.AddrB, link.AddrA = p.Addr.Addr(), p.FarAddr
		}
		s.Links = append(s.Links, link)
	}
	for _, nic := range g.NICs {
		for _, link := range nic.Links {
			_, addr, _ := s.Links[link].end(g.Hosts[nic.Host])
			s.NICs = append(s.NICs, NIC{Node: g.Hosts[nic.Host], Link: link, Rail: nic.Rail,
				Index: nic.Index + 1,
				Addr:  addr})
		}
	}
	return s, nil
}

// portName returns the name of a switch's port in its namespace: as on the device, where Linux takes that.
func portName(p *panel.Panel, j panel.Jack) string {
	if p == nil {
		return fmt.Sprintf("Eth%d", j.Port)
	}
	return linuxName(p.Own(j))
}

// linuxName returns a port's name without characters reserved by Linux and nftables.
func linuxName(port string) string { return notInNames.Replace(port) }

var notInNames = strings.NewReplacer("/", "_", ":", "_")

// decide gives the fabric the addresses and AS numbers that config render gives it. A lab has no VLANs and no bundles:
// rails that are VLANs become routed ports, and so does each port of a NIC with several.
func decide(g *topo.Graph, o Options) (*design.Design, error) {
	if len(g.Channels) > 0 {
		return nil, refuse("cables are layer 3 port channels here (lag), and a lab's switches have no bonds: without lag each cable is a next hop")
	}
	routed := *g
	routed.Isolated = false
	addressing := design.Unnumbered
	if o.Numbered || o.Routing == RoutingStatic {
		addressing = design.Numbered
	}
	d, err := design.Make(design.Fabric{Name: "lab " + o.Name, Graph: &routed, Spec: func(int) queue.Spec {
		return queue.Default()
	}, OS: swconf.FRR, Addressing: addressing, Naming: portName,
		Apart: true})
	if err != nil {
		return nil, &InputError{err}
	}
	return d, nil
}

// Inside is the start of a command line that runs in a node.
func (s *State) Inside(node int) []string {
	return []string{"ip", "netns", "exec", s.Nodes[node].Namespace}
}

func (s *State) dir() string { return filepath.Join(root, s.Name) }

func (s *State) file() string { return filepath.Join(s.dir(), "state.json") }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// save writes the state down.
func (s *State) save() error {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	tmp := filepath.Join(s.dir(), "state.json.new")
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, s.file())
}

// Load reads a lab's state.
func Load(name string) (*State, error) {
	if !nameForm.MatchString(name) {
		return nil, refuse("a lab's name has 1 to 12 letters a-z and digits, found %q", name)
	}
	b, err := os.ReadFile(filepath.Join(root, name, "state.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, refuse("no lab %q is up (railyard lab up SCENARIO)", name)
	}
	if err != nil {
		return nil, &InputError{err}
	}
	s := &State{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, refuse("the state of lab %q cannot be read: %v", name, err)
	}
	return s, nil
}

// command runs a program and converts its messages to an error.
func command(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(problems.String()), "\n")
		return out, fmt.Errorf("%s %s: %s (%w)", name, strings.Join(args, " "), line, err)
	}
	return out, nil
}

// namespaces lists the host's network namespaces.
func namespaces(ctx context.Context) (map[string]bool, error) {
	out, err := command(ctx, "ip", "-j", "netns", "list")
	if err != nil {
		return nil, err
	}
	var list []struct {
		Name string `json:"name"`
	}
	if len(bytes.TrimSpace(out)) > 0 {
		if err := json.Unmarshal(out, &list); err != nil {
			return nil, err
		}
	}
	m := map[string]bool{}
	for _, n := range list {
		m[n.Name] = true
	}
	return m, nil
}

// FindPort returns the link and the end of a port such as "rail-1:Eth3".
func (s *State) FindPort(port string) (link int, node int, err error) {
	var some []string
	for i, l := range s.Links {
		for _, e := range []struct {
			node int
			port string
		}{{l.A, l.APort}, {l.B, l.BPort}} {
			name := s.Nodes[e.node].Name + ":" + e.port
			if name == port {
				return i, e.node, nil
			}
			if len(some) < 8 && s.Nodes[e.node].Switch {
				some = append(some, name)
			}
		}
	}
	return 0, 0, refuse("no port %q in this lab; ports are %s ...", port, strings.Join(some, ", "))
}

// end returns port and address of a link at a node.
func (l *Link) end(node int) (port string, addr, peer netip.Addr) {
	if l.A == node {
		return l.APort, l.AddrA, l.AddrB
	}
	return l.BPort, l.AddrB, l.AddrA
}

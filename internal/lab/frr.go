package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// FRR's daemons.
const (
	zebra = "/usr/lib/frr/zebra"
	bgpd  = "/usr/lib/frr/bgpd"
)

// bgpConfig is a switch's configuration: BGP unnumbered on every port to
// another switch, equal-cost paths over all of them, the host networks
// announced as they are connected (RFC 7938, HANDBOOK.md 15).
func (s *State) bgpConfig(node int) string {
	n := s.Nodes[node]
	var b strings.Builder
	fmt.Fprintf(&b, "frr defaults datacenter\nhostname %s\n!\nrouter bgp %d\n bgp router-id 10.255.%d.%d\n bgp bestpath as-path multipath-relax\n", n.Name, n.ASN, node>>8, node&255)
	b.WriteString(" no bgp ebgp-requires-policy\n timers bgp 1 3\n neighbor FABRIC peer-group\n neighbor FABRIC remote-as external\n neighbor FABRIC advertisement-interval 0\n")
	for i := range s.Links {
		l := &s.Links[i]
		if (l.A == node || l.B == node) && s.Nodes[l.A].Switch && s.Nodes[l.B].Switch {
			port, _, _ := l.end(node)
			fmt.Fprintf(&b, " neighbor %s interface peer-group FABRIC\n", port)
		}
	}
	b.WriteString(" !\n address-family ipv4 unicast\n  redistribute connected\n  maximum-paths 64\n exit-address-family\n!\n")
	return b.String()
}

// startFRR runs zebra and bgpd in every switch's namespace.
func (s *State) startFRR(ctx context.Context) error {
	for i, n := range s.Nodes {
		if !n.Switch {
			continue
		}
		dir := filepath.Join(s.dir(), n.Name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		bgp, zeb := filepath.Join(dir, "bgpd.conf"), filepath.Join(dir, "zebra.conf")
		if err := os.WriteFile(bgp, []byte(s.bgpConfig(i)), 0o644); err != nil {
			return err
		}
		if err := os.WriteFile(zeb, []byte("hostname "+n.Name+"\n"), 0o644); err != nil {
			return err
		}
		for _, d := range []struct {
			path, conf string
			more       []string
		}{{zebra, zeb, nil}, {bgpd, bgp, []string{"-p", "179"}}} {
			name := filepath.Base(d.path)
			args := append([]string{"netns", "exec", n.Namespace, d.path, "-d", "-u", "root", "-g", "frrvty", "-P", "0", "-f", d.conf,
				"-i", filepath.Join(dir, name+".pid"), "-z", filepath.Join(dir, "zserv.api"), "--vty_socket", dir,
				"--log", "file:" + filepath.Join(dir, name+".log")}, d.more...)
			if _, err := command(ctx, "ip", args...); err != nil {
				return err
			}
		}
	}
	return nil
}

// sessions counts a switch's established BGP sessions and those configured.
func (s *State) sessions(ctx context.Context, node int) (established, all int, err error) {
	out, err := command(ctx, "vtysh", "--vty_socket", filepath.Join(s.dir(), s.Nodes[node].Name), "-c", "show bgp summary json")
	if err != nil {
		return 0, 0, err
	}
	return strings.Count(string(out), `"state":"Established"`), strings.Count(string(out), `"remoteAs"`), nil
}

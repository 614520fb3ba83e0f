package lab

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// FRR's daemons.
const (
	zebra = "/usr/lib/frr/zebra"
	bgpd  = "/usr/lib/frr/bgpd"
)

// startFRR runs zebra and bgpd in every switch's namespace and gives them the
// configuration that config render writes, through vtysh as FRR's own start does.
func (s *State) startFRR(ctx context.Context) error {
	for i, n := range s.Nodes {
		if !n.Switch {
			continue
		}
		dir := filepath.Join(s.dir(), n.Name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		conf, none := filepath.Join(dir, "frr.conf"), filepath.Join(dir, "none.conf")
		if err := os.WriteFile(conf, []byte(s.frr[i]), 0o644); err != nil {
			return err
		}
		if err := os.WriteFile(none, nil, 0o644); err != nil {
			return err
		}
		for _, d := range []struct {
			path string
			more []string
		}{{zebra, nil}, {bgpd, []string{"-p", "179"}}} {
			name := filepath.Base(d.path)
			args := append([]string{"netns", "exec", n.Namespace, d.path, "-d", "-u", "root", "-g", "frrvty",
				"-P", "0", "-f", none,
				"-i", filepath.Join(dir, name+".pid"), "-z", filepath.Join(dir, "zserv.api"),
				"--vty_socket", dir,
				"--log", "file:" + filepath.Join(dir, name+".log")}, d.more...)
			if _, err := command(ctx, "ip", args...); err != nil {
				return err
			}
		}
		if _, err := command(ctx, "ip", "netns", "exec", n.Namespace, "vtysh", "--vty_socket", dir, "-f",
			conf); err != nil {
			return err
		}
	}
	return nil
}

// sessions counts a switch's established BGP sessions and those configured.
func (s *State) sessions(ctx context.Context, node int) (established, all int, err error) {
	out, err := command(ctx, "vtysh", "--vty_socket", filepath.Join(s.dir(), s.Nodes[node].Name), "-c",
		"show bgp summary json")
	if err != nil {
		return 0, 0, err
	}
	return strings.Count(string(out), `"state":"Established"`), strings.Count(string(out), `"remoteAs"`), nil
}

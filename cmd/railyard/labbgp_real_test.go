package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// The rendered BGP runs in namespaces, unnumbered and numbered. Every session is established. A leaf reaches the
// other leaf's servers over both spines by the right next hops, and a spine by the one leaf.
func TestRealLabBGP(t *testing.T) {
	needsLab(t, "/usr/lib/frr/bgpd", "vtysh")
	t.Parallel()
	for i, addressing := range []string{"unnumbered", "p2p"} {
		t.Run(addressing, func(t *testing.T) {
			t.Parallel()
			sessionsComeUp(t, ownName(fmt.Sprint("bgp", i)), addressing)
		})
	}
}

// sessionsComeUp creates a lab with BGP and checks its sessions and routes.
func sessionsComeUp(t *testing.T, name, addressing string) {
	t.Helper()
	raise(t, name, "--routing", "frr", "--addressing", addressing)
	leaf := nexthops(t, name, "seg-1-rail-1", "10.0.0.4/31")
	want := "Eth3 Eth4"
	if addressing == "p2p" {
		want = "Eth3 10.64.0.1 Eth4 10.64.0.3"
	}
	if leaf != want {
		t.Errorf("%s: the leaf's next hops are %q, want %q", addressing, leaf, want)
	}
	if spine := nexthops(t, name, "spine-1", "10.0.0.4/31"); !strings.HasPrefix(spine, "Eth2") ||
		strings.Count(spine, "Eth") != 1 {
		t.Errorf("%s: the spine's next hop is %q", addressing, spine)
	}
	out, err := exec.Command("vtysh", "--vty_socket", "/run/railyard-lab/"+name+"/spine-2", "-c",
		"show bgp summary json").Output()
	if err != nil || strings.Count(string(out), `"state":"Established"`) != 2 {
		t.Errorf("%s: spine-2: %v\n%s", addressing, err, out)
	}
}

// nexthops lists a route's ports and gateways in the order of the ports.
func nexthops(t *testing.T, lab, node, prefix string) string {
	t.Helper()
	type hop struct{ Dev, Gateway string }
	var routes []struct {
		hop
		Nexthops []hop
	}
	until(t, "one route, over both spines at a leaf", func() bool {
		out, err := exec.Command("ip", "-n", "ry-"+lab+"-"+node, "-j", "route", "show", prefix).Output()
		if routes = nil; err != nil || json.Unmarshal(out, &routes) != nil {
			t.Fatal(err, string(out))
		}
		return len(routes) == 1 && (len(routes[0].Nexthops) > 1 || strings.HasPrefix(node, "spine"))
	})
	hops := routes[0].Nexthops
	if len(hops) == 0 {
		hops = []hop{routes[0].hop}
	}
	by := map[string]string{}
	for _, h := range hops {
		by[h.Dev] = strings.TrimSpace(h.Dev + " " + h.Gateway)
	}
	var list []string
	for _, dev := range []string{"Eth1", "Eth2", "Eth3", "Eth4"} {
		if by[dev] != "" {
			list = append(list, by[dev])
		}
	}
	return strings.Join(list, " ")
}

package frr

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/internal/published"
	"railyard/internal/swconf"
)

// public is the meaning of public texts, by reading them and FRR's manual. Texts of SONiC have no neighbours:
// bgpcfgd adds them, and applies the prefix lists, when it runs.
var public = map[string]struct {
	hostname              string
	as                    uint32
	paths                 int
	networks              int
	relaxed, free, silent bool // multipath-relax; eBGP without policies; in no family by itself
	ports, channels       int
	routes                int
	objects               string
	unknown               []string
}{
	// /etc/network/interfaces, ports.conf and frr.conf in one; the first line is a heading
	"lv-area0.cfg": {hostname: "R1", ports: 1, unknown: []string{"area0",
		"source /etc/network/interfaces.d/*.intf"}},
	"lv-r1.cfg": {hostname: "r1", ports: 2, unknown: []string{"r1",
		"source /etc/network/interfaces.d/*.intf"}},
	"sonic-bgpd_frr.conf": {hostname: "switch-t0", as: 65100, paths: 514, networks: 3, relaxed: true,
		free: true, silent: true, objects: "PL_LoopbackV4 PL_LoopbackV6 LOCAL_VLAN_IPV4_PREFIX"},
	"sonic-bgpd_frr_backend_asic.conf": {hostname: "multi_npu_platform_01", as: 65100, paths: 514,
		networks: 2, relaxed: true, free: true, silent: true, objects: "PL_LoopbackV4 PL_LoopbackV6 " +
			"V4_P2P_IP V6_P2P_IP V4_CONNECTED_ROUTES V6_CONNECTED_ROUTES HIDE_INTERNAL"},
	"sonic-bgpd_frr_bmp.conf": {hostname: "switch-t0", as: 65100, paths: 514, networks: 3, relaxed: true,
		free: true, silent: true, objects: "PL_LoopbackV4 PL_LoopbackV6 LOCAL_VLAN_IPV4_PREFIX"},
	"sonic-bgpd_frr_dualtor.conf": {hostname: "switch-t0", as: 65100, paths: 514, networks: 3,
		relaxed: true, free: true, silent: true, objects: "PL_LoopbackV4 PL_LoopbackV6 " +
			"LOCAL_VLAN_IPV4_PREFIX"},
	"sonic-frr.conf": {hostname: "switch-t0", as: 65100, paths: 514, networks: 3, relaxed: true,
		free: true, silent: true, routes: 1, objects: "PL_LoopbackV4 PL_LoopbackV6 " +
			"LOCAL_VLAN_IPV4_PREFIX"},
	"sonic-staticd_frr.conf":         {hostname: "switch-t0", routes: 1},
	"sonic-t2-chassis-fe-zebra.conf": {hostname: "SpineFront01"},
	"sonic-zebra_frr.conf":           {hostname: "switch-t0"},
}

// Public texts are parsed as FRR does, and none of them is called wrong, because all of these run.
func TestPublicTexts(t *testing.T) {
	for _, f := range published.Files(t, "configs", "frr", "*") {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Parse(filepath.Base(f), text)
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		for _, found := range swconf.Lint(swconf.Input{Configs: []*swconf.Config{c}, DataDSCP: 24,
			CNPDSCP: 48, PathMTU: 4096}) {
			if found.Severity == swconf.Error {
				t.Errorf("%s:%d: %s: %s", c.File, found.Line, found.Rule, found.Message)
			}
		}
		want, known := public[filepath.Base(f)]
		if !known {
			continue // of a newer set: without expected errors and a table
		}
		var unknown, objects []string
		for _, u := range c.Unknown {
			unknown = append(unknown, u.Text)
		}
		for _, o := range c.Objects {
			objects = append(objects, o.Name)
		}
		if c.Hostname.V != want.hostname || len(c.Ports) != want.ports || len(c.Bundles) != want.channels ||
			len(c.Routes) != want.routes || !slices.Equal(unknown, want.unknown) ||
			strings.Join(objects, " ") != want.objects {
			t.Errorf("%s: %q has %d ports, %d bonds, %d routes, %q, unknown %q", c.File, c.Hostname.V,
				len(c.Ports), len(c.Bundles), len(c.Routes), objects, unknown)
		}
		b := c.BGP
		if (b != nil) != (want.as > 0) {
			t.Errorf("%s: %+v", c.File, b)
		}
		if b != nil && (b.ASN.V != want.as || b.MaxPaths.V != want.paths ||
			len(b.Networks) != want.networks || b.Relax.V != want.relaxed || b.NoPolicy.V != want.free ||
			b.NoDefault.V != want.silent ||
			len(b.Neighbors) > 0) {
			t.Errorf("%s: %+v", c.File, b)
		}
	}
}

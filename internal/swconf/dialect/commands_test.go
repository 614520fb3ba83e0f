package dialect_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
)

// commanded lists the rules with an injected fault that commands mend, by language.
const commanded = "nxos: ecn-missing ecn-differs wred-average pfc-class pfc-interface pfc-one-end cnp-not-strict mtu-small " +
	"watchdog-missing dlb-mac-differs lldp-off bgp-no-multipath bgp-as-mismatch speed-differs " +
	"port-down\n" +
	"sonic: ecn-differs pfc-class mtu-small speed-differs port-down\n" +
	"frr: bgp-no-multipath bgp-relax bgp-policy\n" +
	"eos: ecn-differs pfc-class mtu-small bgp-no-multipath bgp-unnumbered speed-differs\n" +
	"nvue: ecn-differs mtu-small watchdog-missing bgp-no-multipath bgp-relax speed-differs\n" +
	"dell:\n" +
	"junos: mtu-small speed-differs\n"

// Faults of languages that faults has in NX-OS.
var otherwise = []fault{
	{"nxos", leaf, "    pause pfc-cos 3\n", "  class type network-qos c-8q-nq4\n    pause pfc-cos 4\n", "", "pfc-class"},
	{"eos", leaf, "mtu 9214", "mtu 1500", "", "mtu-small"},
	{"eos", leaf, "   maximum-paths 64 ecmp 64\n", "", "", "bgp-no-multipath"},
	{"eos", leaf, "speed 400g", "speed 100g", "", "speed-differs"},
	{"eos", leaf, "   ipv6 enable\n", "", "", "bgp-unnumbered"},
	{"junos", leaf, "mtu 9216", "mtu 1500", "", "mtu-small"},
	{"junos", leaf, "speed 400g", "speed 100g", "", "speed-differs"},
	{"nvue", leaf, "link mtu 9216", "link mtu 1500", "", "mtu-small"},
	{"nvue", leaf, "link speed 400G", "link speed 100G", "", "speed-differs"},
	{"nvue", leaf, "nv set interface swp1 qos pfc-watchdog state enable\n", "", "", "watchdog-missing"},
	{"nvue", leaf, "nv set vrf default router bgp path-selection multipath aspath-ignore on\n", "", "", "bgp-relax"},
	{"sonic", leaf, `"admin_status": "up"`, `"admin_status": "down"`, "", "port-down"},
	{"sonic", leaf, `"speed": "400000"`, `"speed": "100000"`, "", "speed-differs"},
}

// The commands of a finding fix it when entered on its switch: for every injected fault, in every language of
// commands. Those of SONiC are for its shell and are not parsed here.
func TestCommandsMendTheirFindings(t *testing.T) {
	fixed := map[string]bool{}
	for _, os := range dialect.Written() {
		d, err := plan(fabric(t, "rail"), spec(), swconf.OS(os), design.Unnumbered, "", balanced(os, "flowlet"))
		if err != nil {
			t.Fatal(err)
		}
		_, good := configs(t, d)
		for _, f := range slices.Concat(faults, otherwise) {
			if f.os != swconf.OS(os) {
				continue
			}
			file := f.path(good)
			texts := map[string]string{}
			for name, text := range good {
				texts[name] = text
			}
			if texts[file] = strings.Replace(texts[file], f.old, f.new, 1); texts[file] == good[file] {
				continue
			}
			for _, x := range parsed(t, texts) {
				if x.Rule != f.rule || x.File != file || len(x.Commands) == 0 {
					continue
				}
				if fixed[os+" "+x.Rule] = true; os == "sonic" && !strings.HasSuffix(file, "frr.conf") {
					continue
				}
				fixed := map[string]string{}
				for name, text := range texts {
					fixed[name] = text
				}
				fixed[file] += "\n" + strings.Join(x.Commands, "\n") + "\n"
				for _, y := range parsed(t, fixed) {
					if y.Rule == x.Rule && y.File == x.File && y.Message == x.Message {
						t.Errorf("%s: %q, %q: remains after\n%s", os, f.new, x.Message, strings.Join(x.Commands, "\n"))
					}
				}
			}
		}
	}
	got := ""
	for _, os := range dialect.Names() {
		got += os + ":"
		for _, r := range swconf.Rules() {
			if fixed[os+" "+r.ID] {
				got += " " + r.ID
			}
		}
		got += "\n"
	}
	if got != commanded {
		t.Errorf("commands for\n%s", got)
	}
}

// path is the file that a fault is in.
func (f *fault) path(good map[string]string) string {
	for name := range good {
		if path.Dir(name) == f.file && strings.Contains(good[name], f.old) {
			return name
		}
	}
	return ""
}

// parsed lints the files of a fabric.
func parsed(t *testing.T, texts map[string]string) []swconf.Finding {
	t.Helper()
	var cs []*swconf.Config
	for name, text := range texts {
		if strings.Contains(name, "/") && !strings.HasSuffix(name, "daemons") {
			c, err := dialect.Parse(name, []byte(text), "")
			if err != nil {
				t.Fatal(fmt.Errorf("%s: %w", name, err))
			}
			cs = append(cs, c)
		}
	}
	slices.SortFunc(cs, func(a, b *swconf.Config) int { return strings.Compare(a.File, b.File) })
	return lint(fabric(t, "rail"), cs)
}

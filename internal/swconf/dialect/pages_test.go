package dialect_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"railyard/internal/hostconf"
	"railyard/internal/queue"
	"railyard/internal/story"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
	"railyard/internal/topo"
	"railyard/unit"
)

// pageFolder is the relative path of the rules' pages.
const pageFolder = "../../../docs/rules/"

// A scene is a fabric with correct texts, in which a page's example is a change.
type scene struct {
	g       *topo.Graph
	texts   map[string]string
	plugged []swconf.Plugged
}

// An example shows a rule: a change of one switch's text that breaks it and, if possible, another that comes near
// without breaking it.
type example struct {
	scene     *scene
	rule      string
	file      string
	bad, good []string
}

// scenes are the texts that examples change, by name.
func scenes(t *testing.T) map[string]*scene {
	all := map[string]*scene{}
	add := func(name string, g *topo.Graph, d *design.Design, err error) {
		if err != nil {
			t.Fatal(name, err)
		}
		_, texts := configs(t, d)
		all[name] = &scene{g: g, texts: texts}
	}
	rail := fabric(t, "rail")
	for _, os := range []swconf.OS{swconf.NXOS, swconf.FRR} {
		d, err := plan(rail, spec(), os, design.Numbered, "", balanced(string(os), "flowlet"))
		add(string(os), rail, d, err)
	}
	d, err := segmented(rail, core(), swconf.SONiC)
	add("segments", rail, d, err)
	d, err = plan(rail, trims(40_000, queue.Trim{Size: 128, DSCP: 46, LastHop: 46}), swconf.SONiC,
		design.Unnumbered, "", "")
	add("trimming", rail, d, err)
	lag := channelled(t)
	d, err = plan(lag, spec(), swconf.NXOS, design.Numbered, "", "")
	add("channels", lag, d, err)
	apart := fabric(t, "pod")
	apart.Apart()
	d, err = plan(apart, spec(), swconf.NXOS, design.Unnumbered, design.MLAG, "")
	add("apart", apart, d, err)
	both := fabric(t, "dual-rail")
	d, err = plan(both, spec(), swconf.NXOS, design.Numbered, design.MLAG, "")
	add("bundles", both, d, err)
	pod := fabric(t, "pod")
	d, err = plan(pod, spec(), swconf.NXOS, design.Unnumbered, design.MLAG, "")
	for _, name := range []string{"server", "server with GIDs", "server, 2 priorities", "server, FEC"} {
		add(name, pod, d, err)
		all[name].texts[serverName+"/setup.sh"] = server
	}
	all["server with GIDs"].texts[serverName+"/gids.txt"] = gids
	for name, of := range map[string]string{"server, FEC": "server", "fec": string(swconf.NXOS)} {
		texts := map[string]string{}
		for path, text := range all[of].texts {
			texts[path] = strings.ReplaceAll(strings.ReplaceAll(text, coded[0], coded[1]), "  fec rs-fec\n",
				"  fec rs-fec\n  negotiate auto\n")
		}
		all[name] = &scene{g: all[of].g, texts: texts}
	}
	for path, text := range all["server, 2 priorities"].texts {
		change := pausing("4")
		all["server, 2 priorities"].texts[path] = strings.ReplaceAll(text, change[0], change[1])
	}

	d, err = plan(pod, spec(), swconf.NXOS, design.Numbered, design.ESI, "")
	add("segment pairs", pod, d, err)
	d, err = plan(pod, spec(), swconf.EOS, design.Numbered, design.MLAG, "")
	add("eos pairs", pod, d, err)
	all["member"] = &scene{texts: map[string]string{"leaf/nxos.cfg": bundled}}

	ring := ringOf4(t)
	d, err = plan(ring, spec(), swconf.NXOS, design.Numbered, "", "")
	add("ring", ring, d, err)
	one := all["ring"].texts
	one["leaf-1/nxos.cfg"] = strings.ReplaceAll(one["leaf-1/nxos.cfg"], "priority-flow-control mode "+
		"auto\n", pfcOff)

	d, err = plan(rail, spec(), swconf.NXOS, design.Numbered, "", "")
	add("rails", rail, d, err)
	all["rails"].plugged = []swconf.Plugged{{Switch: leaf, Port: "Ethernet1/1", Server: "host-1",
		Socket: "nic1"}}
	all["rails"].texts[leaf+"/nxos.cfg"] = strings.Replace(all["rails"].texts[leaf+"/nxos.cfg"],
		"description to host-1 nic1", "description rail-1 to host-1 nic1", 1)
	return all
}

// ringOf4 are four leaves with a server each, in a ring.
func ringOf4(t *testing.T) *topo.Graph {
	e := topo.NewExplicit(topo.Server{GPUs: 1, NICs: 1, Ports: 1})
	cable := topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 3000}
	var errs []error
	for i := 1; i <= 4; i++ {
		errs = append(errs, e.Host(fmt.Sprint("host-", i)), e.Switch(fmt.Sprint("leaf-", i), topo.Leaf, 1),
			e.Link(fmt.Sprint("host-", i), fmt.Sprint("leaf-", i), cable))
	}
	for i := 1; i <= 4; i++ {
		errs = append(errs, e.Link(fmt.Sprint("leaf-", i), fmt.Sprint("leaf-", i%4+1), cable))
	}
	g, err := e.Finish()
	if err := errors.Join(append(errs, err)...); err != nil {
		t.Fatal(err)
	}
	return g
}

// serverName is a server of the fabric with servers' texts.
const serverName = "host-1"

const pfcOff = "priority-flow-control mode off\n"

// examples has one example for each rule: an entry here, or the first of its edges.
func examples(t *testing.T) []example {
	all := scenes(t)
	const policy = "  service-policy type qos input CLASSIFY\n"
	out := []example{
		{all["segments"], "srv6-sid", leaf, []string{`RAILYARD1|fcbb:bb00:1::/48`,
			`RAILYARD1|fcbb:bb00:4::/48`}, nil},
		{all["segments"], "srv6-way", leaf, []string{`default|fcbb:bb00:5::/48`, `default|fcbb:bb00:9::/48`},
			nil},
		{all["trimming"], "trimming", leaf, []string{`"dscp_value": "46"`, `"dscp_value": "20"`}, nil},
		{all["trimming"], "queue-default", leaf, []string{",\n            \"tc_to_queue_map\": \"ROCE\"", ""},
			nil},
		{all["trimming"], "ecmp-fields", leaf, []string{`"SWITCH_TRIMMING": {`, `"SWITCH_HASH": {
        "GLOBAL": {
            "ecmp_hash": ["DST_IP", "SRC_IP"]
        }
    },
    "SWITCH_TRIMMING": {`}, []string{`"SWITCH_TRIMMING": {`, `"SWITCH_HASH": {
        "GLOBAL": {
            "ecmp_hash": ["DST_IP", "SRC_IP", "L4_SRC_PORT"]
        }
    },
    "SWITCH_TRIMMING": {`}},
		{all["fec"], "fec-differs", leaf, []string{"  fec rs-fec\n", "  fec fc-fec\n"},
			[]string{"  fec rs-fec\n", "  fec auto\n"}},
		{all["fec"], "autoneg-differs", leaf, []string{"  negotiate auto\n", "  no negotiate auto\n"},
			[]string{"  negotiate auto\n", ""}},
		{all["channels"], "channel-ends", leaf, []string{"lacp min-links 2", "lacp min-links 1"}, nil},
		{all["apart"], "nic-vlans", "rail-2", []string{"switchport access vlan 701",
			"switchport access vlan 101"}, []string{"switchport access vlan 701",
			"switchport access vlan 703"}},
		{all["member"], "member-idle", "leaf", []string{policy, "", "interface Ethernet1/2\n",
			"interface Ethernet1/2\n" + policy}, []string{"interface Ethernet1/2\n",
			"interface Ethernet1/2\n" + policy}},
		{all["segment pairs"], "evpn-next-hop", "spine-1", []string{"      route-map UNCHANGED out\n", ""},
			nil},
		{all["segment pairs"], "evpn-segment", "rail-1", []string{
			"  evpn multihoming core-tracking\n", ""}, nil},
		{all["segment pairs"], "evpn-pair", "rail-1", []string{
			"switchport access vlan 101", "switchport access vlan 103"}, nil},
		{all["eos pairs"], "mlag", "rail-1", []string{"   peer-link Port-Channel2000\n", ""}, nil},
		{all["eos pairs"], "watchdog-floor", "rail-1", []string{"      bandwidth guaranteed 100\n", ""},
			[]string{"bandwidth guaranteed 100", "bandwidth guaranteed percent 1"}},
		{all["ring"], "pfc-deadlock", "leaf-1", []string{pfcOff, "priority-flow-control mode auto\n"}, nil},
		{all["rails"], "rail-port", leaf, []string{"rail-1 to host-1 nic1", "rail-2 to host-1 nic2"}, nil},
	}
	for _, e := range hostEdges {
		x := example{all["server"], e.rule, serverName, e.bad, e.good}
		switch e.rule {
		case "host-gid":
			x.scene, x.good = all["server with GIDs"], nil
		case "host-fec":
			x.scene = all["server, FEC"]
		case "host-priority":
			x.scene = all["server, 2 priorities"]
			x.bad = e.bad[2:]
		}
		out = append(out, x)
	}
	for _, e := range edges {
		if !slices.ContainsFunc(out, func(x example) bool { return x.rule == e.rule }) {
			out = append(out, example{all[string(e.os)], e.rule, e.file, e.bad, e.good})
		}
	}
	return out
}

// TestRulePages: each rule has a page; its bad example has a finding, and its good ones have none.
func TestRulePages(t *testing.T) {
	pages := map[string]string{}
	for _, x := range examples(t) {
		pages[x.rule] = x.page(t)
	}
	var list strings.Builder
	list.WriteString("# Rules of `railyard config lint`\n\nWritten by the test that tries the examples; " +
		"`railyard config lint --rules RULE` prints a page.\n\n| rule | level | checks |\n|---|---|---|\n")
	for _, r := range swconf.Rules() {
		fmt.Fprintf(&list, "| [%s](%s.md) | %s | %s |\n", r.ID, r.ID, r.Severity, r.Short)
		if pages[r.ID] == "" {
			t.Errorf("rule %s has no example", r.ID)
			continue
		}
		story.CheckFile(t, pageFolder+r.ID+".md", pages[r.ID])
	}
	story.CheckFile(t, pageFolder+"README.md", list.String())
	files, err := os.ReadDir(pageFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name, md := strings.CutSuffix(f.Name(), ".md")
		if md && name != "README" && swconf.RuleByID(name) == nil {
			t.Errorf("%s is not a rule's page", f.Name())
		}
	}
}

// page is the Markdown of an example.
func (x *example) page(t *testing.T) string {
	path := x.path(t)
	was := x.scene.texts[path]
	bad := replaced(t, x.rule, was, x.bad)
	found := x.findings(t, path, bad)
	if len(found) == 0 {
		t.Errorf("%s says nothing about its bad example", x.rule)
		return ""
	}
	if more := x.findings(t, path, was); len(more) > 0 {
		t.Errorf("%s complains where nothing was changed: %s", x.rule, more[0].Message)
	}
	f, r := found[0], swconf.RuleByID(x.rule)
	before, after := differing(was, bad)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n**%s**: %s.\n\n%s", r.ID, r.Severity, r.Short, wrapped("", sentence(f.Why)+"."))
	fmt.Fprintf(&b, "\n## Bad\n\n%s\nAt line %d of %s `config lint` reports:\n\n%s>\n%s",
		excerpt(bad, after), f.Line, f.File, wrapped("> ", sentence(f.Message)+"."),
		wrapped("> ", "Fix: "+f.Fix+"."))
	fmt.Fprintf(&b, "\n## Good\n\n%s", excerpt(was, before))
	if len(x.good) > 0 {
		near := replaced(t, x.rule, was, x.good)
		if more := x.findings(t, path, near); len(more) > 0 {
			t.Errorf("%s complains about its good example: %s", x.rule, more[0].Message)
		}
		_, after := differing(was, near)
		fmt.Fprintf(&b, "\nNear to the bad one, and right:\n\n%s", excerpt(near, after))
	}
	return b.String()
}

// path returns the file of the switch that has the text to change.
func (x *example) path(t *testing.T) string {
	var in []string
	for path, text := range x.scene.texts {
		if strings.HasPrefix(path, x.file) && strings.Contains(path, "/") && strings.Contains(text,
			x.bad[0]) {
			in = append(in, path)
		}
	}
	if len(in) != 1 {
		t.Fatalf("%s: %q stands in %q", x.rule, x.bad[0], in)
	}
	return in[0]
}

// findings returns those of the example's rule with one file's text replaced.
func (x *example) findings(t *testing.T, path, text string) []swconf.Finding {
	in := swconf.Input{Graph: x.scene.g, DataDSCP: 24, CNPDSCP: 48, PathMTU: 4096, Base: spec(),
		Plugged: x.scene.plugged}
	var cs []*swconf.Config
	var hosts []hostconf.File
	for name, other := range x.scene.texts {
		if !strings.Contains(name, "/") || strings.HasSuffix(name, "daemons") {
			continue
		}
		if name == path {
			other = text
		}
		if strings.HasPrefix(name, serverName+"/") {
			hosts = append(hosts, hostconf.File{Name: name, Text: []byte(other)})
			continue
		}
		c, err := dialect.Parse(name, []byte(other), "")
		if err != nil {
			t.Fatal(err)
		}
		cs = append(cs, c)
	}
	slices.SortFunc(cs, func(a, b *swconf.Config) int { return strings.Compare(a.File, b.File) })
	if in.Configs = cs; len(hosts) > 0 {
		slices.SortFunc(hosts, func(a, b hostconf.File) int { return strings.Compare(a.Name, b.Name) })
		h, err := hostconf.ParseFiles(serverName, hosts)
		if err != nil {
			t.Fatal(err)
		}
		in.Hosts = []*swconf.Host{h}
	}
	return slices.DeleteFunc(swconf.Lint(in), func(f swconf.Finding) bool { return f.Rule != x.rule })
}

// replaced makes the changes of an edge at every occurrence.
func replaced(t *testing.T, rule, text string, change []string) string {
	for i := 0; i < len(change); i += 2 {
		if !strings.Contains(text, change[i]) {
			t.Fatalf("%s: the text has no %q", rule, change[i])
		}
		text = strings.ReplaceAll(text, change[i], change[i+1])
	}
	return text
}

// sentence capitalizes the first letter.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

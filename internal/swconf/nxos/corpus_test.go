package nxos_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/nxos"
	"railyard/internal/swconf/tell"
)

// corpus is the folder of public texts, where a checkout has one; they are no part of the project.
func corpus(t *testing.T) string {
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if path := filepath.Join(dir, "shared", "data", "configs", "nxos"); isDir(path) {
			return path
		}
		dir = filepath.Dir(dir)
	}
	t.Skip("no shared/data/configs/nxos above this folder")
	return ""
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// expected is what a text means, read by hand beside Cisco's QoS and unicast routing guides: a line for each
// queue of the ports that are most alike, by what decides it.
type expected struct {
	unknown []string // beginnings of lines that no Nexus 9000 or 3000 takes
	lines   [2]int   // understood, and known and of no matter here
	ports   int
	queues  []string
	bgp     string
	rules   []string // what lint has to say beyond hints
}

var corpusTexts = map[string]expected{
	"cisco-roce-enable.cfg": {lines: [2]int{58, 0}, ports: 3, queues: []string{
		"Ethernet1/1-2, Ethernet1/3/1: PFC on, watchdog, MTU 9216",
		"0: 50 %, class MTU 9216", "1: 0 %", "2: 0 %",
		"3: DSCP 24-31, 50 %, marks 950000 to 3000000 with 7 %, lossless 3, class MTU 9216",
		"4: 0 %", "5: 0 %", "6: 0 %", "7: DSCP 48, strict"}},
	// typed in a range, beginning with conf, unindented where interfaces are
	"cisco-roce-enable-script.cfg": {lines: [2]int{51, 0}, ports: 5, queues: []string{
		"Ethernet1/1/1-2, Ethernet1/2/1-2, Ethernet1/3: PFC on, watchdog, MTU 9216",
		"0: 50 %, class MTU 9216", "1: 0 %", "2: 0 %",
		"3: DSCP 24-31, 50 %, marks 950000 to 3000000 with 7 %, lossless 3, class MTU 9216",
		"4: 0 %", "5: 0 %", "6: 0 %", "7: DSCP 48, strict"}},
	// the watchdog's interval is on or off; nothing is there for CNPs
	"ai-template-own-classmaps.cfg": {lines: [2]int{32, 0},
		unknown: []string{"priority-flow-control watch-dog-interval 100"},
		ports:   16, queues: []string{"Ethernet1/1-16: PFC on, MTU 9216", "0: 30 %, class MTU 9216",
			"3: DSCP 24,26, CoS 3, 70 %, marks 150000 to 1500000, lossless 3"},
		rules: []string{"dscp-unmapped", "watchdog-missing"}},
	// Catalyst words between those of NX-OS
	"community-roce.cfg": {lines: [2]int{27, 0}, unknown: []string{"mls qos map",
		"priority-flow-control receive",
		"priority-flow-control send"}, ports: 1, queues: []string{"Ethernet1/1: PFC auto",
		"3: DSCP 26, 50 %, marks 100000 to 700000 with 40 %, lossless 3, class MTU 4200",
		"7: DSCP 48, strict"}, rules: []string{"bandwidth-left", "watchdog-missing"}},
	// by CoS; the class's own priority is paused; no ECN in that design
	"microsoft-sdn-n3132.cfg": {lines: [2]int{40, 3}, ports: 1,
		queues: []string{"Ethernet1/3/1: PFC on, speed 10Gbps",
			"0: 50 %, class MTU 9216",
			"3: CoS 3, 50 %, lossless 3, xOFF 46800 xON 34320 headroom 55120, class MTU 2240"},
		rules: []string{"ecn-missing", "mtu-small", "policy-unused", "watchdog-missing"}},
	// remarks behind commands; a last line that belongs to the one before it, and no interface
	"packetlife-roce-fragment.cfg": {lines: [2]int{14, 0}, unknown: []string{"ecn"},
		queues: []string{"the switch: PFC off",
			"3: lossless 3, class MTU 9216"},
		rules: []string{"ecn-missing", "no-classification", "policy-unused", "watchdog-missing"}},
	"lv-nxos_evpn_l2vni-NX-1.cfg": {lines: [2]int{167, 47}, ports: 128, bgp: "AS 65001, 1 neighbour",
		rules: []string{"bgp-silent"}},
	"lv-nxos_evpn_l3vni-NX-2.cfg": {lines: [2]int{174, 39}, ports: 128, bgp: "AS 65000, 1 neighbour",
		rules: []string{"bgp-silent",
			"policy-unused"}},
	"lv-nxos_hsrp-nxos1.cfg":   {lines: [2]int{165, 30}, ports: 128, bgp: "AS 65000, 1 neighbour"},
	"lv-nxos_isis-r1.cfg":      {lines: [2]int{79, 33}, ports: 64},
	"lv-nxos_n9kv_ebgp-r1.cfg": {lines: [2]int{86, 26}, ports: 64, bgp: "AS 65001, 1 neighbour"},
	"lv-nxos_redistribution-d1_redist.cfg": {lines: [2]int{188, 50}, ports: 128,
		bgp: "AS 65001, 2 neighbours", rules: []string{"bgp-no-multipath",
			"bgp-relax"}},
	"lv-nxos_undefined_route_map-d1_central.cfg": {lines: [2]int{286, 38}, ports: 128,
		bgp:   "AS 65001, 14 neighbours",
		rules: []string{"bgp-no-multipath", "bgp-relax"}},
}

// The public texts say what they mean, nothing in them is passed over that no table knows, and nothing in
// those that work is an error.
func TestCorpus(t *testing.T) {
	dir := corpus(t)
	for name, want := range corpusTexts {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			c, err := nxos.Parse(name, text)
			if err != nil {
				t.Fatal(err)
			}
			if c.Read+c.Passed+len(c.Unknown) != c.Total {
				t.Errorf("%d read, %d passed over and %d unknown of %d lines", c.Read, c.Passed,
					len(c.Unknown), c.Total)
			}
			if got := [2]int{c.Read, c.Passed}; got != want.lines {
				t.Errorf("%d lines understood and passed over, want %d", got, want.lines)
			}
			var unknown []string
			for i, u := range c.Unknown {
				if i < len(want.unknown) && strings.HasPrefix(u.Text, want.unknown[i]) {
					u.Text = want.unknown[i]
				}
				unknown = append(unknown, u.Text)
			}
			if !slices.Equal(unknown, want.unknown) {
				t.Errorf("unknown %q, want %q", unknown, want.unknown)
			}
			if len(c.Ports) != want.ports {
				t.Errorf("%d ports, want %d", len(c.Ports), want.ports)
			}
			if got := treatment(c); !slices.Equal(got, want.queues) {
				t.Errorf("queues:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want.queues, "\n"))
			}
			if got := routing(c); got != want.bgp {
				t.Errorf("%s, want %s", got, want.bgp)
			}
			var rules []string
			data, cnp := swconf.UsualDSCPs([]*swconf.Config{c})
			for _, f := range swconf.Lint(swconf.Input{Configs: []*swconf.Config{c}, DataDSCP: data,
				CNPDSCP: cnp, PathMTU: 4096}) {
				if f.Severity == swconf.Error {
					t.Errorf("line %d: %s: %s", f.Line, f.Rule, f.Message)
				}
				if f.Severity == swconf.Warning && !slices.Contains(rules, f.Rule) {
					rules = append(rules, f.Rule)
				}
			}
			if slices.Sort(rules); !slices.Equal(rules, want.rules) {
				t.Errorf("warnings %q, want %q", rules, want.rules)
			}
		})
	}
}

// treatment is what most ports that classify do with packets; nothing where the text says nothing of queues.
func treatment(c *swconf.Config) (lines []string) {
	q, port := c.Typical()
	head := "the switch: PFC off"
	if port != nil {
		var alike []string
		for _, p := range c.Ports {
			if p.QoS == q {
				alike = append(alike, p.Name)
			}
		}
		head = swconf.Compress(alike) + ": PFC " + port.PFC.V.String()
		if port.Watchdog.V {
			head += ", watchdog"
		}
		if port.MTU.Is() {
			head += fmt.Sprintf(", MTU %d", port.MTU.V)
		}
		if port.Speed.Is() {
			head += ", speed " + port.Speed.V.String()
		}
	}
	for i := range queue.Classes {
		var parts []string
		add := func(said bool, format string, args ...any) {
			if said {
				parts = append(parts, fmt.Sprintf(format, args...))
			}
		}
		k := &q.Queues[i]
		var others [64]uint8
		some := false
		for d := range others {
			if others[d] = 1; q.DSCP[d].Is() && int(q.DSCP[d].V) == i {
				others[d], some = 0, true
			}
		}
		add(some, "DSCP %s", swconf.DSCPSet(others, 0))
		add(q.COSOf(i) != "", "CoS %s", q.COSOf(i))
		add(k.Strict.V, "strict")
		add(k.Share.Is(), "%d %%", k.Share.V)
		w := k.WRED.V
		add(w.ECN && w.Open, "marks %d to %d", w.Min, w.Max)
		add(w.ECN && !w.Open, "marks %d to %d with %g %%", w.Min, w.Max, w.Percent)
		add(k.Pause.Is(), "lossless %d", k.Pause.V)
		add(k.PG.Is(), "xOFF %d xON %d headroom %d", k.PG.V.XOff, k.PG.V.XOn, k.PG.V.Headroom)
		add(k.MTU.Is(), "class MTU %d", k.MTU.V)
		if len(parts) > 0 {
			lines = append(lines, fmt.Sprintf("%d: %s", i, strings.Join(parts, ", ")))
		}
	}
	if len(lines) > 0 {
		lines = append([]string{head}, lines...)
	}
	return lines
}

func routing(c *swconf.Config) string {
	if c.BGP == nil {
		return ""
	}
	s := fmt.Sprintf("AS %d, %d neighbour", c.BGP.ASN.V, len(c.BGP.Neighbors))
	if len(c.BGP.Neighbors) > 1 {
		s += "s"
	}
	return s
}

// However a text is written down it says the same: without blanks in front of its lines, with tabs, in UTF-16
// or Latin-1, between configure terminal and end, each section left by exit.
func TestCorpusWrittenOtherwise(t *testing.T) {
	dir := corpus(t)
	lines := func(text string, f func(string) string) string {
		var out []string
		for _, l := range strings.Split(text, "\n") {
			out = append(out, f(l))
		}
		return strings.Join(out, "\n")
	}
	facts := func(name, text string) string {
		c, err := nxos.Parse(name, []byte(text))
		if err != nil {
			return err.Error()
		}
		return strings.Join(slices.DeleteFunc(strings.Split(tell.Facts(c), "\n"), func(s string) bool {
			return strings.HasPrefix(s, "line ") // whose places are others
		}), "\n")
	}
	for name := range corpusTexts {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		want := facts(name, text)
		wide := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune(text)) {
			wide = append(wide, byte(u), byte(u>>8))
		}
		for how, other := range map[string]string{
			"flat":             lines(text, strings.TrimSpace),
			"flat but for one": lines(text, strings.TrimSpace) + "\nvlan 9\n  name nine\n",
			"tabs":             strings.ReplaceAll(text, "  ", "\t"),
			"UTF-16":           string(wide),
			"Latin-1":          "! Gr\xfc\xdfe\n" + text,
			"a session":        "configure terminal\n" + text + "\nend\n",
			"prompts": lines(text, func(l string) string {
				if l = strings.TrimSpace(l); l == "" || l[0] == '!' || l[0] == '#' {
					return l
				}
				return "switch(config)# " + l
			}),
		} {
			got := facts(name, other)
			if got != want {
				a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
				for i := range min(len(a), len(b)) {
					if a[i] != b[i] {
						t.Errorf("%s, %s: %q, want %q", name, how, a[i], b[i])
						break
					}
				}
				if len(a) != len(b) {
					t.Errorf("%s, %s: %d facts, want %d", name, how, len(a), len(b))
				}
			}
		}
	}
}

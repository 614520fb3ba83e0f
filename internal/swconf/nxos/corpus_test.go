package nxos_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"railyard/internal/published"
	"railyard/internal/queue"
	"railyard/internal/story"
	"railyard/internal/swconf"
	"railyard/internal/swconf/nxos"
	"railyard/internal/swconf/tell"
)

// The meaning of public texts: no unknown command is ignored, and nothing in working ones is an error. The expected
// values were compared with text and Cisco's QoS and unicast routing guides by hand. One line for each queue of the
// most common ports, by its relevant settings; the first words of unknown lines, which no Nexus 9000 or 3000
// accepts; the rules of lint that warn.
func TestCorpus(t *testing.T) {
	dir := published.Path(t, "configs", "nxos")
	answered := map[string]bool{}
	story.Cases(t, "corpus", func(name string) string {
		name = strings.TrimSpace(name)
		answered[name] = true
		text, err := os.ReadFile(filepath.Join(dir, name+".cfg"))
		if err != nil {
			return err.Error()
		}
		c, err := nxos.Parse(name, text)
		if err != nil {
			return "refused: " + err.Error()
		}
		return meaning(c)
	})
	for _, name := range texts(t, dir) {
		if !answered[name] {
			t.Errorf("%s.cfg is in no answer of testdata/corpus.txt", name)
		}
	}
}

// texts are the names of the corpus's texts.
func texts(t *testing.T, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name, is := strings.CutSuffix(e.Name(), ".cfg"); is {
			names = append(names, name)
		}
	}
	return names
}

// meaning returns the relevant settings of a configuration.
func meaning(c *swconf.Config) string {
	var s []string
	add := func(format string, args ...any) { s = append(s, fmt.Sprintf(format, args...)) }
	add("%d lines: %d understood, %d passed over, %d unknown", c.Total, c.Read, c.Passed, len(c.Unknown))
	if c.Read+c.Passed+len(c.Unknown) != c.Total {
		add("lines that are nothing of the three")
	}
	for _, u := range c.Unknown {
		f := strings.Fields(u.Text)
		add("unknown: %s", strings.Join(f[:min(2, len(f))], " "))
	}
	add("%d ports, %d channels, %d subinterfaces", len(c.Ports), len(c.Bundles), len(c.Subs))
	s = append(s, treatment(c)...)
	if b := routing(c); b != "" {
		add("%s", b)
	}
	data, cnp := swconf.UsualDSCPs([]*swconf.Config{c})
	var rules []string
	for _, f := range swconf.Lint(swconf.Input{Configs: []*swconf.Config{c}, DataDSCP: data, CNPDSCP: cnp,
		PathMTU: 4096}) {
		if f.Severity == swconf.Error {
			add("error: %s, line %d", f.Rule, f.Line)
		}
		if f.Severity == swconf.Warning && !slices.Contains(rules, f.Rule) {
			rules = append(rules, f.Rule)
		}
	}
	if slices.Sort(rules); len(rules) > 0 {
		add("warnings: %s", strings.Join(rules, ", "))
	}
	return strings.Join(s, "\n")
}

// treatment returns the treatment of packets by most ports that classify; none without queues.
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

// A text has one meaning in any notation: without leading blanks, with tabs, in UTF-16 or Latin-1, between
// configure terminal and end, with each section left by exit.
func TestCorpusWrittenOtherwise(t *testing.T) {
	dir := published.Path(t, "configs", "nxos")
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
			return strings.HasPrefix(s, "line ") // with other positions
		}), "\n")
	}
	for _, name := range texts(t, dir) {
		data, err := os.ReadFile(filepath.Join(dir, name+".cfg"))
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

package dialect_test

import (
	"fmt"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"

	"pgregory.net/rapid"
)

// A grammar is the set of commands that a device accepts, by mode, from a table independent of the parsers.
type grammar struct {
	rules map[string][]*grammarRule
	port  *regexp.Regexp
	step  int // indentation of a mode's lines, in columns
}

type grammarRule struct {
	mode, text, opens string
	tokens            []string
	used              bool
}

// readGrammar reads a table: mode | command | the mode it opens | where it is described.
func readGrammar(t *testing.T, file, port string) *grammar {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	g := &grammar{map[string][]*grammarRule{}, regexp.MustCompile("^(" + port + ")$"), 2}
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(strings.ReplaceAll(line, "| |", "|  |"), " | ")
		if len(f) != 4 || f[3] == "" {
			t.Fatalf("%s:%d: %d columns, want mode | command | opens | reference", file, i+1, len(f))
		}
		spaced := strings.NewReplacer("[", "[ ", "]", " ]").Replace(f[1])
		r := &grammarRule{mode: f[0], text: f[1], opens: strings.TrimSpace(f[2]),
			tokens: strings.Fields(spaced)}
		g.rules[r.mode] = append(g.rules[r.mode], r)
	}
	return g
}

// check checks a text against the grammar: every line matches a command of its mode.
func (g *grammar) check(text string) error {
	modes := []string{"global"}
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0][0] == '!' {
			continue
		}
		depth := (len(line) - len(strings.TrimLeft(line, " "))) / g.step
		if depth >= len(modes) {
			return fmt.Errorf("line %d: %q stands in no mode", i+1, line)
		}
		modes = modes[:depth+1]
		rules := g.rules[modes[depth]]
		at := slices.IndexFunc(rules, func(r *grammarRule) bool { return g.fits(r.tokens, words) })
		if at < 0 {
			return fmt.Errorf("line %d: %q is not a command of mode %s", i+1, line, modes[depth])
		}
		rules[at].used = true
		if rules[at].opens != "" {
			modes = append(modes, rules[at].opens)
		}
	}
	return nil
}

// fits reports whether words match the tokens, one by one.
func (g *grammar) fits(tokens, words []string) bool {
	if len(tokens) == 0 {
		return len(words) == 0
	}
	if tokens[0] == "[" {
		end := slices.Index(tokens, "]")
		with := append(slices.Clone(tokens[1:end]), tokens[end+1:]...)
		return g.fits(with, words) || g.fits(tokens[end+1:], words)
	}
	if len(words) == 0 {
		return false
	}
	if tokens[0] == "<lists>" && g.word("<list>", words[0]) && g.fits(tokens, words[1:]) {
		return true
	}
	return tokens[0] == "<text>" || g.word(tokens[0], words[0]) && g.fits(tokens[1:], words[1:])
}

var macForms = regexp.MustCompile(
	`^([0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}|([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2})$`)

func (g *grammar) word(token, word string) bool {
	if among, ok := strings.CutPrefix(token, "("); ok {
		return slices.Contains(strings.Split(strings.TrimSuffix(among, ")"), "|"), word)
	}
	if bounds, ok := strings.CutPrefix(token, "<n:"); ok {
		lo, hi, _ := strings.Cut(strings.TrimSuffix(bounds, ">"), "-")
		n, err1 := strconv.ParseInt(word, 10, 64)
		from, err2 := strconv.ParseInt(lo, 10, 64)
		to, err3 := strconv.ParseInt(hi, 10, 64)
		return err1 == nil && err2 == nil && err3 == nil && n >= from && n <= to
	}
	if bounds, ok := strings.CutPrefix(token, "<d:"); ok {
		lo, hi, _ := strings.Cut(strings.TrimSuffix(bounds, ">"), "-")
		n, err1 := strconv.ParseFloat(word, 64)
		from, err2 := strconv.ParseFloat(lo, 64)
		to, err3 := strconv.ParseFloat(hi, 64)
		return err1 == nil && err2 == nil && err3 == nil && n >= from && n <= to
	}
	switch token {
	case "<name>":
		return len(word) <= 63
	case "<ip>":
		a, err := netip.ParseAddr(word)
		return err == nil && a.Is4()
	case "<prefix>":
		p, err := netip.ParsePrefix(word)
		return err == nil && p.Addr().Is4()
	case "<mac>":
		return macForms.MatchString(word)
	case "<port>":
		return g.port.MatchString(word)
	case "<asn>":
		_, ok := swconf.ASN(word)
		return ok
	case "<list>", "<lists>":
		_, err := swconf.DSCPs(word)
		return err == nil
	}
	return token == word
}

const nxosPorts = `Ethernet\d+/\d+(/\d+)?|port-channel\d+|loopback\d+|Vlan\d+|mgmt0|nve1`

// fabrics checks the output for every kind of fabric, addressing, multihoming and balancing against the table. It
// returns a function that checks another design, and the number of texts.
func (g *grammar) fabrics(t *testing.T, os swconf.OS) (try func(*design.Design, error), tried *int) {
	tried = new(int)
	try = func(d *design.Design, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		files, err := dialect.Render(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.HasSuffix(f.Path, ".cfg") {
				*tried++
				if err := g.check(f.Text); err != nil {
					t.Fatalf("%s: %v", f.Path, err)
				}
			}
		}
	}
	for _, kind := range []string{"single-rail", "dual-rail", "rail-only", "rail", "pod", "fat-tree"} {
		for _, addressing := range []string{design.Unnumbered, design.Numbered} {
			for _, multihome := range []string{design.MLAG, design.ESI} {
				for _, dlb := range []string{"", "flowlet", "per-packet"} {
					try(plan(fabric(t, kind), spec(), os, addressing, multihome, dlb))
				}
			}
		}
	}
	return try, tried
}

// All NX-OS output, for every kind of fabric and every feature, consists of commands of the table in their modes,
// token by token. Every command of the table is used.
func TestNXOSGrammar(t *testing.T) {
	g := readGrammar(t, "testdata/nxos-grammar.txt", nxosPorts)
	try, tried := g.fabrics(t, swconf.NXOS)
	try(plan(channelled(t), spec(), swconf.NXOS, design.Numbered, "", ""))
	s := spec()
	s.MTU, s.Watchdog.Forward = 4200, true
	try(plan(fabric(t, "pod"), s, swconf.NXOS, design.Numbered, design.MLAG, ""))
	rail := fabric(t, "rail")
	rapid.Check(t, func(rt *rapid.T) {
		s := randomSpec(rt, swconf.NXOS)
		if rapid.Bool().Draw(rt, "dynamic") {
			for i := range s.Queues {
				if k := &s.Queues[i]; k.Lossless {
					*k = queue.Class{Lossless: true, Weight: k.Weight, Strict: k.Strict, WRED: k.WRED,
						Alpha: 0.5}
				}
			}
		}
		d, err := plan(rail, s, swconf.NXOS, design.Numbered, "", "")
		if err != nil {
			return // queues that no language writes
		}
		if _, err := dialect.Render(d); err != nil {
			return
		}
		try(d, nil)
	})
	if *tried < 300 {
		t.Errorf("%d texts tried", *tried)
	}
	for _, rules := range g.rules {
		for _, r := range rules {
			if !r.used && !strings.Contains(r.text, "breakout") {
				t.Errorf("%s | %s: nothing is rendered by it", r.mode, r.text)
			}
		}
	}
}

// The table itself distinguishes right from wrong.
func TestGrammarRefuses(t *testing.T) {
	g := readGrammar(t, "testdata/nxos-grammar.txt", nxosPorts)
	for text, want := range map[string]bool{
		"system qos\n  service-policy type queuing input A\n": true,
		"system qos\n  service-policy queuing input A\n":      false,
		"interface Ethernet1/1\n  mtu 9216\n":                 true,
		"interface Ethernet1/1\n  mtu 9217\n":                 false,
		"interface Ethernet1/1\n    mtu 9216\n":               false,
		"interface Eth1/1\n":                                  false,
		"mtu 9216\n":                                          false,
		"router bgp 65001\n  router-id 10.0.0.256\n":          false,
		"router bgp 65001\n  router-id 10.0.0.1 x\n":          false,
		"evpn esi multihoming\n":                              false,
		"interface nve1\n  no shutdown\n":                     true,
		"interface nve1\n  yes shutdown\n":                    false,
	} {
		if err := g.check(text); (err == nil) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

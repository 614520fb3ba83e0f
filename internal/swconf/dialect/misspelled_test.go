package dialect_test

import (
	"regexp"
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
)

// word is a keyword of a command-line language. Names in rendered texts are in capitals, or follow the commands
// below.
var (
	spelled = regexp.MustCompile(`^[a-z][a-z-]{3,}$`)
	named   = regexp.MustCompile(`^(hostname|description|neighbor \S+ description|banner|alias|class)\b`)
)

// A keyword of a rendered text without its second letter is no word of its language. The line is reported as not
// understood, or its value as not accepted, and the other lines keep their meaning. A pattern that accepts any word
// in place of a keyword would let a switch run without the line's purpose.
func TestMisspelledKeywords(t *testing.T) {
	for _, os := range []swconf.OS{swconf.NXOS, swconf.EOS, swconf.FRR} {
		tried, met := 0, map[string]bool{}
		for _, kind := range []string{"rail", "dual-rail"} {
			multihome := ""
			if kind == "rail" {
				multihome = design.MLAG
			}
			d, err := plan(fabric(t, kind), spec(), os, design.Numbered, multihome, "")
			if err != nil {
				t.Fatal(err)
			}
			files, err := dialect.Render(d)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				if !strings.Contains(f.Path, "/") || strings.HasSuffix(f.Path, "daemons") {
					continue
				}
				lines := strings.Split(f.Text, "\n")
				all, err := dialect.Parse(f.Path, []byte(f.Text), os)
				if err != nil {
					t.Fatal(err)
				}
				with := func(i int, line string) *swconf.Config {
					old := lines[i]
					lines[i] = line
					defer func() { lines[i] = old }()
					c, err := dialect.Parse(f.Path, []byte(strings.Join(lines, "\n")), os)
					if err != nil {
						return nil
					}
					return c
				}
				passed := func(i int) bool { // known but irrelevant: its content is not parsed
					text := strings.TrimLeft(lines[i], " ")
					anything := with(i, lines[i][:len(lines[i])-len(text)]+"zzz")
					without := with(i, "")
					return anything != nil && len(anything.Unknown) == 0 ||
						without == nil || without.Passed < all.Passed
				}
				for i, line := range lines {
					text := strings.TrimSpace(line)
					if named.MatchString(text) || strings.HasPrefix(text, "!") || text == "" {
						continue
					}
					for _, w := range strings.Fields(text) {
						key := strings.Fields(text)[0] + " " + w
						if !spelled.MatchString(w) || met[key] {
							continue
						}
						met[key] = true
						if passed(i) {
							continue
						}
						tried++
						wrong := w[:1] + w[2:]
						if strings.HasPrefix(w, wrong) {
							continue // an abbreviation
						}
						text := strings.Replace(line, w, wrong, 1)
						if c := with(i, text); c != nil && len(c.Unknown)+len(c.Faults) == 0 {
							t.Errorf("%s, %s:%d: %q is understood", os, f.Path, i+1, text)
						}
					}
				}
			}
		}
		if tried < 15 {
			t.Errorf("%s: %d words were tried", os, tried)
		}
	}
}

package dialect_test

import (
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
)

// If one port of many has no PFC for the data class, the finding is at its own line, and not at a line shared by
// the correct ports. The remedy does not change those.
func TestOnePortWithoutPFC(t *testing.T) {
	g := fabric(t, "rail")
	for _, x := range []struct {
		os             swconf.OS
		old, new, line string
	}{
		{swconf.SONiC, `"pfc_enable": "3"`, `"pfc_enable": ""`, `"pfc_enable": ""`},
		{swconf.SONiC, `"pfc_enable": "3"`, `"pfc_enable": "4"`, `"pfc_enable": "4"`},
		{swconf.EOS, "   service-profile FABRIC\n", "   qos trust dscp\n   priority-flow-control on\n   no shutdown\n",
			"on\n"},
	} {
		d, err := plan(g, spec(), x.os, design.Numbered, "", "")
		if err != nil {
			t.Fatal(err)
		}
		_, texts := configs(t, d)
		for path, text := range texts {
			if !strings.HasPrefix(path, leaf+"/") || !strings.Contains(text, x.old) {
				continue
			}
			text = strings.Replace(text, x.old, x.new, 1)
			from := strings.Index(text, x.new)
			at := strings.Count(text[:from+strings.Index(text[from:], x.line)], "\n") + 1
			c, err := dialect.Parse(path, []byte(text), x.os)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, f := range lint(g, []*swconf.Config{c}) {
				if f.Rule != "pfc-class" {
					continue
				}
				if n++; f.Line != at || strings.Contains(f.Fix, "remove") {
					t.Errorf("%s, %s: line %d (%s; %s), want %d", x.os, x.new, f.Line, f.Message, f.Fix, at)
				}
			}
			if n == 0 {
				t.Errorf("%s, %s: not found", x.os, x.new)
			}
		}
	}
}

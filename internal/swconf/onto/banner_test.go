package onto

import (
	"strings"
	"testing"

	"railyard/internal/swconf"
)

// TestBannersStay: banners and scripts of several lines do not change, whatever their content.
func TestBannersStay(t *testing.T) {
	const body = "hello\n  interface Ethernet1/1\n\n   shutdown  \n! no comment\n"
	for _, c := range []struct {
		os    swconf.OS
		lines string
	}{
		{swconf.NXOS, "banner motd #\n" + body + "#\n"},
		{swconf.NXOS, "banner motd #Welcome\n" + body + "and bye#\n"},
		{swconf.NXOS, "banner exec ^C\n" + body + "^C\n"},
		{swconf.EOS, "banner login\n" + body + "EOF\n"},
		{swconf.EOS, "banner motd\nEOF\n"},
		{swconf.EOS, "event-handler up\n   trigger on-boot\n   action bash\n" + body + "EOF\n   delay 10\n"},
		{swconf.EOS, "router general\n   control-functions\n      code unit x\n" + body + "EOF\n"},
		{swconf.FRR, "banner motd line hello\n"},
		{swconf.NVUE, "nv set system message pre-login \"hello\n" + body + "bye\"\n"},
		{swconf.NVUE, "nv set system message post-login '*\n\ninterface swp1 is down #\n* x' # not more\n"},
	} {
		for name, text := range rendered(t, "rail", c.os, same, "unnumbered") {
			host := map[bool]string{true: "nv set system hostname ", false: "hostname "}[c.os == swconf.NVUE]
			for where, running := range map[string]string{"first": c.lines + text,
				"alone": c.lines + host + name + "\n"} {
				m, err := Onto("running", []byte(running), text, c.os, Options{})
				if err != nil {
					t.Errorf("%s, %s, %q: %v", c.os, where, c.lines, err)
					continue
				}
				if !strings.Contains(m.Text, c.lines) {
					t.Errorf("%s, %s: %q is not in what comes out", c.os, where, c.lines)
				}
				if where == "first" && len(m.Steps) > 0 {
					t.Errorf("%s: steps for %q: %s", c.os, c.lines, m.Script)
				}
				if n := len(m.origin); n != strings.Count(m.Text, "\n") {
					t.Errorf("%s: places of %d lines for %d", c.os, n, strings.Count(m.Text, "\n"))
				}
			}
		}
	}
}

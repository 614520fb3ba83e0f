package dialect_test

import (
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/dialect"
)

// A "no" alone, twice, or after default is no command of any switch. It was mistaken for an abbreviation of
// no-shutdown.
func TestNoStandsOnceBeforeACommand(t *testing.T) {
	for os, port := range map[swconf.OS]string{
		swconf.NXOS: "Ethernet1/1",
		swconf.EOS:  "Ethernet1",
		swconf.FRR:  "swp1",
	} {
		for _, line := range []string{"no", "no no mtu", "default no mtu", "no no shutdown"} {
			text := "hostname x\ninterface " + port + "\n  description y\n  " + line + "\n"
			c, err := dialect.Parse("x.cfg", []byte(text), os)
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Unknown) != 1 || !strings.Contains(c.Unknown[0].Why,
				`"no" is not accepted before this command`) {
				t.Errorf("%s: %q: %+v", os, line, c.Unknown)
			}
		}
	}
}

// Editors of some systems begin a file with a byte order mark.
func TestByteOrderMarks(t *testing.T) {
	for os, text := range map[swconf.OS]string{
		swconf.NXOS:  "hostname x\ninterface Ethernet1/1\n",
		swconf.SONiC: `{"PORT": {"Ethernet0": {"lanes": "0"}}, "DEVICE_METADATA": {"localhost": {}}}`,
	} {
		if c, err := dialect.Parse("x", []byte("\ufeff"+text), ""); err != nil || c.OS != os ||
			len(c.Ports) != 1 || len(c.Unknown) > 0 {
			t.Errorf("%s: %v, %+v", os, err, c)
		}
	}
}

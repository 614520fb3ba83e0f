package dialect_test

import (
	"os"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
)

// A configuration from elsewhere has an equal meaning when it is written again, in its own language and in the
// others.
func TestRewrittenConfigurationsKeepTheirMeaning(t *testing.T) {
	for _, file := range []string{"seed-dcqcn.cfg", "running-config.cfg"} {
		text, err := os.ReadFile("../nxos/testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		c, err := dialect.Parse(file, text, "")
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := c.Spec(spec())
		if err != nil {
			t.Fatal(err)
		}
		for _, lang := range []swconf.OS{swconf.NXOS, swconf.SONiC, swconf.EOS, swconf.NVUE} {
			want := want
			if lang == swconf.NVUE { // which restores after a polling interval
				want.Watchdog.Restore = want.Watchdog.Poll
			}
			d, err := plan(fabric(t, "rail"), want, lang, design.Unnumbered, "", "")
			if err != nil {
				t.Fatal(err)
			}
			cs, _ := configs(t, d)
			got, _, err := cs[0].Spec(spec())
			if err != nil {
				t.Fatal(err)
			}
			if want.Queues[3].Headroom == 0 { // worked out for the fabric
				got.Queues[3].Headroom = 0
			}
			if lang == swconf.EOS {
				fitted(t, file, &got, &want)
			}
			if got != want {
				t.Errorf("%s in %s: %s", file, lang, differs(got, want))
			}
		}
	}
}

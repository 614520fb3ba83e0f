package findings

import (
	"slices"
	"testing"

	"railyard/internal/swconf"
)

// A baseline written on Windows applies on Linux, and the reverse.
func TestBaselinePathsOfAllSystems(t *testing.T) {
	print := func(file string) string {
		return fingerprint(&swconf.Finding{Rule: "mtu-small", File: file, Message: "m"})
	}
	if print(`configs\spine-1\nxos.cfg`) != print("./configs/spine-1/nxos.cfg") {
		t.Error("the separator changes the print")
	}
	if print("configs/spine-1/nxos.cfg") == print("configs/spine-2/nxos.cfg") {
		t.Error("the file does not")
	}
}

// One path may be the end of the other, with whole names. Two files of one name in two folders are different.
func TestBaselineOfAnotherFolder(t *testing.T) {
	f := func(file, message string) swconf.Finding {
		return swconf.Finding{Rule: "mtu-small", File: file, Message: message}
	}
	b := &Baseline{}
	for _, w := range []swconf.Finding{f("configs/leaf-1/nxos.cfg", "m"), f("configs/leaf-2/nxos.cfg", "m"),
		f("configs/leaf-1/nxos.cfg", "gone")} {
		b.were = append(b.were, w)
		b.is, b.words = append(b.is, fingerprint(&w)), append(b.words, wordprint(&w))
	}
	c := b.Split([]swconf.Finding{f("../site/configs/leaf-2/nxos.cfg", "m"), f("leaf-1/nxos.cfg", "m"),
		f("leaf-3/nxos.cfg", "m"), f("f-1/nxos.cfg", "m"), f("leaf-1/nxos.cfg", "m")})
	if len(c.known) != 2 || c.byEnd != 2 || len(c.Fresh) != 3 || !slices.Equal(c.gone, []int{2}) {
		t.Errorf("%+v", c)
	}
	exact := b.Split([]swconf.Finding{f("leaf-1/nxos.cfg", "m"), f("configs/leaf-1/nxos.cfg", "m")})
	if len(exact.known) != 1 || exact.known[0].File != "configs/leaf-1/nxos.cfg" || exact.byEnd != 0 {
		t.Errorf("the whole path comes first: %+v", exact)
	}
}

package dialect_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/published"
	"railyard/internal/story"
	"railyard/internal/swconf"
	"railyard/internal/swconf/dialect"
)

// Configurations by other authors, if available (RAILYARD_SHARED): every line is parsed, ignored or reported, in
// the language of the file. The counts of each kind are stored, so that a rule that becomes too narrow or too wide
// shows as a change.
func TestOthersConfigurations(t *testing.T) {
	files := published.Files(t, "configs", "*", "*")
	var page strings.Builder
	fmt.Fprintln(&page, "# Lines of public configurations: in all, read, passed over, not understood;")
	fmt.Fprintln(&page, "# values that cannot be.")
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(f)) + "/" + filepath.Base(f)
		c, err := dialect.Parse(name, text, swconf.OS(filepath.Base(filepath.Dir(f))))
		if err != nil {
			fmt.Fprintf(&page, "%-72s refused: %v\n", name, err)
			continue
		}
		if c.OS != swconf.SONiC && c.Read+c.Passed+len(c.Unknown) != c.Total {
			t.Errorf("%s: %d read, %d passed over and %d unknown of %d lines", name, c.Read, c.Passed,
				len(c.Unknown), c.Total)
		}
		bad := 0
		for _, x := range c.Faults {
			if x.Rule == "bad-value" {
				bad++
			}
		}
		fmt.Fprintf(&page, "%-72s %5d %5d %5d %4d %3d\n", name, c.Total, c.Read, c.Passed,
			len(c.Unknown), bad)
	}
	story.Check(t, "others", page.String())
}

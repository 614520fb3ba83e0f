package railyard

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkLength fails for Go files above 500 lines.
func checkLength(t *testing.T, file string) {
	b, err := os.ReadFile(file)
	if err != nil {
		return // deleted in the work tree
	}
	if n := bytes.Count(b, []byte("\n")); n > 500 && n > long[file] {
		t.Errorf("%s has %d lines; is it still one thing?", file, n)
	}
}

// long has the permitted lengths of files above 500 lines until they are split.
var long = map[string]int{"internal/sim/sim_test.go": 581}

// columns is the width of an editor next to another one; a tab counts four.
const columns = 120

// wide is the permitted number of longer lines per package. Unlisted packages have none. The numbers below are the
// remaining work, and only decrease.
var wide = map[string]int{ // lines of scenarios inside literals
	"internal/host":       1,
	"internal/report/web": 3,
	"internal/runner":     1,
	"internal/sim":        7,
}

// tagged is a struct tag with a key: one literal, which Go cannot break.
var tagged = regexp.MustCompile("`[a-z]+:\"")

// literal is a string, which is exempt: its length is the reader's of the output, and cut strings cannot be searched.
var literal = regexp.MustCompile(`"(\\.|[^"\\])*"|` + "`[^`]*`")

// TestColumns keeps lines within a reader's view.
func TestColumns(t *testing.T) {
	files, err := exec.Command("git", "ls-files", "*.go").Output()
	if err != nil {
		t.Skip("not a git checkout: ", err)
	}
	count, first := map[string]int{}, map[string]string{}
	for _, file := range strings.Fields(string(files)) {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // deleted in the work tree
		}
		pkg := filepath.ToSlash(filepath.Dir(file))
		for i, line := range strings.Split(string(b), "\n") {
			line = literal.ReplaceAllString(line, `""`)
			n := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
			if n > columns && !tagged.MatchString(line) {
				if count[pkg]++; count[pkg] == wide[pkg]+1 {
					first[pkg] = fmt.Sprintf("%s:%d", file, i+1)
				}
			}
		}
	}
	for pkg, n := range count {
		if n > wide[pkg] {
			t.Errorf("%s has %d lines above %d columns, %d are allowed; one is %s", pkg, n,
				columns, wide[pkg],
				first[pkg])
		}
	}
	for pkg, n := range wide {
		if count[pkg] < n {
			t.Logf("%s has %d lines above %d columns: the table can say so", pkg, count[pkg], columns)
		}
	}
}

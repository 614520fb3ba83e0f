package cli_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"railyard/internal/swconf/cli"
)

// Texts are parsed in parallel, as config lint reads the files of a fabric. All parsers share the list of ignored
// commands. (They stored its first words in one map, and parallel parsing could end with "concurrent map writes".)
func TestReadSideBySide(t *testing.T) {
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, "logging server\n  word%d of it\n", i)
	}
	lines, err := cli.Scan("x.cfg", []byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		var said []string
		root := router(&said)
		all.Go(func() {
			if unknown, tooMany := cli.Read(lines, root); len(unknown) > 0 || tooMany != nil {
				t.Errorf("%d lines are unknown", len(unknown))
			}
		})
	}
	all.Wait()
}

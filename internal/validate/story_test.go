package validate

import (
	"strings"
	"testing"

	"railyard/internal/story"
)

// The source documents' two sequences as transcripts of runs: the first event of each kind, and its time. Review a
// change of these files as a change of behaviour.
func TestStories(t *testing.T) {
	for _, name := range []string{"pfc-cascade", "dcqcn-sequence"} {
		t.Run(name, func(t *testing.T) {
			lines, r, err := Story(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Net.Audit(); err != nil {
				t.Error(err)
			}
			story.Check(t, name, strings.Join(lines, "\n")+"\n")
		})
	}
}

package validate

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the transcripts anew")

// The seeds' two sequences as transcripts: what happens first, and when. Review
// a change of these files as a change of behaviour.
func TestStories(t *testing.T) {
	for name, text := range map[string]string{"pfc-cascade": CascadeScenario, "dcqcn-sequence": DCQCNScenario} {
		t.Run(name, func(t *testing.T) {
			lines, r, err := Story(text)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Net.Audit(); err != nil {
				t.Error(err)
			}
			got := strings.Join(lines, "\n") + "\n"
			path := filepath.Join("testdata", name+".txt")
			if *rewrite {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the story changed; -rewrite accepts it:\n%s", got)
			}
		})
	}
}

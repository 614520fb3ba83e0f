package validate

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each of 1,024 hosts sends to another and hears from one; where htsim's own file is at hand it says the
// same, in the same order.
func TestSameMatrix(t *testing.T) {
	text, err := connections("perm1024.cm")
	if err != nil {
		t.Fatal(err)
	}
	pair := regexp.MustCompile(`(?m)^(\d+)->(\d+) .*size 2000000$`)
	ours := pair.FindAllStringSubmatch(string(text), -1)
	from, to := map[string]bool{}, map[string]bool{}
	for _, p := range ours {
		if from[p[1]], to[p[2]] = true, true; p[1] == p[2] {
			t.Errorf("%s sends to itself", p[1])
		}
	}
	if len(ours) != 1024 || len(from) != 1024 || len(to) != 1024 {
		t.Errorf("%d pairs of %d senders and %d receivers", len(ours), len(from), len(to))
	}
	if _, err := connections("another.cm"); err == nil {
		t.Error("a matrix that nobody has is read")
	}
	file := filepath.Join(os.Getenv("RAILYARD_SHARED"), "data", "htsim", "perm_1024n_1024c_0u_2000000b.cm")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Skip("htsim's matrix of 1,024 hosts is not at hand")
	}
	theirs := pair.FindAllStringSubmatch(string(b), -1)
	for i, p := range theirs {
		if i >= len(ours) || strings.Join(p[1:], "->") != strings.Join(ours[i][1:], "->") {
			t.Fatalf("pair %d is %v there", i+1, p[1:])
		}
	}
}

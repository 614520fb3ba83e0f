package field

import (
	"fmt"
	"strings"
	"testing"
)

// An error with many accepted words has all of them, or the nearest and the command that lists all.
func TestManyAccepted(t *testing.T) {
	var words []string
	for i := range 30 {
		words = append(words, fmt.Sprint("word-", i))
	}
	if text := Choice("x", "none", words, "unknown").Error(); !strings.HasSuffix(text, ", word-28, word-29") {
		t.Error(text)
	}
	text := Choice("x", "word-2x", words, "unknown").ListedBy("railyard models").Error()
	if want := "accepted: word-2, word-20"; !strings.Contains(text, want) ||
		!strings.HasSuffix(text, " and 22 more (railyard models lists all)") {
		t.Error(text)
	}
	if text := Choice("x", "y", words[:8], "unknown").ListedBy("railyard models").Error(); strings.Contains(text, "lists") {
		t.Error(text)
	}
}

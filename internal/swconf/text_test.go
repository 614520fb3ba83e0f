package swconf

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The search finds a phrase exactly where strings.Contains finds it, also if the search begins inside the text.
// Some texts have few letters, so that they contain the phrases often; others have many.
func TestScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]string{"ab", "ab \n", "abcdefghijklmnopqrstuvwxyz0123456789 -/\n"}).
			Draw(t, "letters")
		words := rapid.StringOfN(rapid.RuneFrom([]rune(letters)), 0, 300, -1)
		s, phrases := words.Draw(t, "text"), rapid.SliceOfN(words, 0, 10).Draw(t, "phrases")
		if len(s) > 9 {
			phrases = append(phrases, s[3:9], s[len(s)-5:], s[:2])
		}
		from := rapid.IntRange(0, len(s)).Draw(t, "from")
		want := 0
		for _, p := range phrases {
			if strings.Contains(s[from:], p) {
				want++
			}
		}
		if got := Searched(s).From(from).Score(phrases...); got != want {
			t.Fatalf("%d phrases of %q in %q from %d, want %d", got, phrases, s, from, want)
		}
	})
}

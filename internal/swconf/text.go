package swconf

import "strings"

// Text is one that is searched for many phrases, most of which are not in it: it remembers which three
// letters stand beside one another, and only a phrase of such is looked for.
type Text struct {
	s     string
	grams *[1 << 16 / 64]uint64
}

// Searched makes a text ready.
func Searched(s string) Text {
	t := Text{s, new([1 << 16 / 64]uint64)}
	for i := 2; i < len(s); i++ {
		g := gram(s[i-2], s[i-1], s[i])
		t.grams[g/64] |= 1 << (g % 64)
	}
	return t
}

// gram returns the index of three letters; others may be remembered there, too.
func gram(a, b, c byte) uint16 { return uint16(a)<<11 ^ uint16(a)>>5 ^ uint16(b)<<5 ^ uint16(c) }

// From is the text from a byte on.
func (t Text) From(i int) Text { return Text{t.s[i:], t.grams} }

// Score counts how many of a language's tell-tale phrases a text has.
func (t Text) Score(phrases ...string) (n int) {
	for _, p := range phrases {
		if t.may(p) && strings.Contains(t.s, p) {
			n++
		}
	}
	return n
}

// may reports whether all that a phrase is made of is in the text.
func (t Text) may(phrase string) bool {
	for i := 2; i < len(phrase); i++ {
		if g := gram(phrase[i-2], phrase[i-1], phrase[i]); t.grams[g/64]&(1<<(g%64)) == 0 {
			return false
		}
	}
	return true
}

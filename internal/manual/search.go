package manual

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A term is a word that is searched for, or an abbreviation with its long forms. All are in lower case.
type term struct {
	word  string
	longs []string // without hyphens; none: the word is no abbreviation of the glossary
}

// Find lists the pages that contain all words: first those with whole words in their title, then in their text,
// then those with parts of words in title or text. An abbreviation of the glossary also finds its long form, and
// the long form the abbreviation.
func (s *Site) Find(words []string) (found []*Page) {
	terms, single := s.terms(words), make([]term, len(words))
	for i, w := range words {
		single[i] = term{word: strings.ToLower(w)}
	}
	classes := []func(p *Page) bool{
		func(p *Page) bool { return hasAll(p.Title, terms, true) },
		func(p *Page) bool { return hasAll(p.Text, terms, true) },
		func(p *Page) bool { return hasAll(p.Title, terms, false) },
		func(p *Page) bool { return hasAll(p.Text, terms, false) },
	}
	if len(terms) < len(words) { // the words of a long form, apart
		classes = append(classes, func(p *Page) bool { return hasAll(p.Text, single, true) })
	}
	taken := map[*Page]bool{}
	for _, class := range classes {
		for _, p := range s.order {
			if !taken[p] && class(p) {
				taken[p], found = true, append(found, p)
			}
		}
	}
	return found
}

// terms returns words, abbreviations with what the glossary has for them, and long forms of one or more words as their
// abbreviations.
func (s *Site) terms(words []string) (terms []term) {
	list := s.abbreviations()
	for i := 0; i < len(words); {
		t, n := term{word: strings.ToLower(words[i])}, 1
		for k := 1; i+k <= len(words); k++ {
			said := spaced(strings.Join(words[i:i+k], " "))
			for _, a := range list {
				one := strings.TrimSuffix(said, "s")
				if a.word == said || a.word == one || slices.Contains(a.longs, one) {
					t, n = a, k
				}
			}
		}
		terms, i = append(terms, t), i+n
	}
	return terms
}

// A row of the glossary gives an abbreviation with its long forms, "| FCT | flow completion time, slowdown: … |", or
// a long form with its abbreviation, "| queue pair (QP) | … |".
var (
	abbreviated = regexp.MustCompile(`(?m)^\| (\w*[A-Z]\w*[A-Z]\w*) \| ([^|:]+):`)
	spelled     = regexp.MustCompile(`(?m)^\| ([^|(]+) \((\w*[A-Z]\w*)\) \|`)
)

// abbreviations returns the abbreviations of the glossary with their long forms.
func (s *Site) abbreviations() (list []term) {
	p := s.Page("glossary")
	if p == nil {
		return nil
	}
	for _, m := range abbreviated.FindAllStringSubmatch(p.Text, -1) {
		list = append(list, term{spaced(m[1]), strings.Split(spaced(m[2]), ", ")})
	}
	for _, m := range spelled.FindAllStringSubmatch(p.Text, -1) {
		list = append(list, term{spaced(m[2]), []string{spaced(m[1])}})
	}
	return list
}

// spaced returns the words of a text in lower case, without hyphens and underscores.
func spaced(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r == '-' || r == '_' || unicode.IsSpace(r)
	}), " ")
}

// Near lists the pages that contain most of some words, of hyphenated ones the parts, and how many they contain of how
// many.
func (s *Site) Near(words []string) (found []*Page, most, of int) {
	parts := strings.FieldsFunc(strings.Join(words, " "), func(r rune) bool { return r == ' ' || r == '-' })
	for _, p := range s.order {
		n := 0
		for _, w := range parts {
			if has(strings.ToLower(p.Title+" "+p.Text), strings.ToLower(w), false) {
				n++
			}
		}
		if n > most {
			found, most = nil, n
		}
		if n == most && n > 0 {
			found = append(found, p)
		}
	}
	return found, most, len(parts)
}

// hasAll reports whether a text contains all terms, in any case, as whole words or anywhere. An abbreviation is always
// a whole word, or one of a key (pfc_quanta).
func hasAll(text string, terms []term, whole bool) bool {
	words := spaced(text)
	text = strings.ToLower(text)
	return !slices.ContainsFunc(terms, func(t term) bool {
		if t.longs == nil {
			return !has(text, t.word, whole)
		}
		return !has(words, t.word, true) && !has(words, t.word+"s", true) &&
			!slices.ContainsFunc(t.longs, func(long string) bool { return has(words, long, false) })
	})
}

// has reports whether a text contains a word, as a whole word or anywhere.
func has(text, word string, whole bool) bool {
	if !whole || word == "" {
		return strings.Contains(text, word)
	}
	letter := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at+i])
		after, _ := utf8.DecodeRuneInString(text[at+i+len(word):])
		if !letter(before) && !letter(after) {
			return true
		}
		at += i + len(word)
	}
}

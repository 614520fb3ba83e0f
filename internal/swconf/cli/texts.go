package cli

import "slices"

// Texts returns the number of literal blocks that follow a line, each up to EOF alone on a line: comments, scripts,
// certificates with their keys, functions of route control, all in EOS.
func (l *Line) Texts() int {
	said := func(words ...string) bool {
		return len(l.Words) == len(words) && !slices.ContainsFunc(words, func(w string) bool {
			return l.Words[slices.Index(words, w)].Text != w
		})
	}
	switch {
	case said("comment"), said("action", "bash"), said("code"),
		len(l.Words) == 3 && l.Words[0].Text == "code" && l.Words[1].Text == "unit":
		return 1
	case said("protocol", "https", "certificate"): // and its key
		return 2
	}
	return 0
}

package tally

import (
	"fmt"
	"slices"
)

// Report lists the outcome of a file's parts, in the order of their first occurrence.
type Report struct {
	Mapped  []Count `json:"mapped"`
	Guessed []Count `json:"guessed"`
	Left    []Count `json:"left_out"`
}

// Count is the number of occurrences, and the place of the first.
type Count struct {
	What string `json:"what"`
	N    int    `json:"count"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"` // 0: the format has no lines
}

// kinds is the number of kinds that a list distinguishes; all further kinds count as one.
const kinds = 200

// beyond is the name of the rest.
const beyond = "more of other kinds"

// Note counts one more occurrence.
func Note(list *[]Count, what, file string, line int) { Add(list, 1, what, file, line) }

// Add counts n more occurrences.
func Add(list *[]Count, n int, what, file string, line int) {
	if n == 0 {
		return
	}
	i := slices.IndexFunc(*list, func(c Count) bool { return c.What == what })
	if i < 0 && len(*list) >= kinds {
		what = beyond
		i = slices.IndexFunc(*list, func(c Count) bool { return c.What == what })
	}
	if i < 0 {
		*list = append(*list, Count{What: what, File: file, Line: line})
		i = len(*list) - 1
	}
	(*list)[i].N += n
}

// Join adds another report's counts to this one.
func (r *Report) Join(other Report) {
	for _, x := range []struct {
		to   *[]Count
		from []Count
	}{{&r.Mapped, other.Mapped}, {&r.Guessed, other.Guessed}, {&r.Left, other.Left}} {
		for _, c := range x.from {
			Add(x.to, c.N, c.What, c.File, c.Line)
		}
	}
}

// Words returns a count as a line.
func (c Count) Words() string {
	at := ""
	switch {
	case c.Line > 0:
		at = fmt.Sprintf(" (first %s:%d)", c.File, c.Line)
	case c.File != "":
		at = fmt.Sprintf(" (first in %s)", c.File)
	}
	return fmt.Sprintf("%s: %d%s", c.What, c.N, at)
}

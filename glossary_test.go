package railyard

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A replaced lists expressions that texts no longer use, and what they write for them.
type replaced struct {
	phrases string // separated by "; "
	write   string
	left    int // texts that still have one of them; goes down only
}

// glossary lists what has a better word, by kind. A word with a second, good meaning is listed with the words around it
// that show the bad one.
var glossary = []replaced{
	// A program, device or file does not speak.
	{"tell; tells; told; telling", "report, receive, name", 24},
	{"say; says; said; saying", "set, contain, name", 186},
	{"hear; hears; heard", "receive", 6},
	{"know; knows; known here; known to", "support, contain", 66},
	{"ask; asks; asked; answers with", "request, respond", 24},
	{"nobody; somebody; everybody; whoever", "name the role", 39},
	{"stand; stands; stood", "is, appears, is repeated", 68},
	{"waits for it; waited for; waits for", "blocked on, needs", 30},

	// Errors and notes.
	{"is no; are no; is none of; none of the formats", "is not a; unsupported", 225},
	{"there is no; there are no; has no row", "contains no, unknown", 12},
	{"must lie; lies between; lie between", "N is out of range 1–128", 11},
	{"unless given; is given; are given; not given; means nothing; mean nothing", "default, set, has no effect", 86},
	{"hint; info", "note", 4},
	{"passed over; left alone; taken for", "ignored, read as", 17},
	{"comes out as; give or take", "estimate, ±", 0},

	// Time and order.
	{"sooner; a moment; moments; at once", "earlier, time, immediately", 24},
	{"behind it; behind a; behind an; behind the; beside", "after, with, next to", 70},
	{"so many; so long; so often; every so; so manieth", "N, every Nth", 33},
	{"for ever; way back; until noticed", "without end, recovery, detection", 8},

	// The network.
	{"by the text; the text; text of; texts of; a text; texts", "configuration", 33},
	{"ways; a way; its way; no way; by way of; the way", "path", 48},
	{"place of congestion; pauses begin; who pauses", "congestion point, root", 0},
	{"rate not given back; given back; beyond line rate", "CC recovering, above line rate", 5},
	{"sent again; held back; fell silent", "retransmitted, pacing delay, left no gap", 1},
	{"have room; has room; hottest; coolest", "spare capacity, utilization", 4},
	{"take down; takes down; taken down; took down", "record, fail", 0},
	{"cut off; cuts off", "isolated, truncated", 29},
	{"stand by; stands by; running short; runs short", "spare, degraded", 0},
	{"join; joins; joined; joining; hang on; hangs on", "connect, attach", 57},
	{"plant; planted; mend; mended; mends", "injected fault; fix", 4},
	{"half alone; both halves; switches half; servers half; halves together", "host side, switch side", 9},
	{"onto", "merge, incremental", 1},
	{"machine; machines", "host", 7},

	// Private words.
	{"thing; things; crew; seat; seats; lobby; trouble; deaf; story; tally", "name the component", 4},
	{"by itself; in all; by hand; from memory; knob; knobs", "alone, total, hand-written, unsourced, parameter", 19},
	{"ours; handbook; the seed's", "simulated; the source", 10},
	{"what is left; what is lost; what it has; of what; became of", "effective time, lost work, outcome of", 28},
	{"leftover; alike; as it is", "best effort, equivalent, without failure", 24},
}

// quoted are texts that hold words of others: names of flags, titles, syntax of devices.
var quoted = regexp.MustCompile(`--onto`)

// A phrase is an expression of an entry of the glossary.
type phrase struct {
	words []string
	entry int
}

// check fails for expressions of the glossary in more texts than are left.
func (w words) check(t *testing.T) {
	begin := map[string][]phrase{} // by first word
	for i, g := range glossary {
		for text := range strings.SplitSeq(g.phrases, "; ") {
			p := phrase{strings.Fields(text), i}
			begin[p.words[0]] = append(begin[p.words[0]], p)
		}
	}
	found := make([][]string, len(glossary))
	for pkg, texts := range w {
		for text := range texts {
			fields := strings.FieldsFunc(strings.ToLower(quoted.ReplaceAllString(text, "")), noLetter)
			for i, first := range fields {
				for _, p := range begin[first] {
					if line := pkg + ": " + text; len(fields)-i >= len(p.words) &&
						slices.Equal(p.words, fields[i:i+len(p.words)]) && !slices.Contains(found[p.entry], line) {
						found[p.entry] = append(found[p.entry], line)
					}
				}
			}
		}
	}
	for i, g := range glossary {
		slices.Sort(found[i])
		if n := len(found[i]); n > g.left {
			t.Errorf("%d texts have one of %q, %d are allowed; write %s:\n\t%s", n, g.phrases, g.left, g.write,
				strings.Join(found[i][:min(n, 12)], "\n\t"))
		} else if n < g.left {
			t.Logf("%d texts have one of %q: the table can have %d", n, g.phrases, n)
		}
	}
}

// noLetter reports whether a character parts words. Hyphens and underscores are parts of names.
func noLetter(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
}

package railyard

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A replaced lists expressions that texts do not use, and their replacements.
type replaced struct{ phrases, write string } // phrases are separated by "; "

// glossary lists expressions with a better word, by kind. A word with a second, good meaning is listed with the
// surrounding words of the bad one.
var glossary = []replaced{
	// A program, device or file does not speak.
	{"tell; tells; told; telling", "report, receive, name"},
	{"say; says; said; saying", "set, contain, name"},
	{"hear; hears; heard", "receive"},
	{"know; knows; known here; known to", "support, contain"},
	{"ask; asks; asked; answers with", "request, respond"},
	{"nobody; somebody; everybody; whoever", "name the role"},
	{"stand; stands; stood", "is, appears, is repeated"},
	{"waits for it; waited for; waits for", "blocked on, needs"},

	// Errors and notes.
	{"is no; are no; is none of; none of the formats", "is not a; unsupported"},
	{"there is no; there are no; has no row", "contains no, unknown"},
	{"must lie; lies between; lie between", "N is out of range 1–128"},
	{"unless given; is given; are given; not given; means nothing; mean nothing", "default, set, has no effect"},
	{"hint; info", "note"},
	{"passed over; left alone; taken for", "ignored, read as"},
	{"comes out as; give or take", "estimate, ±"},

	// Time and order.
	{"sooner; a moment; moments; at once", "earlier, time, immediately"},
	{"behind it; behind a; behind an; behind the; beside", "after, with, next to"},
	{"so many; so long; so often; every so; so manieth", "N, every Nth"},
	{"for ever; way back; until noticed", "without end, recovery, detection"},

	// The network.
	{"by the text; the text; text of; texts of; a text; texts", "configuration"},
	{"ways; a way; its way; no way; by way of; the way", "path"},
	{"place of congestion; pauses begin; who pauses", "congestion point, root"},
	{"rate not given back; given back; beyond line rate", "CC recovering, above line rate"},
	{"sent again; held back; fell silent", "retransmitted, pacing delay, left no gap"},
	{"have room; has room; hottest; coolest", "spare capacity, utilization"},
	{"take down; takes down; taken down; took down", "record, fail"},
	{"cut off; cuts off", "isolated, truncated"},
	{"stand by; stands by; running short; runs short", "spare, degraded"},
	{"join; joins; joined; joining; hang on; hangs on", "connect, attach"},
	{"plant; planted; mend; mended; mends", "injected fault; fix"},
	{"half alone; both halves; switches half; servers half; halves together", "host side, switch side"},
	{"onto", "merge, incremental"},
	{"machine; machines", "host"},

	// Private words.
	{"thing; things; crew; seat; seats; lobby; trouble; deaf; story; tally", "name the component"},
	{"by itself; in all; by hand; from memory; knob; knobs", "alone, total, hand-written, unsourced, parameter"},
	{"ours; handbook; the seed's", "simulated; the source"},
	{"what is left; what is lost; what it has; of what; became of", "effective time, lost work, outcome of"},
	{"leftover; alike; as it is", "best effort, equivalent, without failure"},
}

// quoted are quotations: names of flags and scenarios, values, syntax of devices.
var quoted = regexp.MustCompile(`--onto|NCCL_DEBUG=INFO|info from state|name: ways|INFO:? INIT|^by itself$`)

// A phrase is an expression of an entry of the glossary.
type phrase struct {
	words []string
	entry int
}

// check fails for texts with expressions of the glossary, and for texts in parts.
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
			if strings.Contains(text, cut) {
				t.Errorf("%s: write one literal: %s", pkg, text)
			}
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
		if n := len(found[i]); n > 0 {
			t.Errorf("%d texts have one of %q; write %s:\n\t%s", n, g.phrases, g.write,
				strings.Join(found[i][:min(n, 12)], "\n\t"))
		}
	}
}

// noLetter reports whether a character parts words. Hyphens and underscores are parts of names.
func noLetter(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
}

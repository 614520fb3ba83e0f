package trace

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/unit"
)

// isGoal recognizes a schedule by its first word.
func isGoal(_ string, head []byte) bool {
	for _, line := range strings.Split(string(head), "\n") {
		words := strings.Fields(uncommented(line))
		if len(words) > 0 {
			return words[0] == "num_ranks"
		}
	}
	return false
}

// uncommented returns a line without comments after // or #.
func uncommented(line string) string {
	for _, mark := range []string{"//", "#"} {
		line, _, _ = strings.Cut(line, mark)
	}
	return line
}

// goalReader reads a schedule line by line:
//
//	num_ranks 2
//	rank 0 {
//	l1: calc 500 cpu 0
//	l2: send 4096b to 1 tag 7
//	l2 requires l1
//	}
//
// (LogGOPSim's Schedgen and ATLAHS; docs/references.md, formats).
type goalReader struct {
	schedule
	line    int
	rank    int // -1: between ranks
	labels  map[string]int32
	pending []pendingEdge // labels may be used before their definition
	seen    []bool        // ranks that have had their block
	report  *Report
}

type pendingEdge struct {
	from, to string
	begun    bool
	line     int
}

// longest is the largest length of a line.
const longest = 1 << 20

func readGoal(_ *Options, files []File) (*Trace, error) {
	if len(files) != 1 {
		return nil, at(files[1].Name, 0, "a GOAL schedule is one file with all ranks; found %d", len(files))
	}
	var report Report
	g := &goalReader{schedule: schedule{file: files[0].Name}, rank: -1, report: &report}
	lines := bufio.NewScanner(bytes.NewReader(files[0].Text))
	lines.Buffer(nil, longest)
	for lines.Scan() {
		g.line++
		if err := g.read(strings.Fields(uncommented(lines.Text()))); err != nil {
			return nil, err
		}
	}
	if err := lines.Err(); err != nil {
		return nil, at(g.file, g.line+1, "the line is longer than the %d bytes that are read", longest)
	}
	switch {
	case g.seen == nil:
		return nil, at(g.file, max(1, g.line), "num_ranks is missing")
	case g.rank >= 0:
		return nil, at(g.file, g.line, "ends within rank %d: a closing } is missing", g.rank)
	case len(g.steps) == 0:
		return nil, at(g.file, g.line, "no rank does anything")
	}
	t, err := g.trace()
	if err != nil {
		return nil, err
	}
	t.Report.Guessed = append(t.Report.Guessed, report.Guessed...)
	t.Report.Left = append(t.Report.Left, report.Left...)
	return t, nil
}

func (g *goalReader) fail(format string, args ...any) error {
	return at(g.file, g.line, format, args...)
}

// read parses one line.
func (g *goalReader) read(words []string) error {
	switch {
	case len(words) == 0:
		return nil
	case words[0] == "num_ranks":
		n, err := strconv.Atoi(strings.Join(words[1:], " "))
		if err != nil || n < 1 || n > maxRanks || g.seen != nil {
			return g.fail("found %s, expected num_ranks once, with 1 to %d",
				field.Quote(strings.Join(words, " ")),
				maxRanks)
		}
		g.ranks, g.seen = n, make([]bool, n)
		return nil
	case g.seen == nil:
		return g.fail("num_ranks is missing before %s", field.Quote(words[0]))
	case words[0] == "rank":
		return g.open(words)
	case words[0] == "}" && len(words) == 1 && g.rank >= 0:
		return g.close()
	case g.rank < 0:
		return g.fail("found %s, expected rank N {", field.Quote(strings.Join(words, " ")))
	}
	label := ""
	if name, ok := strings.CutSuffix(words[0], ":"); ok {
		label, words = name, words[1:]
	}
	if label == "" && len(words) == 3 && (words[1] == "requires" || words[1] == "irequires") {
		g.pending = append(g.pending, pendingEdge{words[2], words[0], words[1] == "irequires", g.line})
		return nil
	}
	x, err := g.step(words)
	if err != nil {
		return err
	}
	if label != "" {
		if was, twice := g.labels[label]; twice {
			return g.fail("the label %s is on line %d already", field.Quote(label), g.steps[was].line)
		}
		g.labels[label] = int32(len(g.steps))
	}
	g.steps = append(g.steps, x)
	return nil
}

// open begins a rank's block.
func (g *goalReader) open(words []string) error {
	r := -1
	if len(words) >= 2 {
		var err error
		if r, err = strconv.Atoi(strings.TrimSuffix(words[1], "{")); err != nil {
			r = -1
		}
	}
	brace := strings.HasSuffix(strings.Join(words, ""), "{")
	switch {
	case g.rank >= 0:
		return g.fail("rank %d is not closed by }", g.rank)
	case r < 0 || !brace:
		return g.fail("found %s, expected rank N {", field.Quote(strings.Join(words, " ")))
	case r >= g.ranks:
		return g.fail("rank %d: num_ranks is %d", r, g.ranks)
	case g.seen[r]:
		return g.fail("rank %d is repeated", r)
	}
	g.rank, g.seen[r], g.labels, g.pending = r, true, map[string]int32{}, nil
	return nil
}

// close ends a rank and resolves the dependencies of its operations.
func (g *goalReader) close() error {
	for _, e := range g.pending {
		from, ok1 := g.labels[e.from]
		to, ok2 := g.labels[e.to]
		if !ok1 || !ok2 {
			missing := e.from
			if ok1 {
				missing = e.to
			}
			return at(g.file, e.line, "rank %d has no operation %s", g.rank, field.Quote(missing))
		}
		g.edges = append(g.edges, edge{from, to, e.begun})
	}
	g.rank = -1
	return nil
}

// step reads an operation: send 10b to 1 tag 0 cpu 0 nic 0.
func (g *goalReader) step(words []string) (x step, err error) {
	want := "send N b to R, recv N b from R or calc NS, with tag, cpu and nic; N up to 2^50, NS up to 26 days"
	bad := func() (step, error) {
		return x, g.fail("found %s, expected %s", field.Quote(strings.Join(words, " ")), want)
	}
	x.rank, x.line, x.peer = int32(g.rank), int32(g.line), anybody
	if len(words) < 2 {
		return bad()
	}
	rest := words[2:]
	switch words[0] {
	case "calc":
		ns, err := strconv.ParseInt(words[1], 10, 64)
		if err != nil || ns < 0 || ns > int64(unit.Never/unit.Nanosecond)/4 {
			return bad()
		}
		x.kind, x.dur = calc, unit.Time(ns)*unit.Nanosecond
	case "send", "recv":
		x.kind = send
		if words[0] == "recv" {
			x.kind = recv
		}
		n, err := strconv.ParseInt(strings.TrimSuffix(words[1], "b"), 10, 64)
		if err != nil || n < 0 || n > 1<<50 || len(rest) < 2 || rest[0] != map[kind]string{send: "to",
			recv: "from"}[x.kind] {
			return bad()
		}
		peer, err := strconv.Atoi(rest[1])
		if err != nil || peer < 0 && (x.kind == send || peer != anybody) {
			return bad()
		}
		if peer >= g.ranks || peer == g.rank {
			return x, g.fail("rank %d exchanges bytes with rank %d; there are 0 to %d, and not itself",
				g.rank,
				peer, g.ranks-1)
		}
		x.bytes, x.peer, rest = unit.Bytes(n), int32(peer), rest[2:]
	default:
		return bad()
	}
	for ; len(rest) >= 2; rest = rest[2:] {
		n, err := strconv.ParseInt(rest[1], 10, 64)
		switch {
		case err != nil:
			return bad()
		case rest[0] == "tag" && x.kind != calc && (n >= 0 || x.kind == recv && n == anything):
			x.tag = n
		case rest[0] == "cpu":
			if n != 0 {
				note(&g.report.Left, "operations on a core other than the first: cores are not distinguished",
					g.file,
					g.line)
			}
		case rest[0] == "nic":
			if n != 0 {
				note(&g.report.Left, "operations on a NIC other than the first: the fabric assigns NICs",
					g.file, g.line)
			}
		default:
			return bad()
		}
	}
	if len(rest) > 0 {
		return bad()
	}
	return x, nil
}

package measured

import (
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/coll"
	"railyard/internal/stream"
	"railyard/internal/tally"
	"railyard/unit"
)

// ncclTests reads the tables of nccl-tests (src/util.cu): a heading, the devices, and rows of
//
//	size count type redop root  time algbw busbw #wrong  time algbw busbw #wrong
//
// out of place, then in place. Older versions have no root, and no redop without a reduction; with -I each half has
// four more columns; with -T a date is last.
type ncclTests struct {
	set  *Set
	file string

	command string // all_reduce_perf; "": unknown
	kind    coll.Kind
	known   bool
	iters   int
	per     int  // columns of a half
	root    bool // a column before them names the root
	ranks   int
	hosts   map[string]bool
	gpu     string
	first   int // first row of the current test in set.Collectives
	shares  []share
}

// share is a row's ratio of busbw to algbw. Kind and ranks follow from it if nothing else states them.
type share struct {
	least, most float64
	redop       string
	row         int // row in set.Collectives, from first
}

// at reports whether a ratio is possible for the row.
func (s share) at(ratio float64) bool { return s.least <= ratio*1.01 && ratio <= s.most*1.01 }

// perf matches the names of the programs.
var perf = regexp.MustCompile(`\b((?:all_?reduce|all_?gather|reduce_?scatter|all_?to_?allv?|broadcast|` +
	`sendrecv|reduce|gather|scatter|hypercube)_perf)`)

// types are the data types, in the tests' notation.
var types = map[string]bool{"int8": true, "uint8": true, "int32": true, "uint32": true, "int64": true,
	"uint64": true, "half": true, "float": true, "double": true, "bfloat16": true, "f8e4m3": true,
	"f8e5m2": true, "fp8e4m3": true, "fp8e5m2": true, "char": true, "int": true, "float16": true,
	"float32": true, "float64": true, "fp8_e4m3": true, "fp8_e5m2": true}

// line takes a line of the output.
func (t *ncclTests) line(n int, words []string) {
	if words[0] == "#" {
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	switch {
	case words[0] == "nThread" || words[0] == "nccl-tests":
		if t.under() {
			t.finish()
		}
		t.heading(words)
	case words[0] == "Rank" && len(words) > 6:
		t.device(words)
	case words[0] == "size" && len(words) > 3 && words[1] == "count":
		t.per, t.root = 4, slices.Contains(words, "root")
		for _, w := range words {
			if w == "i_cv%" {
				t.per = 8
			}
		}
	default:
		if name := perf.FindString(strings.Join(words[:min(len(words), 400)], " ")); name != "" {
			t.called(name)
			return
		}
		for i := 0; i+6 < len(words) && i < 4; i++ {
			if types[words[i+2]] {
				t.row(n, words[i:])
				return
			}
		}
	}
}

// under reports whether the current test has rows.
func (t *ncclTests) under() bool { return len(t.set.Collectives) > t.first }

// called notes which program runs.
func (t *ncclTests) called(command string) {
	if t.under() && command != t.command {
		t.finish()
	}
	t.names(command)
}

// names remembers the program, and the collective that it measures.
func (t *ncclTests) names(command string) {
	t.command = command
	t.kind, t.known = kinds[strings.ReplaceAll(strings.TrimSuffix(command, "_perf"), "_", "")]
}

// heading reads what all rows share.
func (t *ncclTests) heading(words []string) {
	for i := 0; i+2 < len(words); i++ {
		if words[i] == "iters:" && words[i-1] != "warmup" && words[i-1] != "agg" {
			t.iters, _ = strconv.Atoi(words[i+1])
		}
	}
}

// device reads: Rank 0 Group 0 Pid 1 on host device 0 [0x18] NVIDIA H100 80GB HBM3.
func (t *ncclTests) device(words []string) {
	for i := 0; i+3 < len(words); i++ {
		if words[i] != "on" || words[i+2] != "device" {
			continue
		}
		if t.under() { // a row of another test, without a heading
			t.finish()
		}
		if t.hosts == nil {
			t.hosts = map[string]bool{}
		}
		if t.ranks++; len(t.hosts) < maxRanks {
			t.hosts[words[i+1]] = true
		}
		rest := words[i+4:]
		if len(rest) > 0 && strings.HasPrefix(rest[0], "[") {
			rest = rest[1:]
		}
		t.gpu = strings.Join(rest, " ")
		return
	}
}

// row parses a row from its size on.
func (t *ncclTests) row(n int, words []string) {
	size, err1 := strconv.ParseInt(words[0], 10, 64)
	_, err2 := strconv.ParseInt(words[1], 10, 64)
	if err1 != nil || err2 != nil {
		return
	}
	redop, rest := "", words[3:]
	if _, err := strconv.ParseFloat(rest[0], 64); err != nil {
		redop, rest = rest[0], rest[1:]
	}
	var values []float64
	for _, w := range rest {
		if strings.ContainsAny(w, ":") || strings.Count(w, "-") > 1 {
			break // a date
		}
		v, err := strconv.ParseFloat(w, 64)
		switch {
		case w == "N/A": // results were not checked
			v = 0
		case err != nil:
			v = math.NaN()
		}
		values = append(values, v)
	}
	per := max(4, t.per)
	whole := len(values) == per || len(values) == 2*per
	if len(values)%per == 1 || !whole && t.root {
		values = values[1:]
	}
	halves := min(2, len(values)/per)
	if len(values) != per && len(values) != 2*per {
		what := "truncated rows of nccl-tests"
		if len(values) > 2*per {
			what = "rows of nccl-tests with more columns than two halves have"
		}
		tally.Note(&t.set.Report.Left, what, t.file, n)
		halves = min(halves, 1) // the first is complete
	}
	for half := range halves {
		v := values[half*per:]
		t.half(n, size, words[2], redop, v[0], v[1], v[2], v[3], half == 1 || len(values) == per)
	}
}

// contradicts is a relative difference between a row's bandwidth and its bytes over its time. From this difference
// on one of them is damaged. The time of a test is an average, so smaller differences occur.
const contradicts = 0.2

// half takes a half of a row.
func (t *ncclTests) half(n int, size int64, kind, redop string, us, algbw, busbw, wrong float64, in bool) {
	time, ok := micros(us)
	left := &t.set.Report.Left
	switch {
	case size <= 0:
		tally.Note(left, "rows of nccl-tests without bytes", t.file, n)
		return
	case size > 1<<50 || !ok || !(algbw >= 0) || !(busbw >= 0) || math.IsNaN(wrong):
		tally.Note(left, "rows of nccl-tests with a time or size that cannot be", t.file, n)
		return
	case wrong > 0.5: // older tests print the largest error here
		tally.Note(left, "rows of nccl-tests with wrong results", t.file, n)
		return
	}
	c := Collective{Source: "nccl-tests", Bytes: unit.Bytes(size), Time: time, InPlace: in, Type: kind,
		Samples: t.iters, File: t.file, Line: n}
	wide := math.Abs(c.AlgBW() - algbw)
	if algbw > 0.1 && wide > contradicts*algbw+0.02 {
		tally.Note(left, "rows of nccl-tests whose size, time and bandwidth contradict each other", t.file, n)
		return
	}
	if algbw >= 1 && busbw > 0 {
		// both are printed with two decimals, or with fewer if they are large
		off := 0.005
		if algbw >= 1000 || busbw >= 1000 {
			off = 0.05
		}
		t.shares = append(t.shares, share{(busbw - off) / (algbw + off), (busbw + off) / (algbw - off), redop,
			len(t.set.Collectives) - t.first})
	}
	if algbw > 0.1 && wide > 0.02*algbw+0.02 {
		tally.Note(&t.set.Report.Guessed, "rows whose time and bandwidth disagree: the time holds", t.file, n)
	}
	t.set.Collectives = append(t.set.Collectives, c)
}

// odd omits rows whose ratio of busbw to algbw differs from that of most rows of the test, because one of the two
// is damaged.
func (t *ncclTests) odd() {
	if len(t.shares) < 3 {
		return
	}
	var ratios []float64
	for _, s := range t.shares {
		ratios = append(ratios, (s.least+s.most)/2)
	}
	slices.Sort(ratios)
	usual := ratios[len(ratios)/2]
	kept, gone := t.shares[:0:0], map[int]bool{}
	for _, s := range t.shares {
		if s.at(usual) {
			kept = append(kept, s)
			continue
		}
		gone[s.row] = true
	}
	if 2*len(kept) <= len(t.shares) {
		return
	}
	t.shares = kept
	rows := t.set.Collectives[:t.first]
	for i, c := range t.set.Collectives[t.first:] {
		if gone[i] {
			tally.Note(&t.set.Report.Left, "rows of nccl-tests whose bus bandwidth is not in the ratio of the others",
				t.file, c.Line)
		} else {
			rows = append(rows, c)
		}
	}
	t.set.Collectives = rows
}

// finish adds the properties of a test to its rows.
func (t *ncclTests) finish() {
	t.odd()
	rows := t.set.Collectives[min(t.first, len(t.set.Collectives)):]
	kind, ranks, why := t.kind, t.ranks, ""
	if len(rows) > 0 && t.command == "" {
		if name := perf.FindString(path.Base(t.file)); name != "" {
			t.names(name)
			kind = t.kind
		}
	}
	ok := t.known
	if len(rows) > 0 && (t.command == "" || ranks == 0 || t.cut()) {
		kind, ranks, ok, why = t.infer()
	}
	report := &t.set.Report
	switch {
	case len(rows) == 0:
	case !ok:
		name := nameless
		if t.command != "" {
			name = t.command
		}
		tally.Add(&report.Left, len(rows), "rows of "+name, t.file, rows[0].Line)
		t.set.Collectives = t.set.Collectives[:t.first]
		rows = nil
	default:
		tally.Add(&report.Mapped, len(rows), "rows of nccl-tests, as "+kind.String()+"s", t.file, rows[0].Line)
		if why != "" {
			tally.Add(&report.Guessed, len(rows), why, t.file, rows[0].Line)
		}
	}
	for i := range rows {
		c := &rows[i]
		c.Kind, c.Ranks, c.Nodes, c.GPU, c.Command = kind, ranks, len(t.hosts), t.gpu, t.command
		if t.cut() {
			c.Nodes = 0
		}
	}
	*t = ncclTests{set: t.set, file: t.file, first: len(t.set.Collectives), command: t.command, kind: t.kind,
		known: t.known}
}

// cut reports whether the list of devices has one rank, and the rows bus bandwidth, which one rank has not.
func (t *ncclTests) cut() bool {
	return t.ranks == 1 && slices.ContainsFunc(t.shares, func(s share) bool { return s.least > 0 })
}

// infer derives the missing collective from busbw over algbw: 2(n-1)/n is an all-reduce, (n-1)/n with a reduction a
// reduce-scatter. Without a reduction it is an all-gather or an all-to-all, which are indistinguishable.
func (t *ncclTests) infer() (kind coll.Kind, ranks int, ok bool, why string) {
	least, most, redop := 0.0, math.Inf(1), ""
	for _, s := range t.shares {
		least, most, redop = max(least, s.least), min(most, s.most), s.redop
	}
	kind, ok = t.kind, t.known
	if len(t.shares) == 0 || least > most {
		return kind, t.ranks, ok, ""
	}
	if t.command == "" {
		switch {
		case least > 1.001:
			kind, ok = coll.AllReduce, true
		case most < 0.9999 && redop != "" && redop != "none":
			kind, ok = coll.ReduceScatter, true
		default:
			return kind, t.ranks, false, ""
		}
		why = "rows of nccl-tests without a command: bus over algorithm bandwidth gives " + kind.String()
	}
	if t.ranks > 0 && !t.cut() {
		return kind, t.ranks, ok, why
	}
	limit := kind.BusFactor(1 << 30) // of many ranks
	if most >= limit || kind == coll.Bcast || kind == coll.SendRecv {
		return kind, 0, ok, why
	}
	// limit*(n-1)/n is between least and most
	low, high := math.Ceil(limit/(limit-least)-1e-9), math.Floor(limit/(limit-most))
	if low != high || low < 2 {
		return kind, 0, ok, why
	}
	if why == "" {
		why = "rows of nccl-tests without a list of all devices: bus over algorithm bandwidth gives the number of ranks"
	} else {
		why += ", and how many ranks"
	}
	return kind, int(low), ok, why
}

// text parses terminal output, in which nccl-tests and perftest may alternate with other output: NCCL's log,
// mpirun's tags, a shell's prompts.
func (s *Set) text(file string, src *stream.Source) error {
	n, p := &ncclTests{set: s, file: file, first: len(s.Collectives)}, &perftest{set: s, file: file}
	err := src.Lines(func(line []byte, cut bool) error {
		if cut {
			return nil // no row is as long
		}
		words := strings.Fields(untagged(string(line)))
		if len(words) == 0 || s.full() {
			return nil
		}
		if !p.line(src.Line(), words) {
			n.line(src.Line(), words)
		}
		return nil
	})
	n.finish()
	return err
}

// tag matches the prefix that launchers add to a line: [1,0]<stdout>: by mpirun, 3: by srun -l, [0] by others. It
// also matches such prefixes inside interleaved output.
var tag = regexp.MustCompile(`^\s*(\[\d+(,\d+)?\](<std\w+>)?:?|\d+:)\s?|\[\d{1,3}\]`)

// untagged is a line without them.
func untagged(line string) string {
	if !strings.ContainsAny(line, ":[") {
		return line
	}
	return tag.ReplaceAllString(line, " ")
}

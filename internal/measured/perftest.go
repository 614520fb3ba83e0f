package measured

import (
	"math"
	"strconv"
	"strings"

	"railyard/internal/tally"
	"railyard/unit"
)

// perftest reads the tables of linux-rdma/perftest (src/perftest_parameters.c): a title, the set-up as keys
// and values, a line of column names, rows.
type perftest struct {
	set     *Set
	file    string
	pair    Pair // settings that all rows share
	titled  bool
	columns []string
}

// verbs are the tests' titles.
var verbs = map[string]string{"RDMA_Write": "write", "RDMA_Read": "read", "Send": "send", "Atomic": "atomic",
	"RDMA_WRITE": "write", "RDMA_READ": "read", "SEND": "send", "Write": "write", "Read": "read"}

// names are the column names without units, which are equal in all versions of perftest.
var names = []struct{ begins, name string }{
	{"#bytes", "bytes"}, {"#sl", "sl"}, {"#iterations", "iterations"}, {"BW peak", "peak"},
	{"BW average", "rate"}, {"MsgRate Port", "more"}, {"BW Port", "more"}, {"MsgRate", "messages"},
	{"t_min", "least"}, {"t_max", "most"}, {"t_typical", "typical"}, {"t_avg", "mean"}, {"t_stdev", "spread"},
	{"99% percentile", "p99"}, {"99.9% percentile", "p999"}, {"tps average", "tps"}, {"CPU_Util", "cpu"},
}

// line reports whether a line belongs to perftest.
func (p *perftest) line(n int, words []string) bool {
	verb, is := verbs[words[0]]
	switch {
	case is && len(words) > 2 && words[len(words)-1] == "Test":
		p.title(verb, words)
	case words[0] == "#bytes":
		p.heading(strings.Join(words, " "))
	case !p.titled:
		return false
	case p.setup(strings.Join(words, " ")):
	case p.columns != nil && digits(words[0]):
		p.row(n, words)
	default:
		return false
	}
	return true
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// title reads: RDMA_Write Bidirectional BW Test.
func (p *perftest) title(verb string, words []string) {
	p.pair, p.titled, p.columns = Pair{Verb: verb, File: p.file}, true, nil
	for _, w := range words {
		p.pair.Latency = p.pair.Latency || w == "Latency"
		p.pair.Both = p.pair.Both || w == "Bidirectional"
	}
}

// setup reads: Number of qps : 1 Transport type : IB.
func (p *perftest) setup(line string) (is bool) {
	if !strings.Contains(line, " : ") {
		return false
	}
	for key, take := range map[string]func(string){
		"Number of qps":   func(v string) { p.pair.QPs, _ = strconv.Atoi(v) },
		"Connection type": func(v string) { p.pair.Transport = v },
		"Link type":       func(v string) { p.pair.Link = v },
		"Device":          func(v string) { p.pair.Device = v },
		"Mtu": func(v string) {
			mtu, _ := strconv.Atoi(strings.TrimSuffix(v, "[B]"))
			p.pair.MTU = unit.Bytes(mtu)
		},
	} {
		if _, rest, found := strings.Cut(line, key+" : "); found {
			value, _, _ := strings.Cut(rest, " ")
			take(value)
			is = true
		}
	}
	return is
}

// heading reads the columns' names.
func (p *perftest) heading(line string) {
	p.columns, p.titled = nil, true
	for rest := line; rest != ""; {
		found := false
		for _, x := range names {
			if !strings.HasPrefix(rest, x.begins) {
				continue
			}
			unit := ""
			rest = rest[len(x.begins):]
			if strings.HasPrefix(rest, "[") {
				unit, _, _ = strings.Cut(rest[1:], "]")
			}
			name := x.name
			if unit == "Gb/sec" {
				name += " Gb/s"
			}
			if unit == "cycles" {
				name = "cycles"
			}
			p.columns = append(p.columns, name)
			found = true
			break
		}
		if !found {
			rest = rest[1:]
		}
	}
}

// row reads one.
func (p *perftest) row(n int, words []string) {
	x := p.pair
	x.Line = n
	if len(words) < len(p.columns) {
		tally.Note(&p.set.Report.Left, "truncated rows of perftest", p.file, n)
		return
	}
	ok := true
	for i, name := range p.columns {
		v, err := strconv.ParseFloat(words[i], 64)
		ok = ok && err == nil && p.take(&x, name, v)
	}
	p.add(x, ok)
}

// take stores a value by its column; false: it is invalid.
func (p *perftest) take(x *Pair, name string, v float64) bool {
	time := func(to *unit.Time) bool {
		var ok bool
		*to, ok = micros(v)
		x.Latency = true
		return ok
	}
	rate := func(to *unit.Rate, per float64) bool {
		if !(v >= 0 && v*per < 1e15) {
			return false
		}
		*to = unit.Rate(math.Round(v * per))
		return true
	}
	switch name {
	case "bytes":
		x.Bytes = unit.Bytes(v)
		return v >= 1 && v <= 1<<40
	case "iterations":
		x.Iterations = int64(v)
		return v >= 0 && v < 1<<60
	case "peak":
		return rate(&x.Peak, 8<<20) // MB/sec has always been 2^20 bytes
	case "rate":
		return rate(&x.Rate, 8<<20)
	case "peak Gb/s":
		return rate(&x.Peak, 1e9)
	case "rate Gb/s":
		return rate(&x.Rate, 1e9)
	case "messages":
		x.Messages = v * 1e6
	case "typical":
		return time(&x.Time)
	case "mean":
		return time(&x.Mean)
	case "least":
		return time(&x.Least)
	case "most":
		return time(&x.Most)
	case "p99":
		return time(&x.P99)
	case "p999":
		return time(&x.P999)
	case "cycles":
		return false
	}
	return true
}

// add keeps a point that can be.
func (p *perftest) add(x Pair, ok bool) {
	report := &p.set.Report
	if x.Latency && x.Time == 0 {
		x.Time = x.Mean // -D prints no other value
	}
	switch {
	case !ok || x.Latency && x.Time == 0 || !x.Latency && x.Rate == 0:
		tally.Note(&report.Left, "rows of perftest with values that cannot be", p.file, x.Line)
		return
	case p.set.full():
		tally.Note(&report.Left, "rows beyond those that are kept", p.file, x.Line)
		return
	}
	if x.Verb == "" {
		x.Verb = "write"
		tally.Note(&report.Guessed, "rows of perftest without a title, read as writes", p.file, x.Line)
	}
	what := "bandwidths"
	if x.Latency {
		what = "latencies"
	}
	tally.Note(&report.Mapped, "rows of perftest, as "+what+" of "+x.Verb+"s", p.file, x.Line)
	p.set.Pairs = append(p.set.Pairs, x)
}

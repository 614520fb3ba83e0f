package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"railyard/internal/result"
)

// figure is a column of the table of algorithms: the widths add up to what a line has behind the name.
type figure struct {
	head, below string
	width       int
	value       func(s *result.Summary) float64
	show        func(v float64) string
}

// figures compare congestion controls. Times and sizes have four and three digits: more would not fit.
var figures = []figure{
	{"step", "time", 9, func(s *result.Summary) float64 { return float64(s.StepTime) }, brief},
	{"exposed", "comm.", 9, func(s *result.Summary) float64 { return float64(s.ExposedComm) }, brief},
	{"p99", "message", 9, func(s *result.Summary) float64 { return float64(s.Flows.P99) }, brief},
	{"slowest", "message", 9, func(s *result.Summary) float64 { return float64(s.Flows.Max) }, brief},
	{"queue", "peak", 8, func(s *result.Summary) float64 { return float64(s.QueuePeak) }, bytesOf},
	{"queue", "mean", 8, func(s *result.Summary) float64 { return float64(s.QueueMean) }, bytesOf},
	{"", "pauses", 8, func(s *result.Summary) float64 { return float64(s.PFCPauses) }, tally},
	{"", "drops", 7, func(s *result.Summary) float64 { return float64(s.Drops) }, tally},
	{"", "trims", 7, func(s *result.Summary) float64 { return float64(s.Trims) }, tally},
	{"over-", "head", 8, (*result.Summary).Overhead, shareOf},
	{"fair-", "ness", 6, func(s *result.Summary) float64 { return s.Fairness },
		func(v float64) string { return fmt.Sprintf("%.2f", v) }},
}

// scaled prints a number with so many digits and the largest prefix that leaves it above one.
func scaled(v float64, digits int, units []string, steps float64) string {
	i := 0
	for ; i < len(units)-1 && v >= steps*(1-0.5*math.Pow(10, -float64(digits))); i++ {
		v /= steps
	}
	return strconv.FormatFloat(v, 'g', digits, 64) + units[i]
}

func brief(ps float64) string { return scaled(ps, 4, []string{"ps", "ns", "us", "ms", "s"}, 1000) }
func bytesOf(b float64) string {
	return scaled(b, 3, []string{" B", " KB", " MB", " GB", " TB"}, 1000)
}

// shareOf is a share in per cent, one of many times the whole as so many times.
func shareOf(v float64) string {
	if v < 10 {
		return percent(v)
	}
	return scaled(v, 3, []string{"x", "kx", "Mx", "Gx", "Tx"}, 1000)
}

func tally(n float64) string {
	if n < 1e5 {
		return strconv.FormatFloat(n, 'f', 0, 64)
	}
	return scaled(n, 3, []string{"", "k", "M", "G", "T"}, 1000)
}

// Algorithms prints a line for each congestion control, with the median over seeds where there are several,
// and below what each takes of switches and NICs, and which do not fit and why.
func Algorithms(w io.Writer, title string, variants []result.Variant, unfit []result.Unfit) {
	Wrap(w, "", title)
	left := width
	for _, f := range figures {
		left -= f.width
	}
	names := make([]string, len(variants))
	for i, v := range variants {
		if names[i] = v.Label; len([]rune(v.Label)) > left-1 {
			names[i] = fmt.Sprintf("(%d)", i+1)
			Labelled(w, fmt.Sprintf("%5s ", names[i]), v.Label)
		}
	}
	fmt.Fprintf(w, "\n%-*s", left, "")
	for _, f := range figures {
		fmt.Fprintf(w, "%*s", f.width, f.head)
	}
	fmt.Fprintf(w, "\n%-*s", left, "")
	for _, f := range figures {
		fmt.Fprintf(w, "%*s", f.width, f.below)
	}
	fmt.Fprintln(w)
	for i, v := range variants {
		fmt.Fprintf(w, "%-*s", left, names[i])
		if len(v.Runs) == 0 {
			fmt.Fprintln(w, "failed")
			continue
		}
		for _, f := range figures {
			fmt.Fprintf(w, "%*s", f.width, f.show(median(values(metric{value: f.value}, v))))
		}
		fmt.Fprintln(w)
	}
	takes(w, names, left, variants, unfit)
	if n := seeds(variants); n > 1 {
		fmt.Fprintf(w, "\nMedians over %d seeds.\n", n)
	}
	fmt.Fprintln(w)
	verdict(w, variants)
}

// takes says what hardware must do for each, and which do not fit.
func takes(w io.Writer, names []string, left int, variants []result.Variant, unfit []result.Unfit) {
	fmt.Fprintf(w, "\n%-*s%-26s%s\n", left, "", "needs of switches", "of NICs")
	for i, v := range variants {
		if v.Switch+v.NIC != "" {
			var b strings.Builder
			Wrap(&b, strings.Repeat(" ", left+26), v.NIC)
			fmt.Fprintf(w, "%-*s%-26s%s", left, names[i], v.Switch, b.String()[left+26:])
		}
	}
	if len(unfit) > 0 {
		fmt.Fprintln(w)
	}
	for _, u := range unfit {
		Labelled(w, "does not fit: ", u.Label+": "+u.Why)
	}
}

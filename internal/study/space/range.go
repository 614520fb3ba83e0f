package space

import (
	"math"
	"strconv"
	"strings"

	"railyard/internal/field"
)

// Range is an interval of quantities of one kind, continuous or in steps.
type Range struct {
	text   string // text as written
	ends   [2]string
	from   float64
	to     float64
	kind   Kind
	whole  bool // numbers without a decimal point remain integers
	log    bool
	steps  int // 0: continuous
	levels []string
}

// Log reports whether the steps of the range are factors.
func (r *Range) Log() bool { return r.log }

// MaxSteps bounds the steps of a range.
const MaxSteps = 100_000

// rangeForm is the accepted form of ParseRange.
const rangeForm = "accepted: FROM..TO, FROM..TO:STEPS, FROM..TO:STEPS:log"

// ParseRange reads FROM..TO[:STEPS][:log]. Steps lie equally far apart, with log in equal ratios.
func ParseRange(text string) (*Range, error) {
	parts := strings.Split(text, ":")
	from, to, ok := strings.Cut(parts[0], "..")
	if !ok {
		return nil, field.New("", "%s is not a range; %s", field.Quote(text), rangeForm)
	}
	r := &Range{text: text, ends: [2]string{strings.TrimSpace(from), strings.TrimSpace(to)}}
	var last Kind
	r.from, r.kind = Quantity(r.ends[0])
	r.to, last = Quantity(r.ends[1])
	switch {
	case r.kind == Word:
		return nil, field.New("", "%s is not a quantity; %s, as in 50KB..800KB:16:log", field.Quote(r.ends[0]), rangeForm)
	case last == Word:
		return nil, field.New("", "%s is not a quantity; %s, as in 50KB..800KB:16:log", field.Quote(r.ends[1]), rangeForm)
	case last != r.kind:
		return nil, field.New("", "%s and %s have different units", field.Quote(r.ends[0]), field.Quote(r.ends[1]))
	case r.from >= r.to:
		return nil, field.New("", "%s is an empty range: FROM is not below TO; %s", field.Quote(text), rangeForm)
	}
	r.whole = r.kind == Number && !strings.ContainsAny(parts[0][:len(from)]+to, ".eE")
	for _, word := range parts[1:] {
		n, err := strconv.Atoi(word)
		switch {
		case word == "log":
			r.log = true
		case word == "lin":
		case err == nil && n >= 2 && n <= MaxSteps:
			r.steps = n
		case err == nil:
			return nil, field.Outside("", 2, MaxSteps, n)
		default:
			return nil, field.Choice("", word, []string{"log", "lin"}, "unknown word %s", field.Quote(word))
		}
	}
	if r.log && r.from <= 0 {
		return nil, field.New("", "%s is not above 0, as a range in equal ratios (log) is", field.Quote(r.ends[0]))
	}
	for i := range r.steps {
		if v := r.between(float64(i) / float64(r.steps-1)); i == 0 || v != r.levels[len(r.levels)-1] {
			r.levels = append(r.levels, v)
		}
	}
	return r, nil
}

// String returns the range as it was written.
func (r *Range) String() string { return r.text }

// Steps returns the number of different values, 0 for a continuous range.
func (r *Range) Steps() int { return len(r.levels) }

// At returns the value at u from 0 to 1: for a range in steps, the step whose interval contains u.
func (r *Range) At(u float64) string {
	if n := len(r.levels); n > 0 {
		return r.levels[min(int(u*float64(n)), n-1)]
	}
	return r.between(u)
}

// between interpolates, and rounds to four digits if the kind allows it.
func (r *Range) between(u float64) string {
	switch u {
	case 0:
		return r.ends[0]
	case 1:
		return r.ends[1]
	}
	x := r.from + (r.to-r.from)*u
	if r.log {
		x = r.from * math.Pow(r.to/r.from, u)
	}
	if near := math.Round(x); math.Abs(x-near) < 1e-9*math.Abs(x) && (r.whole || r.kind != Number) {
		const kib = 1024
		if r.kind != Size || math.Mod(near, kib) == 0 {
			return written(near, r.kind)
		}
	}
	if r.whole {
		return written(math.Round(x), r.kind)
	}
	return written(rounded(x), r.kind)
}

// rounded returns x with four significant digits.
func rounded(x float64) float64 {
	y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 3, 64), 64)
	return y
}

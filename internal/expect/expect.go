// Package expect checks the figures of a run against expectations such as "step_time < 550ms".
//
// An Expectation is a figure's name in summary.json, a comparison (<, <=, >, >=, =, !=) and a value with its unit. A
// name is a path: links.max_utilisation, flow_completion.p99, jobs.NAME.step_time, collectives.0.busbw, chain.incast.
// The suffix of a unit (_ps, _bytes, _bytes_per_second) may be left out, utilisation is utilization as well. Shares are
// written 0.3 or 30%. Check returns an Outcome for each expectation;
// WriteJUnit writes outcomes as the XML that build servers read.
package expect

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/field"
	"railyard/internal/result"
	"railyard/unit"
)

// Expectation is a condition on a figure of a run.
type Expectation struct {
	Text  string // text as written
	path  []string
	op    string
	bound float64 // bound in the base unit of kind
	kind  kind
}

// kind is the kind of a figure: how its value is written.
type kind struct {
	suffix, noun, example string
	parse                 func(string) (float64, error)
	show                  func(float64) string
}

// plain is the kind of counts, and share is the kind of figures that are parts of a whole of 1.
var (
	plain = kind{"", "number", "10", parseNumber, unit.Digits}
	share = kind{"", "share of 1", "30%", parseShare, unit.Digits}
)

// shares are the keys of shares, except utilisations.
var shares = []string{"mfu", "fairness_jain", "media_busy", "worst", "mean", "drawn", "delivered", "load"}

// kinds are the kinds of figures whose names have a unit, longest suffix first.
var kinds = []kind{
	{"_bytes_per_second", "bandwidth", "90GB/s", parseBandwidth,
		func(x float64) string { return unit.Bytes(x).Show() + "/s" }},
	{"_bytes", "size", "2MB", func(s string) (float64, error) { b, err := unit.ParseBytes(s); return float64(b), err },
		func(x float64) string { return unit.Bytes(x).Show() }},
	{"_ps", "time", "550ms", func(s string) (float64, error) { t, err := unit.ParseTime(s); return float64(t), err },
		func(x float64) string { return unit.Time(x).Show() }},
}

// parseNumber parses a number.
func parseNumber(s string) (float64, error) {
	x, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, strconv.ErrSyntax
	}
	return x, nil
}

// parseShare parses a percentage, or a number that is at most 1. It refuses 30, because 30 could mean 30% or 3000%.
func parseShare(s string) (float64, error) {
	text, percent := strings.CutSuffix(s, "%")
	x, err := parseNumber(text)
	switch {
	case err != nil:
		return 0, err
	case percent:
		return x / 100, nil
	case x > 1 || x < -1:
		return 0, field.New("", "is a share of 1: write %s%% or %s", unit.Digits(x), strconv.FormatFloat(x/100, 'g', -1, 64))
	}
	return x, nil
}

// parseBandwidth parses bytes per second.
func parseBandwidth(s string) (float64, error) {
	size, ok := strings.CutSuffix(s, "/s")
	if !ok {
		return 0, strconv.ErrSyntax
	}
	b, err := unit.ParseBytes(size)
	return float64(b), err
}

// operators are the comparisons, operators of two characters first.
var operators = []string{"<=", ">=", "!=", "==", "<", ">", "="}

// Parse parses an expectation and resolves its figure.
func Parse(text string) (*Expectation, error) {
	at := strings.IndexAny(text, "<>=!")
	if at < 0 {
		return nil, field.New("", "%s has no comparison; write for example 'step_time < 550ms'", field.Quote(text))
	}
	e := &Expectation{Text: strings.Join(strings.Fields(text), " ")}
	for _, op := range operators {
		if strings.HasPrefix(text[at:], op) {
			e.op = op
			break
		}
	}
	if e.op == "" {
		return nil, field.New("", "%s has no comparison; accepted: %s", field.Quote(text), strings.Join(operators, " "))
	}
	name, value := strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+len(e.op):])
	if err := e.resolve(name); err != nil {
		return nil, err
	}
	var err error
	if e.bound, err = e.kind.parse(value); errors.As(err, new(*field.Error)) {
		return nil, field.New("", "%s %v, found %s", name, err, field.Quote(value))
	} else if err != nil {
		return nil, field.New("", "%s is a %s: write for example '%s %s %s', found %s", name, e.kind.noun, name, e.op,
			e.kind.example, field.Quote(value))
	}
	return e, nil
}

// ParseAll parses expectations.
func ParseAll(texts []string) (list []*Expectation, err error) {
	for _, t := range texts {
		e, err := Parse(t)
		if err != nil {
			return nil, field.Under("--expect", err)
		}
		list = append(list, e)
	}
	return list, nil
}

// named returns the key that a name identifies in a list: the key itself, or the key without the suffix of its
// unit.
func named(name string, keys []string) (key string, k kind, ok bool) {
	for _, key := range keys {
		k := plain
		for _, of := range kinds {
			if strings.HasSuffix(key, of.suffix) {
				k = of
				break
			}
		}
		if key == name || k.suffix != "" && strings.TrimSuffix(key, k.suffix) == name {
			return key, k, true
		}
	}
	return "", plain, false
}

// shortened returns keys without the suffixes of their units.
func shortened(keys []string) (short []string) {
	for _, key := range keys {
		_, k, _ := named(key, keys)
		short = append(short, strings.TrimSuffix(key, k.suffix))
	}
	return short
}

// resolve finds the path, with full keys, and the kind of a figure.
func (e *Expectation) resolve(name string) error {
	at, parts := reflect.TypeFor[result.Summary](), strings.Split(name, ".")
	e.kind = plain
	for i, part := range parts {
		for at.Kind() == reflect.Pointer {
			at = at.Elem()
		}
		fields := fieldsOf(at)
		switch {
		case at.Kind() == reflect.Slice: // by number, or by the name of an element
			e.path, at = append(e.path, part), at.Elem()
			continue
		case len(fields) == 0:
			return field.New("", "%s is a figure and has no %q", strings.Join(parts[:i], "."), part)
		}
		keys := sortedKeys(fields)
		key, k, ok := named(strings.ReplaceAll(part, "utilization", "utilisation"), keys)
		if !ok {
			return field.Choice("", part, shortened(keys), "unknown figure %s", field.Quote(name)).ListedBy("summary.json of a run")
		}
		if k.suffix != "" {
			e.kind = k
		}
		e.path, at = append(e.path, key), fields[key]
	}
	for at.Kind() == reflect.Pointer {
		at = at.Elem()
	}
	if !at.ConvertibleTo(reflect.TypeFor[float64]()) {
		inside := "a word"
		if keys := sortedKeys(fieldsOf(at)); len(keys) > 0 {
			inside = "a group (such as " + name + "." + keys[0] + ")"
		} else if at.Kind() == reflect.Slice {
			inside = "a list (write " + name + ".0 or " + name + ".NAME and a figure)"
		}
		return field.New("", "%s is %s, not a figure", field.Quote(name), inside)
	}
	last := e.path[len(e.path)-1]
	named := slices.Contains(shares, last) || strings.HasSuffix(last, "utilisation")
	if named && at.Kind() == reflect.Float64 { // excludes flow_completion.mean, which is a time
		e.kind = share
	}
	return nil
}

// fieldsOf returns the keys of a struct in JSON with their types; none for other types.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	if t == reflect.TypeFor[cause.Account]() {
		for _, c := range cause.All() {
			for _, key := range []string{c.Key + "_ps", c.Key + "_reaction_ps", c.Key + "_saving_ps",
				c.Key + "_beyond_saving_ps"} {
				out[key] = reflect.TypeFor[int64]()
			}
		}
		return out
	}
	if t.Kind() != reflect.Struct {
		return out
	}
	for f := range t.Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case key == "-":
		case key == "" && f.Anonymous:
			for k, of := range fieldsOf(f.Type) {
				out[k] = of
			}
		case key != "":
			out[key] = f.Type
		}
	}
	return out
}

func sortedKeys(m map[string]reflect.Type) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Outcome is an expectation next to what a run has.
type Outcome struct {
	Text  string `json:"expected"`
	Found string `json:"found"` // value found, with its unit
	Met   bool   `json:"met"`
}

// Check compares a run with expectations. A figure that the run does not have is an error.
func Check(s *result.Summary, list []*Expectation) (all []Outcome, err error) {
	b, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(b, &tree); err != nil {
		return nil, err
	}
	for _, e := range list {
		x, ok := lookup(tree, e.path)
		if !ok {
			return nil, field.New("--expect", "the run has no %s", strings.Join(e.path, "."))
		}
		all = append(all, Outcome{e.Text, e.kind.show(x), e.holds(x)})
	}
	return all, nil
}

// ofTraining lists figures of a training step. A run without a training has none of them.
var ofTraining = []string{"parameters", "tokens", "training_gpus", "step_flops", "mfu"}

// lookup returns the number at a path. A number that JSON omits is 0, but a figure of a training is missing then. A
// group that JSON omits is missing.
func lookup(v any, path []string) (x float64, ok bool) {
	for i, part := range path {
		switch at := v.(type) {
		case map[string]any:
			next, there := at[part]
			if !there {
				return 0, i == len(path)-1 && !slices.Contains(ofTraining, part)
			}
			v = next
		case []any:
			n := slices.IndexFunc(at, func(el any) bool {
				m, _ := el.(map[string]any)
				return m["name"] == part || m["service"] == part
			})
			if k, err := strconv.Atoi(part); n < 0 && err == nil && k >= 0 && k < len(at) {
				n = k
			}
			if n < 0 {
				return 0, false
			}
			v = at[n]
		default:
			return 0, false
		}
	}
	x, ok = v.(float64)
	return x, ok
}

// holds reports whether a value meets an expectation.
func (e *Expectation) holds(x float64) bool {
	switch e.op {
	case "<":
		return x < e.bound
	case "<=":
		return x <= e.bound
	case ">":
		return x > e.bound
	case ">=":
		return x >= e.bound
	case "!=":
		return x != e.bound
	}
	return x == e.bound
}

// Met reports whether a run meets all expectations.
func Met(all []Outcome) bool {
	return !slices.ContainsFunc(all, func(o Outcome) bool { return !o.Met })
}

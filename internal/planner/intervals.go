package planner

import (
	_ "embed"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"railyard/internal/workload"
)

//go:embed heldout.json
var heldOutData []byte

// Error is the error of estimates of a class of trainings, from measurements without fitted parameters.
type Error struct {
	Kind  string  `json:"kind"`
	RMS   float64 `json:"rms_log"` // root mean square of the logarithm of estimate over measurement
	Rows  int     `json:"rows"`
	Cells int     `json:"cells"` // number of combinations of model, GPU and precision
}

// heldOut is the output of TestSoftware: the cells used to fit the shipped figures, and the errors of all other
// cells.
type heldOut struct {
	Seed   string   `json:"seed"`
	Fitted []string `json:"fitted"` // software, model, GPU and precision
	Errors []Error  `json:"errors"`
	Custom []Error  `json:"custom"` // all rows, with the figures that are counted, not fitted
}

var published = loadHeldOut()

func loadHeldOut() (h heldOut) {
	if err := json.Unmarshal(heldOutData, &h); err != nil {
		panic(err) // the embedded table is wrong: our bug
	}
	return h
}

// normal90 is the number of standard deviations within which a normal variable is in 90 % of cases. That is the
// share of trainings that an interval should contain.
const normal90 = 1.645

// Factor returns by which factor a measurement of the class may be above or below its estimate.
func (e Error) Factor() float64 {
	return math.Exp(normal90 * e.RMS * math.Sqrt(1+1/float64(max(1, e.Cells))))
}

// Interval returns the interval of the step time, in seconds, that holds 90 % of measurements. It begins at the step at
// the GPUs' peak rate (an MFU of 100 %) or later.
func (c *Candidate) Interval(e *Error) (low, high float64) {
	return c.Seconds * max(1/e.Factor(), min(c.MFU, 1)), c.Seconds * e.Factor()
}

// ErrorOf returns the error of a class for a software. If published rows of the software were fitted, it is the
// error of held-out rows. Otherwise it is the error of all rows with the figures of custom.
func ErrorOf(s *workload.Software, kind string) (Error, bool) {
	if s.Rows > 0 {
		return Error{Kind: kind, RMS: s.RMS, Rows: s.Rows, Cells: s.Rows}, true
	}
	list := published.Errors
	if !slices.ContainsFunc(published.Fitted, func(c string) bool { return strings.HasPrefix(c, s.Name+" ") }) {
		list = published.Custom
	}
	i := slices.IndexFunc(list, func(e Error) bool { return e.Kind == kind })
	if i < 0 {
		return Error{}, false
	}
	return list[i], true
}

// cellOf names a row's software and cell as heldOut does.
func (m *Measured) cellOf() string {
	name, _, _ := strings.Cut(m.software, "@")
	return name + " " + m.Cell()
}

// errorsOf returns the errors of rows by kind, as computed by off.
func errorsOf(rows []*Measured, off func(*Measured) float64) (all []Error) {
	of, cells := map[string]*Error{}, map[string]bool{}
	var kinds []string
	for _, m := range rows {
		k := m.Kind()
		if of[k] == nil {
			of[k] = &Error{Kind: k}
			kinds = append(kinds, k)
		}
		e := of[k]
		if c := k + m.cellOf(); !cells[c] {
			cells[c] = true
			e.Cells++
		}
		v := off(m)
		e.Rows, e.RMS = e.Rows+1, e.RMS+v*v
	}
	slices.Sort(kinds)
	for _, k := range kinds {
		e := *of[k]
		e.RMS = math.Sqrt(e.RMS / float64(e.Rows))
		all = append(all, e)
	}
	return all
}

// Coverage returns the share of rows within the interval given by rows of other cells of their kind, so that no row
// judges itself. Rows without such others are omitted.
func Coverage(rows []*Measured) (share float64, judged int) {
	within := 0
	for _, m := range rows {
		var others []*Measured
		for _, o := range rows {
			if o.Kind() == m.Kind() && o.cellOf() != m.cellOf() {
				others = append(others, o)
			}
		}
		if len(others) == 0 {
			continue
		}
		e := errorsOf(others, (*Measured).logError)[0]
		judged++
		if math.Abs(m.logError()) <= math.Log(e.Factor()) {
			within++
		}
	}
	return float64(within) / float64(max(1, judged)), judged
}

func (m *Measured) logError() float64 { return math.Log(m.Estimate / m.Seconds) }

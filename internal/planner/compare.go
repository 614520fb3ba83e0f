package planner

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"railyard/internal/workload"
)

// Comparison is the published trainings relevant to an estimate.
type Comparison struct {
	Error   *Error   `json:"error,omitempty"` // error of estimates of its class, from which intervals follow
	Nearest *Nearest `json:"nearest_published,omitempty"`
}

// Nearest returns the nearest published training of a model in a precision on a kind of GPU: with the same
// framework if there is one, by GPUs, then by sequence length.
type Nearest struct {
	Software string  `json:"software"`
	GPUs     int     `json:"gpus"`
	Sequence int64   `json:"sequence"`
	Layout   string  `json:"layout"`
	Seconds  float64 `json:"step_seconds"`
	MFU      float64 `json:"mfu"`
	Source   string  `json:"source"`
}

// Compare returns the error of the training's class by its software, and the nearest published training. Without
// its software, the error is that of all published trainings of the class with an equal share of the peak and equal
// kernels.
func (in *SearchInput) Compare() (c Comparison) {
	t, kind, by := &in.Training, Kind(in.Training.Model, in.Training.Precision), Assumed{}
	if t.Software == nil {
		by = Assumed{Efficiency: t.Efficiency, Kernels: t.Kernels}
	}
	all, err := Published(by)
	if err != nil {
		panic(err) // the embedded tables are wrong: our bug
	}
	var alike, same []*Measured
	for i := range all {
		m := &all[i]
		if m.Why != "" || m.Kind() != kind {
			continue
		}
		alike = append(alike, m)
		if m.model == t.Model.Name && m.gpu == in.Site.GPU.Name && m.precision == cmp.Or(t.Precision, workload.BF16) {
			same = append(same, m)
		}
	}
	if t.Software != nil {
		if e, ok := ErrorOf(t.Software, kind); ok {
			c.Error = &e
		}
	} else if len(alike) > 0 {
		c.Error = &errorsOf(alike, (*Measured).logError)[0]
	}
	if len(same) == 0 {
		return c
	}
	foreign := func(m *Measured) int { // another framework than the training's
		if t.Software != nil && !strings.HasPrefix(m.cellOf(), t.Software.Name+" ") {
			return 1
		}
		return 0
	}
	apart := func(a, b float64) float64 { return math.Abs(math.Log(a / b)) }
	m := slices.MinFunc(same, func(a, b *Measured) int {
		return cmp.Or(foreign(a)-foreign(b),
			cmp.Compare(apart(float64(a.gpus), float64(in.Site.GPUs)), apart(float64(b.gpus), float64(in.Site.GPUs))),
			cmp.Compare(apart(float64(a.seq), float64(t.Seq)), apart(float64(b.seq), float64(t.Seq))))
	})
	c.Nearest = &Nearest{Software: m.software, GPUs: m.gpus, Sequence: m.seq, Layout: m.Layout, Seconds: m.Seconds,
		MFU: m.input.Estimate(m.scored).MFU * m.Estimate / m.Seconds, Source: m.Class}
	return c
}

package planner

import (
	"cmp"
	"math"
	"slices"
)

// Accuracy is the error of estimates of a class compared with measurements.
type Accuracy struct {
	Class  string  `json:"class"`
	Rows   int     `json:"rows"`
	Stated int     `json:"stated"`
	RMS    float64 `json:"rms"`  // root mean square of the relative error
	Bias   float64 `json:"bias"` // its mean

	// Rows and RMS of trainings that the software's figures were fitted to, and of held-out ones.
	FittedRows int     `json:"fitted_rows,omitempty"`
	FittedRMS  float64 `json:"fitted_rms,omitempty"`
	HeldRows   int     `json:"held_out_rows,omitempty"`
	HeldRMS    float64 `json:"held_out_rms,omitempty"`
}

func (a *Accuracy) add(m *Measured) {
	a.Rows++
	if m.Why != "" {
		return
	}
	e := m.Estimate/m.Seconds - 1
	a.Stated, a.RMS, a.Bias = a.Stated+1, a.RMS+e*e, a.Bias+e
	switch {
	case m.input.Training.Software == nil || m.input.Training.Software.Unknown():
	case m.Held:
		a.HeldRows, a.HeldRMS = a.HeldRows+1, a.HeldRMS+e*e
	default:
		a.FittedRows, a.FittedRMS = a.FittedRows+1, a.FittedRMS+e*e
	}
}

func (a *Accuracy) settle() {
	root := func(sum float64, n int) float64 { return math.Sqrt(sum / float64(max(1, n))) }
	a.RMS, a.Bias = root(a.RMS, a.Stated), a.Bias/float64(max(1, a.Stated))
	a.FittedRMS, a.HeldRMS = root(a.FittedRMS, a.FittedRows), root(a.HeldRMS, a.HeldRows)
}

// Accuracies sums up by class, the last of them all.
func Accuracies(all []Measured) []Accuracy {
	return accuracies(all, func(m *Measured) string { return m.Class })
}

// KindAccuracies sums up rows that have an estimate by kind of model and precision, the last of them all.
func KindAccuracies(all []Measured) []Accuracy {
	stated := slices.DeleteFunc(slices.Clone(all), func(m Measured) bool { return m.Why != "" })
	return accuracies(stated, (*Measured).Kind)
}

func accuracies(all []Measured, class func(*Measured) string) (list []Accuracy) {
	of := map[string]*Accuracy{}
	total := &Accuracy{Class: "all"}
	for i := range all {
		c := class(&all[i])
		if of[c] == nil {
			of[c] = &Accuracy{Class: c}
		}
		of[c].add(&all[i])
		total.add(&all[i])
	}
	for _, s := range of {
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b Accuracy) int { return cmp.Or(b.Rows-a.Rows, cmp.Compare(a.Class, b.Class)) })
	list = append(list, *total)
	for i := range list {
		list[i].settle()
	}
	return list
}

// HeldCoverage returns the share of held-out rows within the 90 % intervals of other rows, and their number.
func HeldCoverage(all []Measured) (share float64, judged int) {
	var held []*Measured
	for i := range all {
		if m := &all[i]; m.Why == "" && m.Held {
			held = append(held, m)
		}
	}
	return Coverage(held)
}

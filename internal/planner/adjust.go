package planner

import (
	"cmp"
	"math"
	"slices"

	"railyard/internal/field"
	"railyard/internal/workload"
)

// Change is a figure of a software before and after a fit.
type Change struct {
	Name   string  `json:"name"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// Adjusted is a software whose figures were fitted to measured trainings.
type Adjusted struct {
	Software workload.Software `json:"software"`
	Changes  []Change          `json:"changes"` // figures that the trainings determine, the most certain first
	Rows     int               `json:"rows"`
	Before   float64           `json:"rms_before"`
	After    float64           `json:"rms_after"`
	// root mean square of a fit to the other trainings; 0: fewer than three
	Out float64 `json:"rms_left_out,omitempty"`
}

// Adjust fits the figures of a software to trainings that were estimated with it. Only figures that change an
// estimate by 1 % when they change by a quarter are free, at most one for two trainings. Products and attention,
// which are known best, change least.
func Adjust(all []Measured, by *workload.Software) (*Adjusted, error) {
	var rows []*Measured
	for i := range all {
		if all[i].Why == "" {
			all[i].weight = 1
			rows = append(rows, &all[i])
		}
	}
	if len(rows) == 0 {
		return nil, field.New("", "none of %d trainings can be estimated: nothing to fit to", len(all))
	}
	names := sensitive(rows, by)
	fit := func(rows []*Measured) *workload.Software {
		s := *by
		var free []Free
		for _, p := range workload.Parameters {
			if slices.Contains(names, p.Name) {
				free = append(free, Free{Parameter: p, Softwares: []*workload.Software{&s}, Prior: prior(p.Name)})
			}
		}
		Fit(rows, func(*Measured) *workload.Software { return &s }, free)
		return &s
	}
	a := &Adjusted{Software: *fit(rows), Rows: len(rows)}
	a.Before = RMS(rows, func(*Measured) *workload.Software { return by })
	a.After = RMS(rows, func(*Measured) *workload.Software { return &a.Software })
	for _, name := range names {
		for _, p := range workload.Parameters {
			if p.Name == name {
				a.Changes = append(a.Changes, Change{name, *p.Of(by), *p.Of(&a.Software)})
			}
		}
	}
	if len(rows) >= 3 {
		sum := 0.0
		for i, m := range rows {
			e := m.off(fit(slices.Delete(slices.Clone(rows), i, i+1)))
			sum += e * e
		}
		a.Out = math.Sqrt(sum / float64(len(rows)))
		a.Software.RMS, a.Software.Rows = a.Out, len(rows)
	}
	to := slices.Clone(by.FittedTo)
	for _, m := range rows {
		if !slices.Contains(to, m.row()) {
			to = append(to, m.row())
		}
	}
	if by.Unknown() {
		to = nil // the figure does not change
	}
	a.Software.FromTrainings(by.String(), to)
	return a, nil
}

// sensitive names the figures that trainings determine, the strongest first.
func sensitive(rows []*Measured, by *workload.Software) (names []string) {
	effect := map[string]float64{}
	for _, p := range workload.Parameters {
		s := *by
		*p.Of(&s) *= 1.25
		for _, m := range rows {
			effect[p.Name] = max(effect[p.Name], math.Abs(m.Under(&s)/m.Under(by)-1))
		}
		if effect[p.Name] >= 0.01 {
			names = append(names, p.Name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(effect[b], effect[a]) })
	return names[:min(len(names), max(1, len(rows)/2))]
}

// prior is the standard deviation of a figure's logarithm around the initial value of a fit.
func prior(name string) float64 {
	switch name {
	case "matmul_bf16", "matmul_fp8", "matmul_fp4", "attention":
		return 0.15
	case "host_step_seconds":
		return 1
	}
	return 0.4
}

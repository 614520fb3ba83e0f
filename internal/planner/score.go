package planner

import (
	"railyard/internal/field"
	"railyard/internal/partition"
	"railyard/internal/workload"
	"railyard/unit"
)

// Scored is one layout with its estimated step.
type Scored struct {
	Candidate
	TFLOPs float64    `json:"tflops_per_gpu"`   // the model's operations, per second
	GPU    unit.Bytes `json:"gpu_memory_bytes"` // memory that the GPU's driver reports
	Limit  unit.Bytes `json:"limit_bytes"`      // part of gpu_memory_bytes that a layout may fill
	Fits   bool       `json:"fits"`

	Software  string `json:"software,omitempty"`
	Precision string `json:"precision"` // of matrix products
	// The interval of the step time that holds 90 % of published trainings that were not fitted.
	Low  float64 `json:"step_seconds_low,omitempty"`
	High float64 `json:"step_seconds_high,omitempty"`
	Comparison
}

// Score estimates the step of a layout; its data parallel size and microbatches follow from GPUs and batch. It refuses
// a layout that does not divide GPUs, batch or model.
func (in SearchInput) Score(l partition.Layout) (*Scored, error) {
	s, err := in.score(l)
	if err != nil {
		return nil, err
	}
	s.Precision = in.Training.Precision
	if s.Comparison = in.Compare(); s.Error != nil {
		s.Low, s.High = s.Interval(s.Error)
	}
	return s, nil
}

// score is Score without the published trainings.
func (in SearchInput) score(l partition.Layout) (*Scored, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	each := l.TP * l.PP * l.CP
	if in.Site.GPUs%each != 0 {
		key := "tp"
		if in.Site.GPUs%l.TP == 0 && l.PP > 1 {
			key = "pp"
		}
		return nil, field.New(key, "tp %d x pp %d x cp %d do not divide %d GPUs", l.TP, l.PP, l.CP, in.Site.GPUs)
	}
	if l.TP > in.Site.PerServer {
		return nil, field.New("tp", "%d is more than the %d GPUs of an NVLink domain", l.TP, in.Site.PerServer)
	}
	l.DP = in.Site.GPUs / each
	l = l.Settled(in.Training.Model)
	if err := l.Shards(); err != nil {
		return nil, err
	}
	if by := in.Training.Software; by != nil {
		if err := by.Permits(l); err != nil {
			return nil, err
		}
		by.Spends(&l)
	}
	once := int64(l.DP) * l.Micro
	if in.Training.GlobalBatch%once != 0 {
		return nil, field.New("global_batch", "%d sequences do not divide into dp %d times micro_batch %d",
			in.Training.GlobalBatch, l.DP, l.Micro)
	}
	l.Microbatches = int(in.Training.GlobalBatch / once)
	if l.EP > 1 && l.ExpertRanks()%l.EP != 0 && (l.TP*l.ExpertRanks())%l.EP == 0 {
		l.OverTP = true
	}
	l.Unfused = in.Training.Kernels == workload.Unfused
	worst, err := l.Worst(in.Training.Model)
	if err != nil {
		return nil, err
	}
	s := &Scored{Candidate: in.Estimate(l), GPU: in.Site.GPU.Usable,
		Limit: partition.Fillable(in.Site.GPU.Usable)}
	s.Memory = worst.Total()
	s.Fits = s.Memory <= s.Limit
	if by := in.Training.Software; by != nil {
		s.Software = by.String()
	}
	s.TFLOPs = s.MFU * in.Site.peak(&in.Training, 1) / 1e12
	return s, nil
}

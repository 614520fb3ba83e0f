package planner

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/model"
	"railyard/internal/workload"
)

// Week in seconds.
const Week = 7 * 24 * 3600.0

// Rules of thumb for the work of training: floating point operations per parameter and token. Forward takes two
// operations and backward four. Recomputing the forward pass for the backward one takes two more (source document
// "GPU fabrics for GenAI workloads", model mathematics; docs/references.md, megatron).
const (
	RuleStored     = 6
	RuleRecomputed = 8
)

// Size is a sizing: the number of GPUs for a training, or its time on given ones.
type Size struct {
	Params      float64 `json:"parameters"`
	Active      float64 `json:"active_parameters"`                    // parameters that a token uses: not all experts
	Embedding   float64 `json:"input_embedding_parameters,omitempty"` // of these; some publishers omit them
	Tokens      float64 `json:"tokens"`
	Rule        string  `json:"rule"` // source of FLOPs
	FLOPs       float64 `json:"flops"`
	GPU         string  `json:"gpu"`
	Precision   string  `json:"precision"`
	Peak        float64 `json:"peak_flops_per_gpu"`
	Utilisation float64 `json:"utilisation"`
	Seconds     float64 `json:"seconds"`
	GPUs        int64   `json:"gpus"`
	EnergyKWh   float64 `json:"energy_kwh"`
	EnergyOf    string  `json:"energy_of"`
	Cost        float64 `json:"cost,omitempty"`
	CostOf      string  `json:"cost_of,omitempty"`
}

// SizeInput is the question. Either Seconds or GPUs is given, and the other one is the answer.
type SizeInput struct {
	Params, Tokens float64
	Active         float64 // parameters that a token meets; 0: all
	Embedding      float64 // of these, parameters of the input embedding alone, which some publishers omit; 0: unknown
	FLOPs          float64 // floating-point operations of the whole training, if known; else PerToken
	PerToken       float64 // operations per parameter and token
	GPU            model.GPU
	Peak           float64 // FLOP/s per GPU, when given; else by Mix
	Mix            []Share
	Utilisation    float64
	Seconds        float64
	GPUs           int64
	Watts          float64 // per GPU with its share of server and cooling; 0: the device's own
	PerKWh         float64 // price of energy
	PerGPUHour     float64 // price of a GPU
}

// Share is one precision of a mix, with its share of the operations.
type Share struct {
	Precision string
	Weight    float64
}

// ParseMix reads "bf16" or "bf16:7,tf32:3".
func ParseMix(s string) ([]Share, error) {
	var out []Share
	sum := 0.0
	for _, part := range strings.Split(s, ",") {
		name, w, weighted := strings.Cut(part, ":")
		weight := 1.0
		if weighted {
			var err error
			if weight, err = strconv.ParseFloat(w, 64); err != nil || !(weight > 0) || weight > 1e6 {
				return nil, field.New("precision", "%q: the weight is a positive number, as in bf16:7,tf32:3",
					part)
			}
		}
		out = append(out, Share{strings.ToLower(name), weight})
		sum += weight
	}
	for i := range out {
		out[i].Weight /= sum
	}
	return out, nil
}

// MixPeak is the rate of a GPU for a mix of precisions. Operations at a slow precision take longer, so the mean is
// harmonic.
func MixPeak(g model.GPU, mix []Share) (float64, error) {
	t := 0.0
	for _, s := range mix {
		peak, err := g.Peak(workload.Arithmetic(s.Precision))
		if err != nil {
			return 0, err
		}
		t += s.Weight / peak
	}
	return 1 / t, nil
}

// Solve computes a sizing.
func (in SizeInput) Solve() (*Size, error) {
	s := &Size{Params: in.Params, Active: in.Active, Embedding: in.Embedding, Tokens: in.Tokens, GPU: in.GPU.Name,
		Peak: in.Peak, Utilisation: in.Utilisation, FLOPs: in.FLOPs, Rule: "given"}
	switch {
	case in.FLOPs == 0 && (!(in.Params > 0) || !(in.Tokens > 0)):
		return nil, field.New("", "parameters and tokens must be positive, found %g and %g",
			in.Params, in.Tokens)
	case in.Active < 0 || in.Active > in.Params:
		return nil, field.New("active", "%g is out of range 0–%g, the parameters of the model", in.Active,
			in.Params)
	case in.Params > 1e18 || in.Tokens > 1e18 || in.FLOPs > 1e36 || in.FLOPs < 0:
		return nil, field.New("", "%g parameters and %g tokens are not model", in.Params, in.Tokens)
	case !(in.Utilisation > 0 && in.Utilisation <= 1):
		return nil, field.New("utilisation", "%g %% is out of range: above 0, at most 100 %%",
			100*in.Utilisation)
	case (in.Seconds > 0) == (in.GPUs > 0):
		return nil, field.New("", "give either the time or the number of GPUs; the other one is the answer")
	case in.Watts < 0 || in.PerKWh < 0 || in.PerGPUHour < 0:
		return nil, field.New("", "power and prices must not be negative")
	}
	if s.Active == 0 {
		s.Active = s.Params
	}
	if s.FLOPs == 0 {
		s.FLOPs = in.PerToken * s.Active * in.Tokens
		s.Rule = fmt.Sprintf("%g operations per parameter and token", in.PerToken)
		if s.Active < s.Params {
			s.Rule = fmt.Sprintf("%g operations per active parameter and token", in.PerToken)
		}
		switch in.PerToken {
		case RuleStored:
			s.Rule += " (forward 2, backward 4)"
		case RuleRecomputed:
			s.Rule += " (forward 2, backward 4, recomputation 2)"
		}
	}
	if s.Peak == 0 {
		var err error
		if s.Peak, err = MixPeak(in.GPU, in.Mix); err != nil {
			return nil, err
		}
	}
	for i, m := range in.Mix {
		if i > 0 {
			s.Precision += ", "
		}
		s.Precision += fmt.Sprintf("%.0f %% %s", 100*m.Weight, m.Precision)
	}
	rate := s.Peak * s.Utilisation
	if in.GPUs > 0 {
		s.GPUs, s.Seconds = in.GPUs, s.FLOPs/(rate*float64(in.GPUs))
	} else {
		n := math.Ceil(s.FLOPs/(rate*in.Seconds) - 1e-9)
		if n > 1e15 {
			return nil, field.New("", "it would take %g GPUs", n)
		}
		s.GPUs, s.Seconds = int64(math.Max(n, 1)), in.Seconds
	}
	watts := in.Watts
	if s.EnergyOf = "at the watts given"; watts == 0 {
		watts, s.EnergyOf = in.GPU.Watts, "of the GPUs alone"
	}
	hours := s.Seconds / 3600 * float64(s.GPUs)
	s.EnergyKWh = watts / 1000 * hours
	switch {
	case in.PerGPUHour > 0 && in.PerKWh > 0:
		s.Cost, s.CostOf = hours*in.PerGPUHour+s.EnergyKWh*in.PerKWh, "GPU hours and energy"
	case in.PerGPUHour > 0:
		s.Cost, s.CostOf = hours*in.PerGPUHour, "GPU hours"
	case in.PerKWh > 0:
		s.Cost, s.CostOf = s.EnergyKWh*in.PerKWh, "energy"
	}
	return s, nil
}

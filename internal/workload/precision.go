package workload

import (
	"railyard/internal/field"
	"railyard/internal/model"
	"railyard/unit"
)

// BF16 is the precision that needs no casts.
const BF16 = "bf16"

// precision is an arithmetic of matrix products and the memory traffic of its casts. Each operand is read in 16 bit
// and written twice, as forward and backward passes read it along different axes.
type precision struct {
	name  string
	of    string  // format whose peak rate it has (model.GPU.Peak)
	bytes float64 // per cast value
	block bool    // block scales are computed by the GPU's arithmetic units (MX), in GPUs with fp4
}

// precisions are all of them. Scaling per tensor reads values once more, for their maximum (Micikevicius et al.
// 2022, arXiv 2209.05433). Scaling by block needs one pass (DeepSeek-V3, section 3.3: 128 values; OCP MX 1.0: 32;
// NVFP4: 16, arXiv 2509.25149).
var precisions = []precision{{BF16, "bf16", 0, false}, {"fp8", "fp8", 2 + 2 + 1 + 1, false},
	{"fp8-block", "fp8", 2 + 1 + 1, false}, {"mxfp8", "fp8", 2 + 1 + 1, true}, {"nvfp4", "fp4", 2 + 0.5 + 0.5, true}}

// Arithmetic returns the arithmetic of a precision, whose peak GPUs have: fp8 for mxfp8. Other names are unchanged.
func Arithmetic(name string) string {
	for _, p := range precisions {
		if p.name == name {
			return p.of
		}
	}
	return name
}

func precisionNames() (names []string) {
	for _, p := range precisions {
		names = append(names, p.name)
	}
	return names
}

// precision returns the training's precision, nil if there is no such precision.
func (t *Training) precision() *precision {
	name := t.Precision
	if name == "" {
		name = BF16
	}
	for i := range precisions {
		if precisions[i].name == name {
			return &precisions[i]
		}
	}
	return nil
}

// CheckPrecision rejects an unknown precision, or one that some GPU lacks.
func (t *Training) CheckPrecision(gpus ...model.GPU) error {
	p := t.precision()
	if p == nil {
		return field.Choice("precision", t.Precision, precisionNames(), "%q is not known", t.Precision)
	}
	for _, gpu := range gpus {
		if _, err := gpu.Peak(p.of); err != nil {
			return err
		}
		if p.block && gpu.FP4 == 0 {
			return field.New("precision", "%s lacks the block scales of %s; accepted: bf16, fp8, fp8-block", gpu.Name, p.name)
		}
	}
	return nil
}

// PeakOf is the rate of a GPU in the training's precision, in FLOP/s.
func (t *Training) PeakOf(gpu model.GPU) float64 {
	if p := t.precision(); p != nil {
		if peak, err := gpu.Peak(p.of); err == nil {
			return peak
		}
	}
	return gpu.BF16 // refused by Validate
}

// product is a piece of matrix products in the training's precision, with its operands' values per token and rank.
// They are cast before the forward pass, and equally many gradients before the backward pass.
func (t *Training) product(gpu model.GPU, tokens, flops, bytes, operands float64) cost {
	p := t.precision()
	if p == nil || p.bytes == 0 {
		return t.piece(gpu, gpu.BF16, tokens, flops, bytes)
	}
	c := t.piece(gpu, t.PeakOf(gpu), tokens, flops, bytes)
	cast := unit.Serialize(unit.Bytes(min(tokens*operands*p.bytes, 9e18)), gpu.HBM)
	return cost{c.forward + cast, c.inputs + cast, c.weights}
}

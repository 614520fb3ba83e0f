package partition

import (
	"railyard/unit"
)

// stack is a framework's memory use besides states and activations.
type stack struct {
	logit, logitTP float64 // bytes per logit while the loss is worked out; of ranks that share the vocabulary
	ops            bool    // selective recomputation keeps results of operations (model.KeepsOps)
	whole          bool    // with pipeline stages ZeRO 2, 3 do not divide weights; gradients in 32 bit
}

// stacks are the uses of memory by framework name.
//
// Megatron-LM's loss (core/tensor_parallel/cross_entropy.py): the product's 16 bit, their 32 bit copy, in which
// exponentials and gradient are worked out in place, and the gradient's 16 bit.
//
// PyTorch's: 16 bit, their 32 bit copy, logarithms of probabilities, their gradient. If ranks share the vocabulary
// (distributed/tensor/parallel/loss.py) the backward pass holds the logarithms, exponentials, targets, sum and
// product in 32 bit at the same time. FSDP2 under pipeline stages does not shard weights again after a forward
// pass, so that microbatches need not gather them. It adds up gradients in the type in which they are reduced
// (torchtitan, parallelize.py).
var stacks = map[string]stack{
	"megatron": {logit: 8, logitTP: 8},
	"torch":    {logit: 14, logitTP: 20, ops: true, whole: true},
}

func (l Layout) stack() stack {
	if s, ok := stacks[l.Stack]; ok {
		return s
	}
	return stacks["megatron"]
}

func (l Layout) logitBytes() float64 {
	if l.TP > 1 {
		return l.stack().logitTP
	}
	return l.stack().logit
}

// head returns the memory of FSDP for an output projection during the loss: its gathered parameters, and its
// gradient in the type of the reduction.
func (l Layout) head(params int64) int64 {
	if !l.stack().whole || l.ZeRO < 3 || l.PP > 1 {
		return 0
	}
	return (paramBytes + 4) * params
}

// gathered returns ZeRO 3's memory besides its shares: the current layer and the prefetched one, or a stage.
func (l Layout) gathered(params, pair int64) unit.Bytes {
	switch {
	case l.stack().whole && l.PP > 1 && l.ZeRO >= 2:
		return unit.Bytes((paramBytes + 4) * params)
	case l.ZeRO >= 3:
		return unit.Bytes(paramBytes * pair)
	}
	return 0
}

package partition

import "testing"

// TestStacks checks what a framework's habits add: of Llama 3.1 8B on 8 GPUs, 2 sequences of 8,192 tokens.
func TestStacks(t *testing.T) {
	m := builtin(t, "llama-3.1-8b")
	l := layout(1, 1, 8)
	l.ZeRO, l.Micro, l.Seq, l.Recompute, l.Microbatches = 3, 2, 8192, RecomputeSelective, 1
	const tokens, hidden, layers, words = 2 * 8192, 4096, 32, 128256
	for stack, want := range map[string]float64{
		// per layer 4 hidden around, queries and outputs, keys and values of a quarter each, 3 of 14,336
		"":      tokens * (2*layers*(4*hidden+2*hidden+hidden/2+3*14336) + 8*words),
		"torch": tokens*(2*layers*(2*hidden+2*hidden+hidden/4+14336)+14*words) + 6*words*hidden,
	} {
		l.Stack = stack
		r, err := l.Worst(m)
		if err != nil || float64(r.Activations) != want {
			t.Errorf("%s: %.0f bytes, %v, want %.0f", stack, float64(r.Activations), err, want)
		}
	}
	l.Stack, l.PP, l.DP, l.Microbatches = "torch", 4, 2, 4
	whole, err := l.Worst(m)
	if err != nil {
		t.Fatal(err)
	}
	l.Stack = ""
	shared, err := l.Worst(m)
	if err != nil {
		t.Fatal(err)
	}
	if most := 6 * whole.Params; int64(whole.Buffers) != most || shared.Buffers >= whole.Buffers {
		t.Errorf("a stage keeps %v, by Megatron %v; want %d", whole.Buffers, shared.Buffers, most)
	}
}

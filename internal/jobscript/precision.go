package jobscript

import "strings"

// precision sets the arithmetic of matrix products, as flags of Transformer Engine select it: bf16 without one.
// Megatron-LM's default recipe of FP8 is delayed scaling, one scale per tensor.
func (b *builder) precision() {
	set := func(key string) bool {
		switch strings.ToLower(b.vals[key].Text) {
		case "", "none", "null", "no", "false":
			return false
		}
		return true
	}
	switch {
	case set("fp4"):
		b.say("precision", "nvfp4", "fp4", "")
	case set("fp8") || b.has("fp8 on"):
		from := "fp8"
		if !set("fp8") {
			from = "fp8 on"
		}
		switch strings.ToLower(b.vals["fp8 recipe"].Text) {
		case "blockwise":
			b.say("precision", "fp8-block", "fp8 recipe", "")
		case "mxfp8":
			b.say("precision", "mxfp8", "fp8 recipe", "")
		default: // delayed, tensorwise
			b.say("precision", "fp8", from, "")
		}
	}
}

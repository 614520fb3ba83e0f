package model

import (
	"strings"
	"testing"

	"railyard/internal/sheet"
)

// The published parameter counts. The Llama figures are the exact sizes of the released checkpoints. GPT-3's papers
// round ("175 B", "13 B"), so the sum of its own table is checked to half a percent.
func TestPublishedParameters(t *testing.T) {
	exact := map[string]int64{
		"llama-2-7b": 6_738_415_616, "llama-2-70b": 68_976_648_192, "llama-3.1-8b": 8_030_261_248,
		"mixtral-8x7b":  46_702_792_704,
		"llama-3.1-70b": 70_553_706_496, "llama-3.1-405b": 405_853_388_800,
	}
	for _, name := range Names() {
		c, err := Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		if want, ok := exact[name]; ok && c.Params() != want {
			t.Errorf("%s has %d parameters, published %d", name, c.Params(), want)
		}
	}
	for name, want := range map[string]float64{"gpt3-175b": 174.6e9, "gpt3-13b": 12.85e9,
		"gpt3-125m": 125.2e6} {
		c, _ := Builtin(name)
		if got := float64(c.Params()); got < want*0.995 || got > want*1.005 {
			t.Errorf("%s has %.4g parameters, want %.4g", name, got, want)
		}
	}
}

// Megatron (SC'21, equation 3): F = 96 B s l h^2 (1 + s/6h + V/16lh) with recomputation, so forward and backward
// alone are three quarters of it.
func TestMegatronFLOPs(t *testing.T) {
	c, _ := Builtin("gpt3-175b")
	b, s, l, h, v := 1536.0, 2048.0, 96.0, 12288.0, 50257.0
	want := 72 * b * s * l * h * h * (1 + s/(6*h) + v/(12*l*h))
	if got := c.StepFLOPs(1536*2048, 2048); got < want*0.999 || got > want*1.001 {
		t.Errorf("%.6g FLOPs, want %.6g", got, want)
	}
}

func TestBadConfigs(t *testing.T) {
	for in, want := range map[string]string{
		"\x00\x01": "not a model config.json",
		`{}`:       "model_type",
		`{"model_type":"llama","hidden_size":-1}`: "hidden_size",
		`{"model_type":"llama","hidden_size":100,"num_hidden_layers":1,"num_attention_heads":3,
		  "intermediate_size":1,"vocab_size":1}`: "not a multiple",
		`{"model_type":"nemotron_h","hidden_size":64,"num_attention_heads":4,"intermediate_size":8,"vocab_size":9,
		  "hybrid_override_pattern":"MX-*"}`: "unsupported 'X'",
		`{"model_type":"nemotron_h","hidden_size":64,"num_attention_heads":4,"intermediate_size":8,"vocab_size":9,
		  "hybrid_override_pattern":"M-*","num_hidden_layers":4}`: "describes 3 layers, num_hidden_layers is 4",
		`{"model_type":"gpt_oss","hidden_size":64,"num_attention_heads":4,"intermediate_size":8,"vocab_size":9,
		  "num_hidden_layers":4,"num_local_experts":4,"num_experts_per_tok":2,"sliding_window":8,
		  "layer_types":["sliding_attention"]}`: "layer_types: has 1 entries for 4 layers",
	} {
		if _, err := Parse("x", []byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
	}
}

// Every GPU has a source, and so have most of its figures. GPUs connected in pairs divide their bandwidth.
func TestGPUsHaveSources(t *testing.T) {
	for i, s := range Sheets {
		g := GPUs[s.Key]
		if s.Sourced() == 0 || g.Source != Sheets[i].Summary("_tflops", "watts") || strings.Contains(g.Source, "topo.h") {
			t.Errorf("%s: %q", s.Key, g.Source)
		}
		if g.BF16 <= 0 || g.HBM <= 0 || g.Memory <= 0 || g.NVLink <= 0 || g.Watts <= 0 {
			t.Errorf("%s lacks a figure: %+v", s.Key, g)
		}
		if g.Pair > 0 && g.NVLink != 7*g.Pair {
			t.Errorf("%s: %v to each of seven are not %v", s.Key, g.Pair, g.NVLink)
		}
	}
	if sourced, all := sheet.Count(Sheets); 10*sourced < 8*all {
		t.Errorf("%d of %d figures have a source, want four fifths", sourced, all)
	}
}

// A token of Mixtral 8x7B uses 12.9 of its 46.7 billion parameters (Jiang et al., "Mixtral of Experts", section 1);
// without experts it uses all.
func TestActiveParams(t *testing.T) {
	for name, want := range map[string]float64{"mixtral-8x7b": 12.88e9, "llama-2-7b": 6.738e9} {
		m, err := Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(m.ActiveParams()); got < 0.999*want || got > 1.001*want {
			t.Errorf("%s: %g active parameters, want %g", name, got, want)
		}
	}
}

// TestUsable checks that drivers report about as many GiB as data sheets have GB.
func TestUsable(t *testing.T) {
	for name, g := range GPUs {
		if share := float64(g.Usable) / float64(g.Memory); share < 1 || share > 1.08 {
			t.Errorf("%s: %v usable of %v", name, g.Usable, g.Memory)
		}
	}
	if h := GPUs["h100"]; h.Usable != 81559<<20 || h.Memory != 80e9 {
		t.Errorf("H100: %v of %v", h.Usable, h.Memory)
	}
}

package jobscript

import "testing"

// TestPrecision checks that flags of FP8 and FP4 set the precision, and that none of them is without effect.
func TestPrecision(t *testing.T) {
	const megatron = "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 8192 --vocab-size 32000 " +
		"--max-position-embeddings 8192 --tensor-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 64 --bf16"
	for flags, want := range map[string]string{
		"":                                      "",
		" --fp8-format none":                    "",
		" --fp8-format hybrid":                  "fp8",
		" --fp8-format e4m3":                    "fp8",
		" --fp8-hybrid":                         "fp8",
		" --fp8-e4m3":                           "fp8",
		" --fp8-format e4m3 --fp8-recipe mxfp8": "mxfp8",
		" --fp8-format e4m3 --fp8-recipe blockwise":  "fp8-block",
		" --fp8-format hybrid --fp8-recipe delayed":  "fp8",
		" --fp8-format e4m3 --fp8-recipe tensorwise": "fp8",
		" --fp4-format e2m1":                         "nvfp4",
	} {
		text := []byte("#!/bin/bash\ntorchrun --nproc_per_node 8 train.py " + megatron + flags + "\n")
		got, err := ReadArguments([]File{{Name: "a.sh", Kind: KindOf("a.sh", text), Text: text}}, 8, readBeside)
		if err != nil {
			t.Fatal(flags, err)
		}
		if e, ok := got.Find("precision"); e.Value != want || ok != (want != "") {
			t.Errorf("%s: precision %+v, want %s", flags, e, want)
		}
		for _, v := range got.Said.Left {
			t.Errorf("%s: without effect: %s", flags, v.Name)
		}
	}
}

package jobscript

import "testing"

// TestFusedAttention checks that fused attention kernels keep no scores, as with selective recomputation, for every
// flag that selects them. Megatron-LM uses them by default.
func TestFusedAttention(t *testing.T) {
	const megatron = "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 8192 --vocab-size 32000 " +
		"--max-position-embeddings 8192 --tensor-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 64 --bf16"
	const hugging = "--model_name_or_path llama-2-7b --per_device_train_batch_size 2"
	for flags, want := range map[string]string{
		megatron: "selective",
		megatron + " --use-flash-attn --transformer-impl local":                              "selective",
		megatron + " --transformer-impl transformer_engine --attention-backend fused":        "selective",
		megatron + " --transformer-impl transformer_engine":                                  "selective",
		megatron + " --attention-backend auto":                                               "selective",
		megatron + " --attention-backend unfused":                                            "none",
		megatron + " --transformer-impl local":                                               "none",
		megatron + " --recompute-granularity full --recompute-method uniform":                "full",
		megatron + " --recompute-granularity full --recompute-method block --use-flash-attn": "full",
		hugging: "none",
		hugging + " --attn_implementation flash_attention_2":                "selective",
		hugging + " --attn_implementation eager":                            "none",
		hugging + " --use_flash_attention_2 --gradient_checkpointing false": "selective",
	} {
		text := []byte("#!/bin/bash\ntorchrun --nproc_per_node 8 train.py " + flags + "\n")
		got, err := ReadArguments([]File{{Name: "a.sh", Kind: KindOf("a.sh", text), Text: text}}, 8, readBeside)
		if err != nil {
			t.Fatal(flags, err)
		}
		if e, ok := got.Find("recompute"); !ok || e.Value != want {
			t.Errorf("%s: recompute %+v, want %s", flags, e, want)
		}
		for _, v := range got.Said.Left {
			t.Errorf("%s: without effect: %s", flags, v.Name)
		}
	}
}

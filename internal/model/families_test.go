package model

import (
	"encoding/csv"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"railyard/internal/published"
)

// models are some models with the relevant keys of their config.json, and the parameters that their authors state,
// in billions: all, and those that process a token; 0 where not stated.
var models = map[string]struct {
	config      string
	all, active float64
	within      float64 // share of the stated value, which has few digits
}{
	"Qwen2-7B": {`{"model_type":"qwen2","hidden_size":3584,"num_hidden_layers":28,"num_attention_heads":28,
		"num_key_value_heads":4,"intermediate_size":18944,"vocab_size":152064,"sliding_window":131072,
		"use_sliding_window":false}`, 7.6156, 0, 1e-4},
	"qwen3-8b":        {"", 8.1907, 0, 1e-4},
	"qwen3-30b-a3b":   {"", 30.532, 3.35, 1e-2},
	"qwen3-235b-a22b": {"", 235.09, 22.2, 1e-2},
	"deepseek-v3":     {"", 671.026, 37.6, 2e-2},
	"DeepSeek-V2-Lite": {`{"model_type":"deepseek_v2","hidden_size":2048,"num_hidden_layers":27,"num_attention_heads":16,
		"num_key_value_heads":16,"intermediate_size":10944,"moe_intermediate_size":1408,"n_routed_experts":64,
		"n_shared_experts":2,"num_experts_per_tok":6,"first_k_dense_replace":1,"q_lora_rank":null,"kv_lora_rank":512,
		"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,"vocab_size":102400}`, 15.7065, 2.66, 1e-2},
	"kimi-k2":      {"", 1026.4, 32.9, 1e-2},
	"gpt-oss-120b": {"", 116.829, 5.71, 5e-3}, // 5.13 without the embedding
	"gpt-oss-20b":  {"", 20.9148, 4.19, 5e-3}, // 3.61 without
	"Mistral-7B": {`{"model_type":"mistral","hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,
		"num_key_value_heads":8,"intermediate_size":14336,"sliding_window":4096,"vocab_size":32000}`, 7.24173, 0, 1e-4},
	"Phi-3-mini": {`{"model_type":"phi3","hidden_size":3072,"num_hidden_layers":32,"num_attention_heads":32,
		"num_key_value_heads":32,"intermediate_size":8192,"vocab_size":32064}`, 3.82108, 0, 1e-4},
	"Qwen1.5-MoE-A2.7B": {`{"model_type":"qwen2_moe","hidden_size":2048,"num_hidden_layers":24,"num_attention_heads":16,
		"num_key_value_heads":16,"intermediate_size":5632,"moe_intermediate_size":1408,"num_experts":60,
		"num_experts_per_tok":4,"shared_expert_intermediate_size":5632,"decoder_sparse_step":1,"vocab_size":151936}`,
		14.3158, 2.69, 1e-3},
	"Gemma-7B": {`{"model_type":"gemma","hidden_size":3072,"num_hidden_layers":28,"num_attention_heads":16,"head_dim":256,
		"num_key_value_heads":16,"intermediate_size":24576,"vocab_size":256000}`, 8.53768, 0, 1e-4},
	"Gemma-3-27B": {`{"model_type":"gemma3","text_config":{"model_type":"gemma3_text","hidden_size":5376,
		"num_hidden_layers":62,"num_attention_heads":32,"head_dim":128,"num_key_value_heads":16,
		"intermediate_size":21504,"sliding_window":1024,"vocab_size":262208}}`, 27.009, 0, 1e-3},
	"GLM-4-32B": {`{"model_type":"glm4","hidden_size":6144,"num_hidden_layers":61,"num_attention_heads":48,"head_dim":128,
		"num_key_value_heads":2,"intermediate_size":23040,"attention_bias":false,"vocab_size":151552}`, 32.57, 0, 1e-2},
	"Gemma-2-9B": {`{"model_type":"gemma2","hidden_size":3584,"num_hidden_layers":42,"num_attention_heads":16,"head_dim":256,
		"num_key_value_heads":8,"intermediate_size":14336,"sliding_window":4096,"vocab_size":256000}`, 9.2417, 0, 1e-4},
	"gemma-2-27b": {"", 27.227, 0, 1e-4},
	"Falcon-7B": {`{"model_type":"falcon","hidden_size":4544,"num_hidden_layers":32,"num_attention_heads":71,
		"multi_query":true,"parallel_attn":true,"vocab_size":65024}`, 6.9217, 0, 1e-4},
	"Falcon-40B": {`{"model_type":"falcon","hidden_size":8192,"num_hidden_layers":60,"num_attention_heads":128,
		"num_kv_heads":8,"new_decoder_architecture":true,"vocab_size":65024}`, 41.303, 0, 1e-3},
	"BLOOM": {`{"model_type":"bloom","n_embed":14336,"n_layer":70,"num_attention_heads":112,"vocab_size":250880}`, 176.247,
		0, 1e-4},
	"GPT-NeoX-20B": {`{"model_type":"gpt_neox","hidden_size":6144,"num_hidden_layers":44,"num_attention_heads":64,
		"intermediate_size":24576,"max_position_embeddings":2048,"vocab_size":50432}`, 20.554, 0, 1e-3},
	"OPT-175B": {`{"model_type":"opt","hidden_size":12288,"num_hidden_layers":96,"num_attention_heads":96,"ffn_dim":49152,
		"max_position_embeddings":2048,"vocab_size":50272}`, 174.6, 0, 1e-2},
	"MPT-7B": {`{"model_type":"mpt","d_model":4096,"n_layers":32,"n_heads":32,"expansion_ratio":4,"max_seq_len":2048,
		"attn_config":{"alibi":true},"no_bias":true,"vocab_size":50432}`, 6.6493, 0, 1e-4},
	"MPT-30B": {`{"model_type":"mpt","d_model":7168,"n_layers":48,"n_heads":64,"expansion_ratio":4,"max_seq_len":8192,
		"attn_config":{"alibi":true},"no_bias":true,"vocab_size":50432}`, 29.9583, 0, 1e-4},
	"Grok-1": {`{"model_type":"grok-1","hidden_size":6144,"num_hidden_layers":64,"num_attention_heads":48,
		"num_key_value_heads":8,"intermediate_size":32768,"num_experts":8,"num_experts_per_tok":2,"vocab_size":131072}`,
		314, 0, 1e-2},
	"Nemotron-4-340B": {`{"model_type":"nemotron","hidden_size":18432,"num_hidden_layers":96,"num_attention_heads":96,
		"num_key_value_heads":8,"intermediate_size":73728,"vocab_size":256000}`, 341, 0, 2e-3},
	"Nemotron-H-8B": {`{"model_type":"nemotron_h","hidden_size":4096,"num_attention_heads":32,"head_dim":128,
		"num_key_value_heads":8,"intermediate_size":21504,"mamba_num_heads":128,"mamba_head_dim":64,"ssm_state_size":128,
		"n_groups":8,"conv_kernel":4,"hybrid_override_pattern":"M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-",
		"vocab_size":131072}`, 8.1, 0, 1e-2},
	"nemotron-3-nano":  {"", 31.6, 3.6, 2e-2},
	"nemotron-3-super": {"", 120.6, 12.7, 2e-2},
	"glm-4.5":          {"", 355, 33.6, 2e-2}, // the authors state 32, without the embedding
	"GLM-4-9B": {`{"model_type":"chatglm","hidden_size":4096,"num_layers":40,"num_attention_heads":32,"kv_channels":128,
		"multi_query_attention":true,"multi_query_group_num":2,"ffn_hidden_size":13696,"add_qkv_bias":true,
		"seq_length":131072,"padded_vocab_size":151552}`, 9.4, 0, 1e-2},
	"Llama-4-Scout": {`{"model_type":"llama4","text_config":{"model_type":"llama4_text","hidden_size":5120,
		"num_hidden_layers":48,"num_attention_heads":40,"head_dim":128,"num_key_value_heads":8,"intermediate_size":8192,
		"intermediate_size_mlp":16384,"num_local_experts":16,"num_experts_per_tok":1,"interleave_moe_layer_step":1,
		"vocab_size":202048}}`, 107.8, 17.2, 1e-2},
}

// stated returns a model of models; without a config there it is a shipped one.
func stated(name string) (*Config, error) {
	if p, ok := models[name]; ok && p.config != "" {
		return Parse(name, []byte(p.config))
	}
	return Builtin(name)
}

// TestFamilies checks parameters against what each model's authors state.
func TestFamilies(t *testing.T) {
	met := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(models)) {
		p := models[name]
		c, err := stated(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		met[c.Type] = true
		all, active := float64(c.Params())/1e9, float64(c.ActiveParams())/1e9
		if math.Abs(all/p.all-1) > p.within {
			t.Errorf("%s has %.4f billion parameters, stated %.4f", name, all, p.all)
		}
		if p.active > 0 && math.Abs(active/p.active-1) > 0.05 {
			t.Errorf("%s: %.4f billion parameters work on a token, stated %.4f", name, active, p.active)
		}
	}
	for name := range families {
		switch name {
		case "llama", "mixtral", "glm", "gpt2", "gpt3": // in TestPublishedParameters, or as glm4 and opt
		default:
			if !met[name] && name != "deepseek_v2" {
				t.Errorf("no published model is of the family %s", name)
			}
		}
	}
}

// TestStepFLOPs compares the operations of a token with the count of NVIDIA's Megatron-Bridge: its TFLOP/s over its
// tokens/s, in the newest container of each model. It discounts half of attention for causal masking. Its count of
// Mamba-2 layers is about 7 % above Railyard's, so Nemotron 3 is not compared.
func TestStepFLOPs(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(string(published.Read(t, "megatron_bridge.csv")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"LLAMA3_8B": "llama-3.1-8b", "LLAMA3_70B": "llama-3.1-70b",
		"LLAMA3.1_405B": "llama-3.1-405b", "Qwen3_30B_a3B": "qwen3-30b-a3b", "Qwen3_235B_a22B": "qwen3-235b-a22b",
		"GPT OSS 120B": "gpt-oss-120b", "DeepSeekV3": "deepseek-v3"}
	judged := map[string]int{}
	for _, row := range rows[1:] {
		name, ok := names[row[3]]
		// older containers follow, which count differently
		if !ok || row[1] != "Pre-Training Performance" || judged[name] > 0 {
			continue
		}
		c, err := Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		seq, err1 := strconv.ParseInt(row[8], 10, 64)
		tokens, err2 := strconv.ParseFloat(row[16], 64)
		tflops, err3 := strconv.ParseFloat(row[17], 64)
		if err1 != nil || err2 != nil || err3 != nil || tokens == 0 {
			continue
		}
		masked := 1.5 * float64(c.Layers) * c.CoreFLOPs(seq)
		if got, want := c.StepFLOPs(1, seq)-masked, tflops*1e12/tokens; math.Abs(got/want-1) > 0.015 {
			t.Errorf("%s: %.4g operations per token, counted %.4g (%+.1f %%)", name, got, want, 100*(got/want-1))
		}
		judged[name]++
	}
	for _, name := range names {
		if judged[name] == 0 {
			t.Errorf("no row is of %s", name)
		}
	}
}

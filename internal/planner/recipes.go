package planner

import (
	"slices"
	"strings"

	"railyard/internal/workload"
)

// bridgeRecipe is the settings of Megatron-Bridge's performance recipes for a model on some GPUs (docs/references.md,
// recipes).
type bridgeRecipe struct {
	model string
	gpus  string // empty: the others
	workload.Recipe
}

var bridgeRecipes = []bridgeRecipe{
	{"qwen3-235b-a22b", "h100", workload.Recipe{Overlap: true}},
	{"qwen3-235b-a22b", "b200 b300", workload.Recipe{}},
	{"qwen3-235b-a22b", "", workload.Recipe{Graphs: workload.GraphLayers, Dedup: true}},
	{"qwen3-30b-a3b", "", workload.Recipe{Graphs: workload.GraphLayers, Dedup: true}},
	{"deepseek-v3", "b200", workload.Recipe{Dedup: true}},
	{"deepseek-v3", "", workload.Recipe{Graphs: workload.GraphLayers, Dedup: true}},
	{"gpt-oss-120b", "gb200", workload.Recipe{Overlap: true, Again: []string{"layernorm", "moe_act"}}},
	{"gpt-oss-120b", "b200", workload.Recipe{Again: []string{"layernorm", "moe_act"}}},
	{"gpt-oss-120b", "b300", workload.Recipe{Graphs: workload.GraphLayers, Dedup: true}},
	{"gpt-oss-120b", "", workload.Recipe{Graphs: workload.GraphLayers}},
	{"nemotron-3-nano", "h100", workload.Recipe{Graphs: workload.GraphLayers, Dedup: true,
		Again: []string{"moe", "layernorm", "core_attn", "moe_act"}}},
	{"nemotron-3-nano", "", workload.Recipe{Graphs: workload.GraphLayers, Dedup: true}},
	{"nemotron-3-super", "gb200", workload.Recipe{Graphs: workload.GraphLayers, Dedup: true,
		Again: []string{"moe_act", "layernorm", "core_attn", "moe"}}},
	{"nemotron-3-super", "b200", workload.Recipe{Dedup: true, Again: []string{"moe_act", "layernorm", "core_attn"}}},
	{"nemotron-3-super", "", workload.Recipe{Graphs: workload.GraphLayers, Dedup: true}},
}

// bridgeRecipeOf returns the recipe of a row of Megatron-Bridge's summary, nil if there is none. From 26.06 on,
// recipes in mxfp8 capture the step as one graph, run experts as one kernel and overlap their communication.
func bridgeRecipeOf(m *Measured, version string) *workload.Recipe {
	for _, b := range bridgeRecipes {
		if b.model != m.model || b.gpus != "" && !slices.Contains(strings.Fields(b.gpus), m.gpu) {
			continue
		}
		r := b.Recipe
		if m.model == "deepseek-v3" && m.gpu == "b200" && m.layout.EP > 8 {
			r = workload.Recipe{Graphs: workload.GraphLayers, Dedup: true, Overlap: true}
		}
		if version >= "26.06" && m.precision == "mxfp8" && !strings.HasPrefix(m.model, "nemotron-3-") {
			r = workload.Recipe{Graphs: workload.GraphStep, Overlap: true, Dedup: true, Fused: true}
		}
		return &r
	}
	return nil
}

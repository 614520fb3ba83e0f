package planner

import (
	"slices"
	"strings"

	"railyard/internal/workload"
)

// bridgeRecipe is the settings of Megatron-Bridge's performance recipes for a model, from a container on. Recipes of
// 25.11 to 26.08 are those of the releases 0.2.0, 0.3.0, 0.3.1, 0.4.0, 0.4.2, 0.5.0, 0.5.1 and 0.6.0
// (docs/references.md, recipes).
type bridgeRecipe struct {
	model      string
	gpus       string // empty: the others
	precisions string // empty: the others
	since      string
	workload.Recipe
}

// Settings that several recipes have.
var (
	layerGraphs = workload.Recipe{Graphs: workload.GraphLayers}
	sentOnce    = workload.Recipe{Dedup: true}
	both        = workload.Recipe{Graphs: workload.GraphLayers, Dedup: true}
	stepGraph   = workload.Recipe{Graphs: workload.GraphStep, Overlap: true, Dedup: true, Fused: true}
	stepFP8     = workload.Recipe{Graphs: workload.GraphStep, Overlap: true, Dedup: true, Fused: true,
		FP8Attention: true}
	normAndAct = []string{"layernorm", "moe_act"}
)

// bridgeRecipes are in order: the last one that applies counts.
var bridgeRecipes = []bridgeRecipe{
	{"qwen3-235b-a22b", "", "", "", both},
	{"qwen3-235b-a22b", "gb300", "mxfp8", "26.06", stepFP8},
	{"qwen3-235b-a22b", "h100", "", "", workload.Recipe{Overlap: true}},
	{"qwen3-235b-a22b", "h100", "", "26.02.01", workload.Recipe{Overlap: true, Dedup: true}},
	{"qwen3-235b-a22b", "h100", "", "26.04", workload.Recipe{Overlap: true}},
	{"qwen3-235b-a22b", "b300", "", "", workload.Recipe{Overlap: true}},
	{"qwen3-235b-a22b", "b300", "", "26.02.01", sentOnce},
	{"qwen3-235b-a22b", "b300", "", "26.04", workload.Recipe{}},
	{"qwen3-235b-a22b", "b300", "", "26.04.01", sentOnce},
	{"qwen3-30b-a3b", "", "", "", both},
	{"qwen3-30b-a3b", "", "mxfp8", "26.06", stepFP8},
	{"deepseek-v3", "", "", "", both},
	{"deepseek-v3", "gb200", "mxfp8", "26.06", stepGraph},
	{"deepseek-v3", "b200", "", "", workload.Recipe{}},
	{"deepseek-v3", "b200", "", "26.02", sentOnce},
	{"deepseek-v3", "b200", "", "26.04.01", workload.Recipe{Graphs: workload.GraphLayers, Dedup: true, Overlap: true}},
	{"deepseek-v3", "b300", "", "26.02", sentOnce},
	{"deepseek-v3", "b300", "", "26.04.01", both},
	{"gpt-oss-120b", "", "", "", layerGraphs},
	{"gpt-oss-120b", "gb200 b200", "", "", workload.Recipe{Again: normAndAct}},
	{"gpt-oss-120b", "gb200", "", "26.04", workload.Recipe{Overlap: true, Dedup: true, Again: normAndAct}},
	{"gpt-oss-120b", "gb200", "", "26.04.01", workload.Recipe{Overlap: true, Again: normAndAct}},
	{"gpt-oss-120b", "b200", "", "26.04", workload.Recipe{Dedup: true, Again: normAndAct}},
	{"gpt-oss-120b", "b200", "", "26.04.01", workload.Recipe{Again: normAndAct}},
	{"gpt-oss-120b", "b300", "", "26.04", both},
	{"gpt-oss-120b", "gb200 gb300", "mxfp8", "26.06", stepFP8},
	{"nemotron-3-nano", "", "", "", both},
	{"nemotron-3-nano", "h100", "fp8", "", workload.Recipe{Graphs: workload.GraphLayers, Dedup: true,
		Again: []string{"moe", "layernorm", "core_attn", "moe_act"}}},
	{"nemotron-3-super", "", "", "", both},
	{"nemotron-3-super", "b200", "mxfp8", "", workload.Recipe{Dedup: true, Again: normAndAct}},
	{"nemotron-3-super", "", "nvfp4", "", workload.Recipe{Graphs: workload.GraphLayers, Dedup: true, BF16Layers: 14}},
	{"nemotron-3-super", "b300", "nvfp4", "", workload.Recipe{Graphs: workload.GraphLayers, Dedup: true, BF16Layers: 14,
		Again: normAndAct}},
}

// bridgeRecipeOf returns the recipe of a row of Megatron-Bridge's summary, nil if there is none.
func bridgeRecipeOf(m *Measured, version string) (r *workload.Recipe) {
	among := func(list, one string) bool { return list == "" || slices.Contains(strings.Fields(list), one) }
	for i := range bridgeRecipes {
		b := &bridgeRecipes[i]
		if b.model == m.model && among(b.gpus, m.gpu) && among(b.precisions, m.precision) && b.since <= version {
			r = &b.Recipe
		}
	}
	return r
}

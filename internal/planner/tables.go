package planner

import (
	"fmt"

	"railyard/internal/model"
)

// TableRow is a row of the source's tables 1 to 3, computed.
type TableRow struct {
	Model       string  `json:"model"`
	Params      float64 `json:"parameters_billion"`
	Tokens      float64 `json:"tokens_billion"`
	ZFLOPs      float64 `json:"zflops"`
	Rule        string  `json:"rule"`
	GPU         string  `json:"gpu"`
	TFLOPs      float64 `json:"gpu_tflops"`
	Utilisation float64 `json:"utilisation"`
	Weeks       float64 `json:"weeks"`
	GPUs        int64   `json:"gpus"`
	Published   int64   `json:"published_gpus"`
}

// seedModels are the models of the tables. The source document gives the operations of a training as published, if
// they are. Otherwise it uses a rule of 6 to 8 operations per parameter and token; zflops 0 means rule 8.
var seedModels = []struct {
	name           string
	params, tokens float64 // billions
	zflops         float64
	published      [3]int64
}{
	{"OPT", 175, 300, 430, [3]int64{3798, 1482, 474}},
	{"LLaMA", 65, 1400, 600, [3]int64{5300, 2067, 662}},
	{"LLaMA 2", 34, 2000, 400, [3]int64{3533, 1378, 441}},
	{"LLaMA 2", 70, 2000, 800, [3]int64{7066, 2756, 882}},
	{"GPT-3", 175, 300, 0, [3]int64{3710, 1447, 463}},
	{"GPT-4 (estimate)", 1500, 2600, 0, [3]int64{275574, 107474, 34392}},
}

// seedGPUs are the tables' assumptions: the rate per GPU and its utilisation.
var seedGPUs = []struct {
	gpu         string
	tflops      float64
	utilisation float64
	note        string
}{
	{"a100", 624, 0.3, "624 TFLOPS is the A100's BF16 rate with sparsity; its dense rate is half, TF32's a quarter"},
	{"h100", 1600, 0.3, "1,600 TFLOPS is a mix of BF16 and TF32 with sparsity, 7 to 3; dense rates give 761"},
	{"h100", 3000, 0.5,
		"3,000 TFLOPS is between the H100's dense FP8 rate, 1,979, and the one with sparsity, 3,958"},
}

// SeedTables is the number of tables.
const SeedTables = 3

// SeedTable computes the rows of table n, from 1, and returns the meaning of its rate.
func SeedTable(n int) (rows []TableRow, note string, err error) {
	if n < 1 || n > SeedTables {
		return nil, "", fmt.Errorf("unknown table %d; accepted: 1 to %d", n, SeedTables)
	}
	g := seedGPUs[n-1]
	gpu, err := model.FindGPU(g.gpu)
	if err != nil {
		return nil, "", err
	}
	for _, m := range seedModels {
		in := SizeInput{Params: m.params * 1e9, Tokens: m.tokens * 1e9, FLOPs: m.zflops * 1e21,
			PerToken: RuleRecomputed, GPU: gpu, Peak: g.tflops * 1e12,
			Utilisation: g.utilisation, Seconds: Week}
		s, err := in.Solve()
		if err != nil {
			return nil, "", err
		}
		per := s.FLOPs / (s.Params * s.Tokens)
		rule := fmt.Sprintf("published, %.1f", per)
		if m.zflops == 0 {
			rule = fmt.Sprintf("rule of %d", RuleRecomputed)
		}
		rows = append(rows, TableRow{m.name, m.params, m.tokens, s.FLOPs / 1e21, rule, g.gpu, g.tflops,
			g.utilisation, 1, s.GPUs, m.published[n-1]})
	}
	return rows, g.note, nil
}

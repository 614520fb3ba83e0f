package planner

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/model"
	"railyard/internal/partition"
	"railyard/internal/workload"
	"railyard/unit"
)

// Measured is one training with a measured step time, and the cost model's estimate of it.
type Measured struct {
	ID       string  `json:"id"`
	Class    string  `json:"class"` // whose measurement
	Layout   string  `json:"layout,omitempty"`
	Seconds  float64 `json:"measured_seconds"`
	Estimate float64 `json:"estimated_seconds,omitempty"`
	Why      string  `json:"not_stated,omitempty"` // reason why there is no estimate
	Held     bool    `json:"held_out,omitempty"`   // no parameter was fitted to it
	Noted    bool    `json:"noted,omitempty"`      // whether the source has a note about the figure: no fit uses it

	model, gpu, precision string
	gpus                  int
	global, seq           int64
	layout                partition.Layout
	software              string // name@version
	recipe                *workload.Recipe
	input                 SearchInput // input of the row's estimate
	scored                partition.Layout
	weight                float64 // weight in a fit
	plain                 bool    // the model without the layers that predict further tokens
}

// Assumed are properties of a table's trainings that the table does not state.
type Assumed struct {
	Efficiency float64            // this percentage of the peak for all rows; 0: by software
	Kernels    string             // kernels' time with Efficiency; "": flat
	Software   *workload.Software // the framework of all rows; nil: of each row
}

// FindModel returns a model by name.
type FindModel func(name string) (*model.Config, error)

// ReadMeasured reads a table of measured trainings and estimates each. Its columns are model, gpu, gpus, tp, pp,
// cp, ep, vpp, micro, global_batch, sequence, zero, recompute, step_seconds, source, or the columns of
// Megatron-Bridge's performance summary. An error is about the table; a row without an estimate has the reason.
func ReadMeasured(r io.Reader, find FindModel, by Assumed) ([]Measured, error) {
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) < 2 {
		return nil, errors.New("has no rows")
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[strings.TrimSpace(name)] = i
	}
	read := readRun
	if _, ok := at["Tokens / sec / GPU"]; ok {
		read = readBridge
	} else if _, ok := at["step_seconds"]; !ok {
		return nil, fmt.Errorf("line 1: found no column step_seconds, nor Tokens / sec / GPU; its columns are %s",
			strings.Join(rows[0], ", "))
	}
	var all []Measured
	for i, row := range rows[1:] {
		c := &cells{row: row, at: at}
		m := read(c)
		if c.err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, c.err)
		}
		switch {
		case m.Why != "":
		case m.Seconds < 1e-6:
			m.Why = "lacks its step time"
		default:
			m.estimate(find, by)
		}
		all = append(all, m)
	}
	return all, nil
}

// cells is a row by column.
type cells struct {
	row []string
	at  map[string]int
	err error
}

func (c *cells) text(name string) string {
	if i, ok := c.at[name]; ok {
		return strings.TrimSpace(c.row[i])
	}
	return ""
}

// num returns a cell's number; 1 if it is empty or does not apply.
func (c *cells) num(name string) float64 {
	s := c.text(name)
	if s == "" || s == "n/a" {
		return 1
	}
	first, _, _ := strings.Cut(s, " (") // 37556 (36108): the second one is of an earlier container
	v, err := strconv.ParseFloat(first, 64)
	if (err != nil || !(v >= 0) || v > 1<<40) && c.err == nil {
		c.err = fmt.Errorf("column %s: found %q, expected a number", name, s)
	}
	return v
}

func (c *cells) whole(name string) int { return int(c.num(name)) }

// readRun reads a row of the first kind.
func readRun(c *cells) Measured {
	l := partition.Layout{TP: c.whole("tp"), PP: c.whole("pp"), CP: c.whole("cp"), EP: c.whole("ep"),
		VPP: c.whole("vpp"), ZeRO: c.whole("zero"), Micro: int64(c.num("micro")), Seq: int64(c.num("sequence")),
		Recompute: c.text("recompute")}
	return Measured{ID: c.text("id"), Class: c.text("source"), Seconds: c.num("step_seconds"), model: c.text("model"),
		gpu: c.text("gpu"), gpus: c.whole("gpus"), global: int64(c.num("global_batch")), seq: l.Seq, layout: l,
		precision: cmp.Or(c.text("precision"), workload.BF16),
		software:  cmp.Or(c.text("software"), stack(c.text("source")))}
}

// bridgeModels and bridgePrecisions are Megatron-Bridge's names.
var (
	bridgeModels = map[string]string{"LLAMA3_8B": "llama-3.1-8b", "LLAMA3_70B": "llama-3.1-70b",
		"LLAMA3.1_405B": "llama-3.1-405b", "DeepSeekV3": "deepseek-v3", "DeepSeekV3 (w/ MTP)": "deepseek-v3",
		"GPT OSS 120B": "gpt-oss-120b", "Qwen3_30B_a3B": "qwen3-30b-a3b", "Qwen3_235B_a22B": "qwen3-235b-a22b",
		"Nemotron_3_Nano": "nemotron-3-nano", "Nemotron_3_Super": "nemotron-3-super",
		"DeepSeekV3 (w/o MTP)": "deepseek-v3"}
	bridgePrecisions = map[string]string{"BF16": "bf16", "FP8": "fp8", "FP8-CS": "fp8", "FP8-CS (FP8-MX)": "mxfp8",
		"FP8-MX": "mxfp8", "MXFP8": "mxfp8", "NVFP4": "nvfp4"}
)

// readBridge reads a row of Megatron-Bridge's summary: it shares the optimizer's states (ZeRO 1), or with FSDP all.
func readBridge(c *cells) Measured {
	l := partition.Layout{TP: c.whole("TP"), PP: c.whole("PP"), CP: c.whole("CP"), EP: c.whole("EP"),
		VPP: c.whole("VP"), ZeRO: 1, Micro: int64(c.num("MBS")), Seq: int64(c.num("Sequence Length")),
		Recompute: partition.RecomputeSelective}
	if c.num("FSDP") > 1 {
		l.ZeRO = 3
	}
	l.OverTP = l.TP > 1 && l.EP > 1 // its experts are not split: expert_tensor_parallel_size is 1
	version, _, _ := strings.Cut(c.text("container"), " ")
	m := Measured{software: "megatron-bridge@" + version, Class: "Megatron-Bridge " + c.text("Precision"),
		gpus: c.whole("#-GPUs"), global: int64(c.num("GBS")),
		seq: l.Seq, layout: l, gpu: strings.ToLower(strings.TrimPrefix(c.text("System"), "DGX-")),
		plain: strings.Contains(c.text("Model"), "w/o MTP"), model: bridgeModels[c.text("Model")],
		precision: bridgePrecisions[c.text("Precision")]}
	m.recipe = bridgeRecipeOf(&m, version)
	m.Noted = strings.Contains(c.text("Model TFLOP / sec / GPU"), "[^")
	m.ID = fmt.Sprintf("%s %s %d, %s", c.text("Model"), m.gpu, m.gpus, c.text("container"))
	switch tokens := c.num("Tokens / sec / GPU"); {
	case strings.HasPrefix(c.text("kind"), "LoRA"):
		m.Why = "LoRA: frozen weights, which have no gradients, are not modelled"
	case m.model == "":
		m.Why = "no shipped model is " + c.text("Model")
	case m.precision == "":
		m.Why = "unknown precision " + c.text("Precision")
	case tokens <= 1:
		m.Why = "lacks its tokens/s"
	default:
		m.Seconds = float64(m.global*m.seq) / tokens / float64(m.gpus)
	}
	return m
}

// rackScale are GPUs of a rack of 72 on NVLink.
var rackScale = []string{"gb200", "gb300"}

// estimate calls the cost model, for a fabric without oversubscription and the GPU's own NICs.
func (m *Measured) estimate(find FindModel, by Assumed) {
	fail := func(err error) { m.Why = err.Error() }
	gpu, err := model.FindGPU(m.gpu)
	if err != nil {
		fail(err)
		return
	}
	t := workload.NewTraining()
	if t.Model, err = find(m.model); err != nil {
		fail(err)
		return
	}
	if m.plain {
		t.Model = t.Model.WithoutMTP()
	}
	t.Name, t.GlobalBatch, t.Seq = m.model, m.global, m.seq
	if t.Precision = m.precision; by.Efficiency > 0 {
		t.Efficiency, t.Kernels = by.Efficiency, cmp.Or(by.Kernels, t.Kernels)
	} else if t.Software = by.Software; by.Software != nil {
		m.software = by.Software.Name
	} else if t.Software, err = workload.FindSoftware(m.software); err != nil {
		fail(err)
		return
	}
	per := 8
	if slices.Contains(rackScale, gpu.Name) {
		per = 72
	}
	m.layout.Sequence = m.layout.TP > 1
	if by.Software == nil {
		t.Recipe = m.recipe
	}
	in := SearchInput{Training: t, Site: Site{GPU: gpu, GPUs: m.gpus, PerServer: per, NVLink: gpu.Reached(),
		NIC: gpu.NIC, Latency: 3 * unit.Microsecond, NVLatency: unit.Microsecond, Ratio: 1, Upper: 1,
		Segment: max(1, m.gpus/per), QPs: 1, Spread: true}}
	s, err := in.score(m.layout)
	if err != nil {
		fail(err)
		return
	}
	if used := s.MFU * s.Seconds / m.Seconds; used > 1 {
		m.Why = fmt.Sprintf("its step time of %g s takes %.0f TFLOP/s per GPU, above the peak of %.0f", m.Seconds,
			used*t.PeakOf(gpu)/1e12, t.PeakOf(gpu)/1e12)
		return
	}
	m.input, m.scored, m.weight = in, s.Layout, 1
	m.Layout, m.Estimate = s.Layout.String(), s.Seconds
	m.Held = t.Software != nil && !t.Software.Unknown() && !slices.Contains(published.Fitted, m.cellOf()) &&
		!slices.Contains(t.Software.FittedTo, m.row())
}

// row identifies a training by all columns of a table, as a fitted software lists it.
func (m *Measured) row() string {
	return fmt.Sprintf("%s on %d %s, %s, %s, %d sequences of %d: %g s", m.model, m.gpus, m.gpu, m.precision, m.Layout,
		m.global, m.seq, m.Seconds)
}

// stacks are frameworks by their names in the source of a measurement.
var stacks = []struct{ part, software string }{{"MaxText", "maxtext"}, {"JAX", "maxtext"},
	{"dgxc-benchmarking", "nemo"}, {"llm-foundry", "llm-foundry"}, {"nanotron", "nanotron"},
	{"torchtitan", "torchtitan"}, {"Megatron", "megatron-lm"}, {"Korthikanti", "megatron-lm"}}

// stack returns the framework of a measurement by its source; custom if the source has none.
func stack(source string) string {
	for _, s := range stacks {
		if strings.Contains(source, s.part) {
			return s.software
		}
	}
	return "custom"
}

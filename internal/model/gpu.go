package model

import (
	_ "embed"
	"encoding/json"
	"errors"
	"sort"
	"strings"

	"railyard/internal/field"
	"railyard/internal/sheet"
	"railyard/unit"
)

//go:embed gpus.json
var gpuData []byte

// GPU is an accelerator; figures are dense peaks, per direction and device.
type GPU struct {
	Name            string
	TF32, BF16, FP8 float64 // FLOP/s; 0: it has no such arithmetic
	FP4             float64
	HBM             unit.Rate
	Memory          unit.Bytes // memory of the data sheet
	Usable          unit.Bytes // memory reported by its driver: data sheets' GB are nearly GiB; Memory if unknown
	NVLink          unit.Rate  // rate per direction to all others, for any vendor's name
	Share           float64    // share of NVLink's rate that kernels reach; 0: all, no lower value is known
	Pair            unit.Rate  // rate per direction to each other GPU, if connected without a switch
	NIC             unit.Rate
	Links           int     // NVLinks of a GPU; 0: unknown
	SM              int     // compute capability, 90 for an H100; 0: not NVIDIA's
	Watts           float64 // watts of the device alone
	Source          string
}

// Reached is the part of NVLink's rate that kernels reach.
func (g GPU) Reached() unit.Rate {
	if g.Share == 0 {
		return g.NVLink
	}
	return unit.Rate(float64(g.NVLink)*g.Share + 0.5)
}

// Sheets are the data sheets of gpus.json. Not all manufacturers' pages were available. A figure names the document
// from which it was read, which may repeat the manufacturer's figure; a figure without a document is unsourced.
var Sheets, sheetsErr = sheet.Read(gpuData)

// GPUs are the accelerators of gpus.json, the vendors' published figures.
var GPUs = loadGPUs()

func loadGPUs() map[string]GPU {
	var rows []struct {
		Name   string  `json:"key"`
		TF32   float64 `json:"tf32_tflops"`
		BF16   float64 `json:"bf16_tflops"`
		FP8    float64 `json:"fp8_tflops"`
		FP4    float64 `json:"fp4_tflops"`
		Memory int64   `json:"memory_gb"`
		Usable int64   `json:"memory_mib"`
		HBM    int64   `json:"hbm_gbytes_s"`
		NVLink int64   `json:"nvlink_gbytes_s"`
		Share  float64 `json:"nvlink_share"`
		Pair   int64   `json:"pair_gbytes_s"`
		NIC    int64   `json:"nic_gbps"`
		Links  int     `json:"nvlinks"`
		SM     int     `json:"sm"`
		Watts  float64 `json:"watts"`
	}
	if err := json.Unmarshal(gpuData, &rows); err != nil || sheetsErr != nil {
		panic(errors.Join(err, sheetsErr)) // the embedded table is wrong: our bug
	}
	m := map[string]GPU{}
	for i, r := range rows {
		usable := unit.Bytes(r.Usable) * unit.MiB
		if usable == 0 {
			usable = unit.Bytes(r.Memory) * unit.GB
		}
		m[r.Name] = GPU{r.Name, r.TF32 * 1e12, r.BF16 * 1e12, r.FP8 * 1e12, r.FP4 * 1e12,
			unit.Rate(r.HBM*8) * unit.Gbps, unit.Bytes(r.Memory) * unit.GB, usable,
			unit.Rate(r.NVLink*8) * unit.Gbps, r.Share, unit.Rate(r.Pair*8) * unit.Gbps,
			unit.Rate(r.NIC) * unit.Gbps, r.Links, r.SM, r.Watts,
			Sheets[i].Summary("_tflops", "watts")}
	}
	return m
}

// GPUNames lists the accelerators.
func GPUNames() []string {
	var names []string
	for n := range GPUs {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// FindGPU returns an accelerator by its name.
func FindGPU(name string) (GPU, error) {
	if g, ok := GPUs[strings.ToLower(name)]; ok {
		return g, nil
	}
	return GPU{}, field.Choice("", name, GPUNames(), "unknown GPU %q", name).ListedBy("railyard models")
}

// Peak returns the dense rate of a precision: tf32, bf16, fp16, fp8 or fp4.
func (g GPU) Peak(precision string) (float64, error) {
	rate, ok := map[string]float64{"tf32": g.TF32, "bf16": g.BF16, "fp16": g.BF16, "fp8": g.FP8, "fp4": g.FP4}[precision]
	switch {
	case !ok:
		return 0, field.Choice("precision", precision, []string{"tf32", "bf16", "fp16", "fp8", "fp4"},
			"%q is not known", precision)
	case rate == 0:
		return 0, field.New("precision", "%s has no %s arithmetic", g.Name, precision)
	}
	return rate, nil
}

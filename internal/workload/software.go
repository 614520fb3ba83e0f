package workload

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/partition"
)

//go:embed software.json
var softwareData []byte

// Software is a training framework: the efficiency of its kernels and its overheads in a step. Shares are parts of 1.
type Software struct {
	Name    string `json:"name"`
	Version string `json:"version"` // the first one that the figures describe; empty: all, or all before the next

	// Shares of peaks. Matmul is the efficiency of large dense matrix products, relative to the peak of their
	// precision: 16, 8 and 4 bit.
	Matmul16 float64 `json:"matmul_bf16"`
	Matmul8  float64 `json:"matmul_fp8"`
	Matmul4  float64 `json:"matmul_fp4"`
	// Attention is the efficiency of attention scores relative to the bf16 peak, without operations that causal masking
	// omits.
	Attention float64 `json:"attention"`
	Memory    float64 `json:"memory"` // part of the GPU's memory rate that kernels without matrix products reach

	// Passes of 16 bit values through memory in the forward pass, with twice as many backward. memory passes over
	// tokens sent to experts: permutation, casts, activation, sum by weight
	ExpertPasses float64 `json:"expert_passes"`
	FusedPasses  float64 `json:"fused_passes"` // the same with a recipe of fused experts
	// memory passes over the width of experts whose clamped activation is not fused
	ClampPasses float64 `json:"clamp_passes"`
	ScanPasses  float64 `json:"scan_passes"` // memory passes over a Mamba-2 block's scanned data

	// Minimum host time in seconds of a layer and microbatch, forward and backward: launches of kernels, and
	// HostExpert for each expert of a rank.
	HostLayer  float64 `json:"host_layer_seconds"`
	HostExpert float64 `json:"host_expert_seconds"`
	HostStep   float64 `json:"host_step_seconds"` // host time of a step: data, logging, the optimizer's launches

	// Shares of transfers that computing hides: of tensor parallel ones, of all parts but one of each rank's
	HideTensor float64 `json:"hide_tensor"`
	HideExpert float64 `json:"hide_expert"` // part hidden with a recipe that overlaps experts

	// Supported features. Of lists, none is all.
	PipelineZeRO int      `json:"zero_with_pp"` // the highest ZeRO stage that it combines with pipeline stages
	ZeRO         []int    `json:"zero,omitempty"`
	Schedules    []string `json:"schedules,omitempty"`
	MaxPP        int      `json:"max_pp,omitempty"`    // 0: no limit
	Stack        string   `json:"memory_as,omitempty"` // megatron or torch; empty: megatron

	// GradBytes is the bytes of a gradient element with weights in bf16; 0: as weights
	GradBytes int64 `json:"grad_bytes,omitempty"`

	Recipe Recipe `json:"recipe"` // defaults of a run
	Source string `json:"source"`

	// First and last version to which the available measurements belong; empty: they have no version.
	From  string `json:"from,omitempty"`
	Until string `json:"until,omitempty"`

	// Of figures written by plan fit: the error of held-out trainings, as a logarithm, and their number.
	RMS  float64 `json:"rms_log,omitempty"`
	Rows int     `json:"rows,omitempty"`
	// FittedTo are the trainings of the fit, as named in planner.Measured; nil: a shipped framework.
	FittedTo []string `json:"fitted_to,omitempty"`
}

// Recipe is the settings of a run besides its layout.
type Recipe struct {
	// CUDA graphs of layers but their experts, or of the step; empty: none
	Graphs string `json:"graphs,omitempty"`
	// whether tokens are sent to experts while another microbatch computes
	Overlap bool `json:"overlap,omitempty"`
	// whether a token is sent once to each rank and domain with experts of it (DeepEP, HybridEP)
	Dedup bool `json:"dedup,omitempty"`
	Fused bool `json:"fused,omitempty"` // casts, products and activation of experts are one kernel
	// whether attention's products are in FP8 (fp8_dot_product_attention)
	FP8Attention bool     `json:"fp8_attention,omitempty"`
	BF16Layers   int      `json:"bf16_layers,omitempty"` // layers that keep products in 16 bits
	Again        []string `json:"again,omitempty"`       // modules recomputed in the backward pass, by Megatron's names
}

// Graphs of a recipe.
const (
	GraphLayers = "layers"
	GraphStep   = "step"
)

// Softwares are the rows of software.json, versions of a name in order. Values that are counted and not fitted:
// docs/references.md, software.
var Softwares = loadSoftware()

func loadSoftware() (all []Software) {
	if err := json.Unmarshal(softwareData, &all); err != nil {
		panic(err) // the embedded table is wrong: our bug
	}
	return all
}

// SoftwareNames lists the frameworks.
func SoftwareNames() (names []string) {
	for _, s := range Softwares {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return names
}

// ReadSoftware reads the figures of a framework that plan fit wrote.
func ReadSoftware(b []byte) (*Software, error) {
	s := &Software{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("is not a software as plan fit writes it: %w", err)
	}
	for _, p := range Parameters {
		if v := *p.Of(s); !(v >= p.Min && v <= p.Max) {
			return nil, field.New(p.Name, "%g is out of range %g–%g", v, p.Min, p.Max)
		}
	}
	if !(s.Memory > 0 && s.Memory <= 1) || !(s.RMS >= 0 && s.RMS < 10) || s.Rows < 0 {
		return nil, field.New("memory", "%g is out of range: above 0, at most 1", s.Memory)
	}
	return s, nil
}

// FindSoftware returns a framework by name, or by name@version: the newest row up to that version. Without a
// version it is the newest one. A version that no measurement is of is refused.
func FindSoftware(name string) (*Software, error) {
	name, version, versioned := strings.Cut(name, "@")
	if i := slices.IndexFunc(Softwares, func(s Software) bool { return s.Name == name }); i >= 0 && versioned {
		first := &Softwares[i]
		switch {
		case first.From == "":
			return nil, field.New("software", "%s has no versions, found %s; accepted: %s", name, field.Quote(version), name)
		case !numbered.MatchString(version), compareVersions(version, first.From) < 0,
			compareVersions(version, first.Until) > 0 && !strings.HasPrefix(version, first.Until+"."):
			return nil, field.New("software", "%s has no version %s; accepted: %s@%s to %s, or %s for the newest", name,
				field.Quote(version), name, first.From, first.Until, name)
		}
	}
	var found *Software
	for i := range Softwares {
		if s := &Softwares[i]; s.Name == name && (!versioned || compareVersions(s.Version, version) <= 0) {
			found = s
		}
	}
	switch {
	case found != nil:
		return found, nil
	}
	return nil, field.Choice("software", name, SoftwareNames(), "%q is not known", name)
}

// ownSource begins the source of a software written by plan fit.
const ownSource = "fitted to trainings of one's own"

// FromTrainings sets the source of a software that was fitted to the user's trainings, and lists them.
func (s *Software) FromTrainings(base string, rows []string) {
	s.Source, s.FittedTo = ownSource+", from "+base, rows
}

// Unknown reports whether a software was fitted to trainings that it does not list, as older versions wrote it.
func (s *Software) Unknown() bool {
	return s.FittedTo == nil && (s.Rows > 0 || strings.HasPrefix(s.Source, ownSource))
}

// numbered is a version.
var numbered = regexp.MustCompile(`^[0-9]{1,6}([.][0-9]{1,6}){0,3}$`)

// Scaled returns the framework with matrix products and attention at so much of their rates.
func (s *Software) Scaled(by float64) Software {
	x := *s
	for _, share := range []*float64{&x.Matmul16, &x.Matmul8, &x.Matmul4, &x.Attention} {
		*share *= by
	}
	return x
}

// Permits refuses a layout that the framework cannot run.
func (s *Software) Permits(l partition.Layout) error {
	switch {
	case s.MaxPP > 0 && l.PP > s.MaxPP:
		return field.New("pp", "%s has no pipeline stages, found %d; accepted: 1", s.Name, l.PP)
	case len(s.ZeRO) > 0 && !slices.Contains(s.ZeRO, l.ZeRO) && (l.ZeRO > 0 || l.DP*l.CP > 1):
		return field.New("zero", "%s does not have stage %d; accepted: %s", s.Name, l.ZeRO,
			strings.Trim(strings.Join(strings.Fields(fmt.Sprint(s.ZeRO)), ", "), "[]"))
	case l.PP > 1 && l.ZeRO > s.PipelineZeRO:
		return field.New("zero", "%s does not combine stage %d with pp %d; accepted: 0 to %d", s.Name, l.ZeRO, l.PP,
			s.PipelineZeRO)
	case l.PP > 1 && len(s.Schedules) > 0 && !slices.Contains(s.Schedules, l.Schedule):
		return field.Choice("schedule", l.Schedule, s.Schedules, "%s does not have %q", s.Name, l.Schedule)
	}
	return nil
}

// Spends sets how a layout spends memory by the framework: its stack, and the bytes of its gradients.
func (s *Software) Spends(l *partition.Layout) {
	l.Stack = s.Stack
	if s.GradBytes > 0 {
		l.GradBytes = s.GradBytes
	}
}

// LowestZeRO is the lowest stage of the framework, for a number of ranks that can share states. A single rank
// shares none. Without a framework it is 0.
func (s *Software) LowestZeRO(replicas int) int {
	if s == nil || len(s.ZeRO) == 0 || replicas <= 1 {
		return 0
	}
	return slices.Min(s.ZeRO)
}

// compareVersions orders versions by their numbers: 25.11 before 26.04 before 26.04.01.
func compareVersions(a, b string) int {
	parts := func(s string) (n []int) {
		for _, p := range strings.Split(s, ".") {
			v := 0
			fmt.Sscanf(p, "%d", &v)
			n = append(n, v)
		}
		return n
	}
	return slices.Compare(parts(a), parts(b))
}

// String is the name with the version.
func (s *Software) String() string {
	if s.Version == "" {
		return s.Name
	}
	return s.Name + " " + s.Version
}

// Parameter is a figure of a Software that measurements can determine, and its bounds.
type Parameter struct {
	Name     string
	Of       func(*Software) *float64
	Min, Max float64
}

// Parameters are all of them.
var Parameters = []Parameter{
	{"matmul_bf16", func(s *Software) *float64 { return &s.Matmul16 }, 0.3, 0.9},
	{"matmul_fp8", func(s *Software) *float64 { return &s.Matmul8 }, 0.3, 0.9},
	{"matmul_fp4", func(s *Software) *float64 { return &s.Matmul4 }, 0.2, 0.9},
	{"attention", func(s *Software) *float64 { return &s.Attention }, 0.1, 0.9},
	{"expert_passes", func(s *Software) *float64 { return &s.ExpertPasses }, 4, 200},
	{"fused_passes", func(s *Software) *float64 { return &s.FusedPasses }, 4, 200},
	{"clamp_passes", func(s *Software) *float64 { return &s.ClampPasses }, 4, 200},
	{"scan_passes", func(s *Software) *float64 { return &s.ScanPasses }, 2, 400},
	{"host_layer_seconds", func(s *Software) *float64 { return &s.HostLayer }, 1e-4, 0.05},
	{"host_expert_seconds", func(s *Software) *float64 { return &s.HostExpert }, 1e-6, 0.005},
	{"host_step_seconds", func(s *Software) *float64 { return &s.HostStep }, 1e-3, 5},
	{"hide_tensor", func(s *Software) *float64 { return &s.HideTensor }, 0, 1},
	{"hide_expert", func(s *Software) *float64 { return &s.HideExpert }, 0, 1},
}

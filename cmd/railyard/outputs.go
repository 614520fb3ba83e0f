package main

import (
	"net/netip"

	"railyard/internal/calibrate/fitting"
	"railyard/internal/cause"
	"railyard/internal/identify"
	"railyard/internal/partition"
	"railyard/internal/perftest"
	"railyard/internal/perftest/bench"
	"railyard/internal/planner"
	"railyard/internal/result"
	"railyard/internal/speed"
	"railyard/internal/study/layouts"
	"railyard/internal/study/tuning"
	"railyard/internal/submission"
	"railyard/internal/topo"
	"railyard/internal/tune"
	"railyard/internal/validate"
	"railyard/internal/whatif"
	"railyard/unit"
)

// Results that commands print with --json and that no package has a type for. Their fields are in the order of their
// names.

type benchResult struct {
	Cores   int         `json:"cores"`
	Go      string      `json:"go"`
	Rows    []speed.Row `json:"rows"`
	Version string      `json:"version"`
}

type checkResult struct {
	Notes      []string          `json:"notes"`
	Operations *int              `json:"operations,omitempty"` // absent if the scenario cannot be simulated
	Resolved   map[string]string `json:"resolved"`
}

// compareRun is a run of a variant: a *result.Summary, a failedRun or an unfitVariant.
type compareRun any

type failedRun struct {
	Error string `json:"error"`
}

type unfitVariant struct {
	Unfit string `json:"unfit"`
}

type tuneResult struct {
	Baseline *tune.Trial    `json:"baseline"`
	Best     tune.Trial     `json:"best"`
	Front    []tune.Trial   `json:"front"`
	Halves   *tuning.Halves `json:"halves,omitempty"`
	Trials   int            `json:"trials"`
}

type explainResult struct {
	File   *identify.Account `json:"file"`
	Points []fitting.Point   `json:"points"`
	Gap    *fitting.Gap      `json:"gap,omitempty"`
}

type labLinkResult struct {
	Port string `json:"port"`
	Up   bool   `json:"up"`
}

type labLossResult struct {
	Percent float64 `json:"loss_percent"`
	Port    string  `json:"port"`
}

type labDownResult struct {
	Name    string   `json:"name"`
	Removed []string `json:"namespaces_removed"`
}

type labFailResult struct {
	Kind  string   `json:"kind"`
	Name  string   `json:"name"`
	Ports []string `json:"ports"`
	State string   `json:"state"`
}

// checkedDesigns are the designs of plan fabric --check.
type checkedDesigns struct {
	Deadlock map[string]*lockup `json:"deadlock"` // result for each design, by name
	Designs  []planner.Design   `json:"designs"`
}

type memoryResult struct {
	Fits        bool                   `json:"fits"`
	GPU         string                 `json:"gpu"`
	GPUMemory   unit.Bytes             `json:"gpu_memory_bytes"`
	GPUs        int                    `json:"gpus"`
	Limit       unit.Bytes             `json:"limit_bytes"` // part of gpu_memory_bytes that a layout may fill
	Model       string                 `json:"model"`
	Parameters  int64                  `json:"parameters"`
	Stages      []partition.RankMemory `json:"stages"`
	WorstMemory unit.Bytes             `json:"worst_bytes"`
	WorstStage  int                    `json:"worst_stage"`
}

// copyResult is the number of GPUs that hold one copy of states or weights.
type copyResult struct {
	Each       float64    `json:"bytes_per_parameter"`
	GPU        string     `json:"gpu"`
	GPUMemory  unit.Bytes `json:"gpu_memory_bytes"` // memory that the GPU's driver reports
	GPUs       int64      `json:"gpus"`
	Parameters float64    `json:"parameters"`
}

// measuredScores compares estimates with measured trainings.
type measuredScores struct {
	Classes []planner.Accuracy `json:"classes"`
	Rows    []planner.Measured `json:"rows"`
}

// comparedScores are two configurations.
type comparedScores struct {
	*planner.Scored
	Against *planner.Scored `json:"against"`
}

// publishedResult is the output of validate published.
type publishedResult struct {
	*planner.PublishedReport
	Checks []validate.Row `json:"checks"`
}

type searchResult struct {
	Candidates []planner.Candidate `json:"candidates"`
	Waste      float64             `json:"cc_waste"`
	Feasible   int                 `json:"feasible"`
	GPUs       int                 `json:"gpus"`
	Model      string              `json:"model"`
	Precision  string              `json:"precision"`
	Rejected   []planner.Rejected  `json:"rejected"`
	Simulated  []layouts.Simulated `json:"simulated"`
	Tried      int                 `json:"tried"`
	planner.Comparison
}

type transferResult struct {
	Results []perftest.Result `json:"results"`
	Server  perftest.Final    `json:"server"`
	Setup   *perftest.Setup   `json:"setup,omitempty"` // with --explain
}

type rdmaBenchResult struct {
	Ratios map[string]float64 `json:"ratios"`
	Rows   []bench.Row        `json:"rows"`
	TCP    []string           `json:"transport_tcp"` // scenario keys
}

type serveResult struct {
	RDMA netip.Addr     `json:"rdma"`
	TCP  netip.AddrPort `json:"tcp"`
}

// submitted is the result of submit without --dry-run.
type submitted struct {
	Run       string             `json:"run"` // its directory
	Submitted *submission.Report `json:"submitted"`
	Summary   *result.Summary    `json:"summary"`
}

// inventory is the result of topo.
type inventory struct {
	topo.Inventory
	Deadlock string `json:"deadlock,omitempty"` // a possible cycle of buffers that wait for one another
	Dark     int    `json:"circuits_dark_at_first,omitempty"`

	Kinds []planner.CableKind `json:"kinds_of_cables,omitempty"`
}

type uetResult struct {
	Seed    uint64               `json:"seed"`
	Classes []validate.UETSpread `json:"classes"`
	Runs    []validate.UETRun    `json:"runs"`
}

type versionResult struct {
	Arch    string `json:"arch"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Version string `json:"version"`
}

type whyResult struct {
	Chain    *cause.Account      `json:"chain"`
	Main     string              `json:"main_cause"`
	Name     string              `json:"name"`
	Places   []result.CausePlace `json:"places"`
	Remedies []whatif.Remedy     `json:"remedies"`
	Step     int64               `json:"step_ps"`
}

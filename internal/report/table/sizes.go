package table

import (
	"fmt"
	"io"
	"math"
	"strings"

	"railyard/internal/model"
	"railyard/internal/partition"
	"railyard/internal/planner"
	"railyard/internal/report"
	"railyard/internal/report/screen"
	"railyard/unit"
)

// Amount prints a count of parameters or tokens: 406B, 15.6T.
func Amount(v float64) string {
	for _, u := range []struct {
		scale float64
		name  string
	}{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "K"}} {
		if v >= u.scale*(1-5e-4) {
			return unit.Digits(v/u.scale) + u.name
		}
	}
	return unit.Digits(v)
}

// Size prints how many GPUs a training takes for how long, and why.
func Size(w io.Writer, s *planner.Size, g *model.GPU) {
	gpu := strings.ToUpper(s.GPU)
	answer := fmt.Sprintf("%s %s for %s", unit.ShowCount(s.GPUs), gpu, unit.FromSeconds(s.Seconds).Show())
	if s.Seconds >= 2*planner.Week {
		answer += fmt.Sprintf(" (%s weeks)", unit.Digits(s.Seconds/planner.Week))
	}
	screen.Painted(w, screen.Answer, "", answer)
	line := func(label, words string) { report.Labelled(w, fmt.Sprintf("%-10s", label), words) }
	if s.Params > 0 {
		active := ""
		if s.Active < s.Params {
			active = fmt.Sprintf(" (%s active)", Amount(s.Active))
		}
		line("Model", fmt.Sprintf("%s parameters%s, %s tokens", Amount(s.Params), active, Amount(s.Tokens)))
	}
	line("Compute", fmt.Sprintf("%s FLOPs: %s", scientific(s.FLOPs), s.Rule))
	precision := s.Precision
	if precision == "" {
		precision = "rate given"
	}
	line("Per GPU", fmt.Sprintf("%s TFLOP/s (%s), %s %% utilisation", unit.Digits(s.Peak/1e12), precision,
		unit.Digits(100*s.Utilisation)))
	energy, of := s.EnergyKWh, "kWh"
	for _, u := range []string{"MWh", "GWh", "TWh"} {
		if energy >= 999.5 {
			energy, of = energy/1000, u
		}
	}
	line("Energy", unit.Digits(energy)+" "+of)
	if s.Cost > 0 {
		line("Cost", fmt.Sprintf("%s for %s", Amount(s.Cost), s.CostOf))
	}
	line("Source", g.Source)
}

// scientific prints a large number with its power of ten: 3.80 × 10^25.
func scientific(v float64) string {
	if v <= 0 {
		return "0"
	}
	power := math.Floor(math.Log10(v * (1 + 5e-4))) // what rounds to 10 has the next power
	return fmt.Sprintf("%s × 10^%.0f", unit.Digits(v/math.Pow(10, power)), power)
}

// shownStages is how many stages of a pipeline a table shows whole, and endStages how many of a longer one at each end.
const shownStages, endStages = 8, 3

// Memory prints what each pipeline stage holds, in GB.
func Memory(w io.Writer, m *model.Config, g *model.GPU, l *partition.Layout, ranks []partition.RankMemory,
	worst partition.RankMemory) {
	gb := func(b unit.Bytes) string { return unit.Digits(float64(b) / 1e9) }
	verdict := "Fits"
	if worst.Total() > g.Memory {
		verdict = "Does not fit"
	}
	most := ""
	if share := float64(worst.Total()) / float64(g.Memory); share > planner.MostMemory && share <= 1 {
		most = fmt.Sprintf("; above the %.0f %% that leave room for fragmentation and libraries", 100*planner.MostMemory)
	}
	screen.Painted(w, screen.Answer, "", fmt.Sprintf("%s: stage %d takes %s of %s GB (%s)%s", verdict, worst.Stage,
		gb(worst.Total()), gb(g.Memory), strings.ToUpper(g.Name), most))
	layout := []string{}
	for _, f := range []struct {
		name string
		v    int
	}{{"TP", l.TP}, {"PP", l.PP}, {"VPP", l.VPP}, {"DP", l.DP}, {"CP", l.CP}, {"EP", l.EP}} {
		if f.v > 1 {
			layout = append(layout, fmt.Sprintf("%s%d", f.name, f.v))
		}
	}
	if l.ZeRO > 0 {
		layout = append(layout, fmt.Sprintf("ZeRO%d", l.ZeRO))
	}
	report.Wrap(w, "", fmt.Sprintf("%s, %s parameters, on %s: %s, schedule %s, recompute %s", m.Name,
		Amount(float64(m.Params())), unit.Plural(l.GPUs(), "GPU"), strings.Join(append(layout, fmt.Sprintf("mb%d", l.Micro)),
			" "), l.Schedule, l.Recompute))
	t := screen.Table{Columns: []screen.Column{{Head: "Stage, GB"}, {Head: "layers"}, {Head: "params"},
		{Head: "weights"}, {Head: "grads"}, {Head: "optimizer"}, {Head: "activations"}, {Head: "buffers", Rare: true},
		{Head: "total"}, {Head: "in flight", Spare: true}}}
	for i, r := range ranks {
		if len(ranks) > shownStages && i >= endStages && i < len(ranks)-endStages {
			if i == endStages {
				t.Add(fmt.Sprintf("%d more", len(ranks)-2*endStages))
			}
			continue
		}
		t.Add(fmt.Sprint(r.Stage), unit.ShowCount(r.Layers), Amount(float64(r.Params)), gb(r.Weights), gb(r.Gradients),
			gb(r.Optimizer), gb(r.Activations), gb(r.Buffers), gb(r.Total()), unit.Digits(r.InFlight))
	}
	t.Print(w)
}

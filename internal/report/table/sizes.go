package table

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/model"
	"railyard/internal/partition"
	"railyard/internal/planner"
	"railyard/internal/report"
	"railyard/internal/report/screen"
	"railyard/unit"
)

// Size prints how many GPUs a training takes for how long, and why.
func Size(w io.Writer, s *planner.Size, g *model.GPU) {
	gpu := strings.ToUpper(s.GPU)
	answer := fmt.Sprintf("%s %s for %s", unit.ShowCount(s.GPUs), gpu, unit.ShowSeconds(s.Seconds))
	if s.Seconds >= 2*planner.Week {
		answer += fmt.Sprintf(" (%s weeks)", unit.Digits(s.Seconds/planner.Week))
	}
	screen.Painted(w, screen.Answer, "", answer)
	line := func(label, words string) { report.Labelled(w, fmt.Sprintf("%-10s", label), words) }
	if s.Params > 0 {
		active := ""
		if s.Active < s.Params {
			active = fmt.Sprintf(" (%s active)", unit.ShowAmount(s.Active))
			if s.Embedding > 0 {
				active = fmt.Sprintf(" (%s active, %s without the input embedding)", unit.ShowAmount(s.Active),
					unit.ShowAmount(s.Active-s.Embedding))
			}
		}
		line("Model", fmt.Sprintf("%s parameters%s, %s tokens", unit.ShowAmount(s.Params), active, unit.ShowAmount(s.Tokens)))
	}
	line("Compute", fmt.Sprintf("%.2e FLOPs: %s", s.FLOPs, s.Rule))
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
	line("Energy", unit.Digits(energy)+" "+of+", "+s.EnergyOf)
	if s.Cost > 0 {
		line("Cost", fmt.Sprintf("%s for %s", unit.ShowAmount(s.Cost), s.CostOf))
	}
	line("Source", g.Source)
}

// shownStages is the number of pipeline stages up to which a table shows all. endStages is the number of stages
// shown at each end of a longer one.
const shownStages, endStages = 8, 3

// Memory prints the memory of each pipeline stage, in GB.
func Memory(w io.Writer, m *model.Config, g *model.GPU, l *partition.Layout, ranks []partition.RankMemory,
	worst partition.RankMemory) {
	gb := func(b unit.Bytes) string { return unit.Digits(float64(b) / 1e9) }
	verdict := "Fits"
	if worst.Total() > partition.Fillable(g.Usable) {
		verdict = "Does not fit"
	}
	screen.Painted(w, screen.Answer, "", fmt.Sprintf("%s: stage %d takes %s of %s GB (%s; %d %% may be filled)", verdict,
		worst.Stage, gb(worst.Total()), gb(g.Usable), strings.ToUpper(g.Name), partition.MostMemory))
	report.Wrap(w, "", fmt.Sprintf("%s, %s parameters, on %s: %s, schedule %s", m.Name, unit.ShowAmount(float64(m.Params())),
		unit.Plural(l.GPUs(), "GPU"), l, l.Schedule))
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
		t.Add(fmt.Sprint(r.Stage), unit.ShowCount(r.Layers), unit.ShowAmount(float64(r.Params)), gb(r.Weights),
			gb(r.Gradients), gb(r.Optimizer), gb(r.Activations), gb(r.Buffers), gb(r.Total()), unit.Digits(r.InFlight))
	}
	t.Print(w)
	uneven(w, m, l)
	sequenceParallel(w, l)
}

// Published prints a published table of trainings with the number of GPUs computed.
func Published(w io.Writer, n int, rows []planner.TableRow, note string) {
	fmt.Fprintf(w, "Table %d: %s, %g TFLOPS, %.0f %% used, one week\n", n,
		strings.ToUpper(rows[0].GPU), rows[0].TFLOPs, 100*rows[0].Utilisation)
	t := screen.Table{Columns: []screen.Column{{Head: "Model"}, {Head: "params"}, {Head: "tokens"}, {Head: "ZFLOP"},
		{Head: "FLOP *"}, {Head: "GPUs"}, {Head: "published"}}}
	for _, r := range rows {
		t.Add(r.Model, unit.ShowAmount(1e9*r.Params), unit.ShowAmount(1e9*r.Tokens), unit.Digits(r.ZFLOPs), r.Rule,
			unit.ShowCount(r.GPUs), unit.ShowCount(r.Published))
	}
	t.Print(w)
	fmt.Fprintln(w, "* per parameter and token: published, or by rule")
	report.Labelled(w, "note: ", note)
	fmt.Fprintln(w)
}

package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"

	"railyard/cc"
	"railyard/internal/hostconf"
	"railyard/internal/render"
	"railyard/internal/report"
	"railyard/internal/scenario"
	"railyard/internal/swconf/design"
	"railyard/internal/topo"
	"railyard/internal/tune"
	"railyard/unit"
)

// half is what of a candidate a simulation has; the rest is as in the scenario.
type half struct {
	switches, hosts bool
	held            bool // the servers' values are those that registers of NICs hold
}

// all is a candidate as it was searched.
var all = half{switches: true, hosts: true}

// halves are what the parts of the best candidate bring.
type halves struct {
	Switches tune.Outcome  `json:"switches"`
	Hosts    tune.Outcome  `json:"hosts"`
	Both     *tune.Outcome `json:"both_as_written,omitempty"` // nil: nothing is rounded, as in the best trial
	Share    *shares       `json:"of_the_gain_percent,omitempty"`
	NIC      string        `json:"nic,omitempty"` // whose texts are written; "": nobody's
	Notes    []string      `json:"notes,omitempty"`
}

// shares are what each half alone brings of the time that both save, in percent.
type shares struct {
	Switches float64 `json:"switches"`
	Hosts    float64 `json:"hosts"`
}

// split simulates the best candidate's halves, each alone, and both as they are written: three simulations.
func (t *tuning) split(ctx context.Context, best tune.Trial) (*halves, error) {
	h := &halves{}
	list := []half{{switches: true}, {hosts: true}}
	if rounded, err := t.held(best.Candidate); err != nil {
		h.Notes = append(h.Notes, err.Error())
	} else {
		h.NIC = t.c.NIC
		if rounded != nil {
			list[1].held = true
			list = append(list, half{true, true, true})
		}
	}
	h.Notes = append(h.Notes, t.notes...)
	out := make([]tune.Outcome, len(list))
	t.pool.Expect(len(list))
	if err := t.pool.Each(ctx, len(list), func(i int) error {
		out[i] = t.simulate(ctx, func() (*scenario.Plan, error) { return t.half(best.Candidate, list[i]) })
		return nil
	}); err != nil {
		return nil, err
	}
	h.Switches, h.Hosts = out[0], out[1]
	both := best.Outcome
	if len(out) > 2 {
		h.Both = &out[2]
		both = out[2]
	}
	if h.NIC != "" && t.unwritten() {
		h.Both = &out[0]
	}
	base := t.first().Outcome
	if gain := base.Time - both.Time; gain*100 > base.Time && h.Switches.Error == "" &&
		h.Hosts.Error == "" &&
		both.Error == "" {
		of := func(o tune.Outcome) float64 {
			return math.Round(1000*float64(base.Time-o.Time)/float64(gain)) / 10
		}
		h.Share = &shares{of(h.Switches), of(h.Hosts)}
	}
	return h, nil
}

// unwritten reports whether the servers' half has parameters that no text of theirs can hold, so that what is
// written is the switches' half alone.
func (t *tuning) unwritten() bool {
	return t.search.Space.DCQCN && t.c.NIC != "mlx5" || len(t.search.Space.Own()) > 0
}

// held are the DCQCN parameters of a candidate as a ConnectX NIC's registers hold them; nil for other
// NICs and other algorithms, which have none that are public.
func (t *tuning) held(c tune.Candidate) (cc.Values, error) {
	if !t.search.Space.DCQCN || t.c.NIC != "mlx5" {
		return nil, nil
	}
	own := dcqcnOf(c)
	if v, ok := t.base.Default().Values["cut_interval"].(unit.Time); ok && v == 0 {
		return nil, fmt.Errorf("cc.dcqcn.profile paper cuts on every CNP, which no NIC does: the " +
			"servers' half is not " +
			"written")
	}
	for name, v := range own {
		r, err := hostconf.Rounded(name, v)
		if err != nil {
			return nil, fmt.Errorf("the servers' half is not written: %w", err)
		}
		own[name] = r
	}
	return own, nil
}

// dcqcnOf are a candidate's parameters of DCQCN.
func dcqcnOf(c tune.Candidate) cc.Values {
	return cc.Values{"ai": c.AI, "hai": 10 * c.AI, "rate_timer": c.RateTimer,
		"alpha_timer": c.AlphaTimer, "g": c.G}
}

// files are the servers' texts of the best candidate.
func (t *tuning) hostFiles(plan *scenario.Plan, best tune.Candidate) ([]design.File, []string, error) {
	if plan.Default().Carried != nil {
		return nil, nil, nil
	}
	if _, err := t.held(best); err != nil { // which split has told
		return nil, nil, nil
	}
	return render.Hosts(plan, t.c.NIC, nil)
}

// unmix refuses servers' texts that a candidate cannot keep.
func (t *tuning) unmix() error {
	for end := range t.base.PFC {
		if t.base.Graph.Nodes[end.Node].Role == topo.Host {
			return t.base.Refuse("hosts", "pause different priorities; tune writes one servers' half for "+
				"all")
		}
	}
	return nil
}

// tell prints what the halves bring.
func (h *halves) tell(e *env, t *tuning, best tune.Trial) {
	base := t.first().Outcome
	rows := []report.Half{{Name: "as it is", Outcome: base}, {Name: "switches' half alone",
		Outcome: h.Switches},
		{Name: "servers' half alone", Outcome: h.Hosts}}
	unwritten := h.NIC != "" && t.unwritten()
	if unwritten {
		rows = append(rows, report.Half{Name: "both, as searched", Outcome: best.Outcome})
	}
	if h.Both != nil {
		rows = append(rows, report.Half{Name: "both, as they are written", Outcome: *h.Both})
	} else {
		rows = append(rows, report.Half{Name: "both", Outcome: best.Outcome})
	}
	words := []string{"Both halves together save too little time to say which brings it."}
	if h.Share != nil {
		words = []string{fmt.Sprintf("Of the time that both save, the switches' half alone %s, the "+
			"servers' half alone "+
			"%s%s.", brings(h.Share.Switches), brings(h.Share.Hosts), together(*h.Share))}
	}
	words = append(words, h.Notes...)
	if unwritten {
		words = append(words, "What is written brings what the switches' half brings.")
	}
	if h.NIC != "" {
		words = append(words, fmt.Sprintf("%s has a script for each server's NICs.",
			filepath.Join(t.dir, "best", "hosts")))
	}
	report.Halves(e.stdout, rows, words)
}

// brings says what a half does with the time.
func brings(percent float64) string {
	if percent < 0 {
		return fmt.Sprintf("costs %g %% more", -percent)
	}
	return fmt.Sprintf("brings %g %%", percent)
}

// together says what is in neither half.
func together(s shares) string {
	switch sum := s.Switches + s.Hosts; {
	case sum < 90:
		return "; the rest needs both"
	case sum > 110:
		return "; each brings part of what the other does"
	}
	return ""
}

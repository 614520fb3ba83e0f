package tuning

import (
	"context"
	"fmt"
	"math"

	"railyard/cc"
	"railyard/internal/hostconf"
	"railyard/internal/render"
	"railyard/internal/scenario"
	"railyard/internal/swconf/design"
	"railyard/internal/topo"
	"railyard/internal/tune"
	"railyard/unit"
)

// half is the part of a candidate in a simulation; the remaining settings are the scenario's.
type half struct {
	switches, hosts bool
	held            bool // whether NIC registers can hold the servers' values
}

// all is a candidate as it was searched.
var all = half{switches: true, hosts: true}

// Halves are the gains by the parts of the best candidate.
type Halves struct {
	Switches tune.Outcome  `json:"switches"`
	Hosts    tune.Outcome  `json:"hosts"`
	Both     *tune.Outcome `json:"both_as_written,omitempty"` // nil: nothing is rounded, as in the best trial
	Share    *Shares       `json:"of_the_gain_percent,omitempty"`
	NIC      string        `json:"nic,omitempty"` // NIC whose configuration is written; "": none
	Notes    []string      `json:"notes,omitempty"`
	// Unwritten reports that host parameters have no configuration, so that only the switches' are written.
	Unwritten bool `json:"-"`
}

// Shares are the gains by each half alone relative to both together, in percent.
type Shares struct {
	Switches float64 `json:"switches"`
	Hosts    float64 `json:"hosts"`
}

// Split simulates the best candidate's host side and switch side, each alone, and both as written: three
// simulations.
func (t *Tuning) Split(ctx context.Context, best tune.Trial) (*Halves, error) {
	h := &Halves{}
	list := []half{{switches: true}, {hosts: true}}
	if rounded, err := t.held(best.Candidate); err != nil {
		h.Notes = append(h.Notes, err.Error())
	} else {
		h.NIC = t.NIC
		if rounded != nil {
			list[1].held = true
			list = append(list, half{true, true, true})
		}
	}
	h.Notes = append(h.Notes, t.notes...)
	out := make([]tune.Outcome, len(list))
	t.Pool.Expect(len(list))
	if err := t.Pool.Each(ctx, len(list), func(i int) error {
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
	if h.Unwritten = h.NIC != "" && t.unwritten(); h.Unwritten {
		h.Both = &out[0]
	}
	base := t.First().Outcome
	if gain := base.Time - both.Time; gain*100 > base.Time && h.Switches.Error == "" && h.Hosts.Error == "" &&
		both.Error == "" {
		of := func(o tune.Outcome) float64 { return math.Round(1000*float64(base.Time-o.Time)/float64(gain)) / 10 }
		h.Share = &Shares{of(h.Switches), of(h.Hosts)}
	}
	return h, nil
}

// unwritten reports whether the host side has parameters that no host configuration can express, so that only the
// switch side is written.
func (t *Tuning) unwritten() bool {
	return t.Search.Space.DCQCN && t.NIC != "mlx5" || len(t.Search.Space.Own()) > 0
}

// held returns the DCQCN parameters of a candidate as a ConnectX NIC's registers store them. It returns nil for
// other NICs and other algorithms, which have no public ones.
func (t *Tuning) held(c tune.Candidate) (cc.Values, error) {
	if !t.Search.Space.DCQCN || t.NIC != "mlx5" {
		return nil, nil
	}
	own := dcqcnOf(c)
	if v, ok := t.Base.Default().Values["cut_interval"].(unit.Time); ok && v == 0 {
		return nil, fmt.Errorf("cc.dcqcn.profile paper cuts on every CNP, which no NIC does: the host side is not written")
	}
	for name, v := range own {
		r, err := hostconf.Rounded(name, v)
		if err != nil {
			return nil, fmt.Errorf("the host side is not written: %w", err)
		}
		own[name] = r
	}
	return own, nil
}

// dcqcnOf are a candidate's parameters of DCQCN.
func dcqcnOf(c tune.Candidate) cc.Values {
	return cc.Values{"ai": c.AI, "hai": 10 * c.AI, "rate_timer": c.RateTimer, "alpha_timer": c.AlphaTimer, "g": c.G}
}

// files returns the host configurations of the best candidate.
func (t *Tuning) hostFiles(plan *scenario.Plan, best tune.Candidate) ([]design.File, []string, error) {
	if plan.Default().Carried != nil {
		return nil, nil, nil
	}
	if _, err := t.held(best); err != nil { // split has reported it
		return nil, nil, nil
	}
	return render.Hosts(plan, t.NIC, nil)
}

// unmix refuses host configurations that conflict with a candidate.
func (t *Tuning) unmix() error {
	for end := range t.Base.PFC {
		if t.Base.Graph.Nodes[end.Node].Role == topo.Host {
			return t.Base.Refuse("hosts", "pause different priorities; tune writes one host side for all")
		}
	}
	return nil
}

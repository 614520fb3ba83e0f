package validate

import (
	"math"
	"strings"

	"railyard/internal/rng"
)

// UETRun is one published run of uet-htsim, drawn, and what ours takes once it has run.
type UETRun struct {
	Name     string  `json:"name"`
	Class    string  `json:"class"`
	Expected float64 `json:"expected_us"` // its last completion
	Ours     float64 `json:"ours_us"`
	Off      float64 `json:"off"` // simulated over expected, less 1

	run   uetRun
	class *uetClass
}

// UETSpread is the error of the runs of a class.
type UETSpread struct {
	Class string  `json:"class"`
	Runs  int     `json:"runs"`
	RMS   float64 `json:"rms"` // root mean square of Off
	Mean  float64 `json:"mean"`
	Worst float64 `json:"worst"`
	Where string  `json:"where"` // the worst
	Most  float64 `json:"most"`  // what RMS may be, the chance of the drawing included
	OK    bool    `json:"ok"`
}

// UETMemory is the maximum memory of a run, MB.
const UETMemory = 1000

// DrawUET draws n of the published runs without repetition; all if there are fewer. Classes take turns, so that a draw
// has runs of each.
func DrawUET(seed uint64, n int) (drawn []UETRun, err error) {
	defer caught(&err)
	all, random := must(uetPublished()), rng.New(seed, "published runs of uet-htsim")
	var turns [][]UETRun
	for i := range uetClasses {
		c := &uetClasses[i]
		mine := c.of(all)
		shuffle(mine, random)
		for turn, u := range mine {
			if turn == len(turns) {
				turns = append(turns, nil)
			}
			turns[turn] = append(turns[turn],
				UETRun{Name: u.String(), Class: c.String(), Expected: u.last, run: u, class: c})
		}
	}
	for _, turn := range turns {
		shuffle(turn, random)
		drawn = append(drawn, turn...)
	}
	return drawn[:min(n, len(drawn))], nil
}

// Simulate has ours run it.
func (u *UETRun) Simulate() (err error) {
	defer caught(&err)
	if u.Ours, _, err = u.run.run(); err != nil {
		return err
	}
	u.Off = u.Ours/u.Expected - 1
	return nil
}

// SpreadUET sums runs up by their classes, those without a run left out. For n runs drawn from a class with the
// maximum root mean square, the root mean square of the draw is in 39 of 40 cases below 1 + sqrt(2/n) times that
// (chi square).
func SpreadUET(runs []UETRun) (list []UETSpread) {
	for i := range uetClasses {
		c := &uetClasses[i]
		var s uetSpread
		for j := range runs {
			if runs[j].class == c {
				s.add(&runs[j].run, runs[j].Ours)
			}
		}
		if s.n == 0 {
			continue
		}
		most := c.most * (1 + math.Sqrt(2/float64(s.n)))
		list = append(list, UETSpread{Class: c.String(), Runs: s.n, RMS: s.rms(), Mean: s.mean(), Worst: s.worst,
			Where: s.where, Most: most, OK: s.rms() <= most})
	}
	return list
}

// String is the class in words.
func (c *uetClass) String() string { return strings.ToUpper(c.control) + ", " + c.name }

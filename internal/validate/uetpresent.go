package validate

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"railyard/internal/rng"
)

// What uet-htsim has at 40ccb05 (12 August 2025), which follows UEC's text, run by us with -seed 13: a permutation of
// 512 hosts below 8 leaves of 64 ports each way or a quarter as many upward, all pairs between leaves, with the
// settings of its published results. Completions include the returning acknowledgement, us.
//
//go:embed uet/present.csv
var uetPresent string

// uetPermutation512 is the traffic of those runs.
//
//go:embed uet/permutation512.txt
var uetPermutation512 string

const presentSource = "uet-htsim at 40ccb05, run by us; docs/references.md, uet-results"

// uetPresentRun is one of those runs.
type uetPresentRun struct {
	uetRun
	mean float64 // us
}

// uetPresentClass is a kind of runs that are judged together.
type uetPresentClass struct {
	name, control string
	over          int // 0: any
	failed        bool
	mean, last    float64 // maximum root mean square of differences
}

var uetPresentClasses = []uetPresentClass{
	{"NSCC, permutations", "nscc", 1, false, 0.03, 0.05},
	{"RCCC, permutations", "rccc", 1, false, 0.05, 0.05},
	{"NSCC, permutations over leaves of 4:1", "nscc", 4, false, 0.05, 0.10},
	{"NSCC, permutations past slow links", "nscc", 0, true, 0.10, 0.10},
	{"RCCC, permutations past slow links", "rccc", 0, true, 0.10, 0.10},
}

// uetPresentRows draws three runs of each class.
func uetPresentRows() (rows []Row, err error) {
	all := must(uetPresentRuns())
	for i := range uetPresentClasses {
		c := &uetPresentClasses[i]
		mine := c.of(all)
		of := len(mine)
		shuffle(mine, rng.New(16, c.name))
		rows = append(rows, must(c.rows(mine[:min(3, of)], of))...)
	}
	return rows, nil
}

// of returns the runs of a class.
func (c *uetPresentClass) of(all []uetPresentRun) (mine []uetPresentRun) {
	for _, u := range all {
		if u.control == c.control && u.failed == c.failed && (c.over == 0 || u.over == c.over) {
			mine = append(mine, u)
		}
	}
	return mine
}

// rows runs a class's sample: a row for mean completions, one for last ones.
func (c *uetPresentClass) rows(sample []uetPresentRun, of int) ([]Row, error) {
	var means, lasts uetSpread
	for i := range sample {
		u := &sample[i]
		last, mean, err := u.simulate(1)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", &u.uetRun, err)
		}
		at := u.uetRun
		lasts.add(&at, last)
		at.last = u.mean
		means.add(&at, mean)
	}
	row := func(what string, s *uetSpread, most float64) Row {
		return Row{Claim: fmt.Sprintf("%s of 512 hosts, %d of %d drawn: %s completion, root mean square", c.name,
			len(sample), of, what),
			Source:   presentSource,
			Expected: fmt.Sprintf("<= %.1f %%", 100*most), OK: s.rms() <= most,
			Ours: fmt.Sprintf("%.1f %%", 100*s.rms()),
			Diff: fmt.Sprintf("mean %+.1f %%, worst %+.1f %%: %s", 100*s.mean(), 100*s.worst, s.where)}
	}
	return []Row{row("mean", &means, c.mean), row("last", &lasts, c.last)}, nil
}

// uetPresentRuns reads the runs.
func uetPresentRuns() (all []uetPresentRun, err error) {
	lines := must(csv.NewReader(strings.NewReader(uetPresent)).ReadAll())
	for _, l := range lines[1:] {
		u := uetPresentRun{uetRun: uetRun{control: l[0], matrix: l[3], paths: l[4], failed: l[5] != "0", small: true}}
		u.gbps = must(strconv.Atoi(l[1]))
		u.over = must(strconv.Atoi(l[2]))
		u.mean = must(strconv.ParseFloat(l[6], 64))
		u.last = must(strconv.ParseFloat(l[7], 64))
		all = append(all, u)
	}
	return all, nil
}

package validate

import (
	"fmt"

	"railyard/internal/coll"
	"railyard/unit"
)

// trees checks NCCL's trees, and the seed's statements about rings and trees: trees
// end sooner where latency counts, rings where bandwidth does, because two
// children of a tree send to one parent.
func trees() ([]Row, error) {
	const source = "NCCL src/graph/trees.cc (HANDBOOK 9.2)"
	rows := []Row{exact("parents of 8 ranks in tree 0", source, "[-1 2 4 2 0 6 4 6]", fmt.Sprint(coll.TreeParents(8, 0))),
		exact("parents of 8 ranks in tree 1, its mirror", source, "[1 3 1 7 5 3 5 -1]", fmt.Sprint(coll.TreeParents(8, 1)))}
	took := func(pattern, bytes string) (float64, error) {
		r, err := finish(fmt.Sprintf(`
fabric: {kind: rail, hosts: 64, spines: 1, host_link: {rate: 400Gbps, cable: 3m}, fabric_link: {rate: 400Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
workload: {traffic: {%s: {bytes: %s}}}
`, pattern, bytes))
		if err != nil {
			return 0, err
		}
		s, _, _ := r.Outcome("")
		return float64(s.StepTime) / float64(unit.Microsecond), nil
	}
	for _, c := range []struct{ bytes, sooner, later string }{{"64KiB", "tree-allreduce", "ring-allreduce"}, {"32MiB", "ring-allreduce", "tree-allreduce"}, {"64KiB", "halving-doubling", "ring-allreduce"}} {
		a, err := took(c.sooner, c.bytes)
		if err != nil {
			return nil, err
		}
		b, err := took(c.later, c.bytes)
		if err != nil {
			return nil, err
		}
		rows = append(rows, Row{Claim: fmt.Sprintf("%s of %s over 64 servers ends before %s", c.sooner, c.bytes, c.later), Source: fabricsSeed + ", gradient aggregation traffic",
			Expected: "sooner", Ours: fmt.Sprintf("%.0f us against %.0f us", a, b), Diff: fmt.Sprintf("%.2fx", b/a), OK: a < b})
	}
	return rows, nil
}

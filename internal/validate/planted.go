package validate

import (
	"fmt"

	"railyard/internal/counters/planted"
)

// plantedRows plants every fault of the table once, prints the counters as one of three systems does, in
// turn, and counts those that diagnose names first.
func plantedRows() ([]Row, error) {
	systems := []string{"nxos", "eos", "sonic"}
	var of, right [3]int
	wrong := 0
	for i := range planted.Faults {
		k := i % len(systems)
		seen := must(planted.Faults[i].Simulate(systems[k]))
		r, err := seen.Diagnose(systems[k])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", planted.Faults[i].Name, err)
		}
		ok, other := seen.First(r)
		if of[k]++; ok {
			right[k]++
		}
		if other {
			wrong++
		}
	}
	const source = "simulated fabrics with one fault each, and some with none"
	var rows []Row
	for k, system := range systems {
		rows = append(rows, exact("planted faults that diagnose names first, counters printed as "+system,
			source, of[k], right[k]))
	}
	return append(rows, exact("planted faults: healthy ports called faulty first", source, 0, wrong)), nil
}

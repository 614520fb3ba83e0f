package explain

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMomentsInOrder: at one time messages that are under way end before others begin, and empty ones end last, however
// they were listed.
func TestMomentsInOrder(t *testing.T) {
	want := []moment{{4, beginsMoment, 2}, {5, endsMoment, 2}, {5, endsMoment, 7}, {5, beginsMoment, 0},
		{5, beginsMoment, 1}, {5, beginsMoment, 3}, {5, emptyMoment, 1}, {5, emptyMoment, 3}, {6, endsMoment, 0}}
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		got := slices.Clone(want)
		random.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		if slices.SortFunc(got, moment.compare); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

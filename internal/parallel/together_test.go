package parallel

import (
	"strings"
	"testing"
)

// Those who meet see what all others wrote before, a thousand times, whoever is first.
func TestTogether(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		said := [2][]int{make([]int, n), make([]int, n)}
		Together(n, func(id int, m *Meeting) {
			for round := range 1000 {
				said[round%2][id] = round
				if !m.Wait() {
					t.Error("a meeting failed")
				}
				for other, x := range said[round%2] {
					if x != round {
						t.Errorf("%d sees %d of %d in round %d", id, x, other, round)
					}
				}
			}
		})
	}
}

// One that panics ends the others' waiting, and is the caller's panic.
func TestTogetherPassesOnPanics(t *testing.T) {
	met := make([]bool, 3)
	defer func() {
		text, _ := recover().(string)
		if !strings.Contains(text, "index out of range") || met[0] || met[2] {
			t.Errorf("panic %q, meetings %v", text, met)
		}
	}()
	Together(3, func(id int, m *Meeting) {
		if id == 1 {
			_ = []int{}[id]
		}
		met[id] = m.Wait()
	})
}

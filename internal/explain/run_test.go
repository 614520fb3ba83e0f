package explain_test

import (
	"os"
	"testing"

	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/sim"
)

// load builds the run of a scenario text.
func load(t testing.TB, text string, sets ...string) *sim.Run {
	t.Helper()
	d, err := scenario.Parse("test.yaml", []byte(text), sets)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Resolve(func(name string) ([]byte, error) { return os.ReadFile("testdata/" + name) })
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// runAll simulates a scenario's packets to the end and explains the run.
func runAll(t testing.TB, text string, sets ...string) (*sim.Run, *result.Summary, *result.Tables) {
	t.Helper()
	r := load(t, text, sets...)
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	s, tab, _ := r.Outcome("test")
	return r, s, tab
}

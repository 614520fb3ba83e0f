package study

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/unit"
)

// engine is Trials of an engine that simulates nothing and records its rounds.
type engine struct {
	mu     sync.Mutex
	had    map[string]bool
	rounds []int
	fails  error
}

func (e *engine) ID(_ string, p *scenario.Plan, _ unit.Time, _ bool) (string, error) {
	return fmt.Sprint(p.Seed), nil
}
func (e *engine) Keep(string, *Outcome) error { return errors.New("none is simulated here") }
func (e *engine) Remote() bool                { return true }

func (e *engine) Find(id string) (*Outcome, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.had[id] {
		return nil, nil
	}
	return &Outcome{Summary: &result.Summary{Name: id}}, nil
}

func (e *engine) Elsewhere(_ context.Context, ids []string, ended func(string, error)) error {
	e.rounds = append(e.rounds, len(ids))
	if e.fails != nil {
		return e.fails
	}
	for _, id := range ids {
		e.mu.Lock()
		e.had[id] = id != "3"
		e.mu.Unlock()
		ended(id, nil)
	}
	return nil
}

// An engine gets, round after round, the trials for which all calls of Each wait, however few run at a time. A
// trial that it leaves open and its own error are errors.
func TestRounds(t *testing.T) {
	path := scenarioFile(t)
	simulate := func(p *Pool, seed int) error {
		plan, err := scenariofile.Plan(path, []string{fmt.Sprintf("seed=%d", seed)}, nil)
		if err != nil {
			return err
		}
		o, err := p.Simulate(context.Background(), "", plan, 0)
		if err == nil && o.Summary.Name != fmt.Sprint(seed) {
			err = fmt.Errorf("seed %d: %s", seed, o.Summary.Name)
		}
		return err
	}
	e := &engine{had: map[string]bool{}}
	p := &Pool{Workers: 2, Trials: e}
	if err := simulate(p, 100); err != nil {
		t.Error(err)
	}
	var left sync.Map
	if err := p.Each(context.Background(), 9, func(i int) error {
		for _, seed := range []int{i, i + 10, 99} { // the last one is equal for all
			if err := simulate(p, seed); err != nil {
				left.Store(seed, err.Error())
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if why, _ := left.Load(3); why == nil || !strings.Contains(why.(string), "was not simulated") {
		t.Errorf("trial 3: %v", why)
	}
	if got := fmt.Sprint(e.rounds); got != "[1 9 9 1]" {
		t.Errorf("rounds of %s trials", got)
	}
	e.fails = errors.New("no server")
	err := p.Each(context.Background(), 3, func(i int) error { simulate(p, 50+i); return nil })
	if !errors.Is(err, e.fails) {
		t.Errorf("an engine that fails: %v", err)
	}
}

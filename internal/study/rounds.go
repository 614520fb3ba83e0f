package study

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"railyard/internal/scenario"
	"railyard/unit"
)

// Trials are the simulations of a study in a directory, from which an interrupted study resumes; an engine may run
// them.
type Trials interface {
	// ID addresses a simulation by its content; its label is for people. Remote trials may be simulated by their ID
	// from then on.
	ID(label string, plan *scenario.Plan, until unit.Time, flows bool) (id string, err error)
	// Find returns a kept outcome; nil without one.
	Find(id string) (*Outcome, error)
	Keep(id string, o *Outcome) error
	// Remote reports whether an engine simulates, by Elsewhere. It keeps outcomes and calls ended for each, also
	// for outcomes missing because of an error. It returns when no trial is left, ctx has ended or the study cannot
	// continue.
	Remote() bool
	Elsewhere(ctx context.Context, ids []string, ended func(id string, err error)) error
}

// rounds collects the simulations of a Pool's Each for an engine. A round begins when every call of do waits for
// one. A call that waits leaves its place to the next.
type rounds struct {
	turn    sync.Mutex
	places  chan struct{}
	at      int // calls of do that do not wait, and Each while it begins calls
	waiting map[string][]waiting
	away    bool // a round is simulated
	run     func()
}

// waiting is a call that waits for a trial.
type waiting struct {
	ended  chan error
	inside bool // whether trials belong to Each, not to a study that simulates one after another
}

// begin prepares for calls, n at a time.
func (r *rounds) begin(n int) {
	r.places = make(chan struct{}, n)
	r.working(1)
}

// take waits for a free position.
func (r *rounds) take() {
	r.places <- struct{}{}
	r.working(1)
}

// give ends a call.
func (r *rounds) give() {
	<-r.places
	r.working(-1)
}

// working counts calls that begin or end to work, and begins a round when none works.
func (r *rounds) working(n int) {
	r.turn.Lock()
	defer r.turn.Unlock()
	r.at += n
	r.next()
}

// next begins a round if all calls wait. It is called with turn held.
func (r *rounds) next() {
	if r.at == 0 && !r.away && len(r.waiting) > 0 {
		r.away = true
		go r.run()
	}
}

// elsewhere simulates a trial in the next round and returns its outcome.
func (p *Pool) elsewhere(ctx context.Context, id string) (*Outcome, error) {
	ended := make(chan error, 1)
	p.turn.Lock()
	if p.waiting == nil {
		p.waiting = map[string][]waiting{}
	}
	inside := p.at > 0
	p.waiting[id] = append(p.waiting[id], waiting{ended, inside})
	p.run = func() { p.round(ctx) }
	if inside {
		<-p.places
		p.at--
	}
	p.next()
	p.turn.Unlock()
	err := <-ended
	if inside {
		p.places <- struct{}{} // wake has counted it
	}
	o, found := p.Trials.Find(id)
	if o == nil && found == nil {
		found = cmp.Or(err, fmt.Errorf("trial %s was not simulated", id))
	}
	return o, found
}

// round simulates all that wait.
func (p *Pool) round(ctx context.Context) {
	p.turn.Lock()
	batch := p.waiting
	p.waiting = nil
	p.turn.Unlock()
	ids := slices.Sorted(maps.Keys(batch))
	wake := func(id string, err error) { // with turn held
		for _, w := range batch[id] {
			if w.inside {
				p.at++
			}
			w.ended <- err
		}
		delete(batch, id)
	}
	err := p.Trials.Elsewhere(ctx, ids, func(id string, err error) {
		p.turn.Lock()
		defer p.turn.Unlock()
		wake(id, err)
	})
	if ctx.Err() == nil {
		p.ends(err)
	}
	p.turn.Lock()
	defer p.turn.Unlock()
	for _, id := range ids {
		wake(id, err)
	}
	p.away = false
	p.next()
}

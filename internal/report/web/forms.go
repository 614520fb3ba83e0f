package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"railyard/internal/pasted"
	"railyard/internal/scenario"
	"railyard/internal/study"
)

// Limits of the page's requests, in bytes, and of the work on one form. One form is processed at a time.
const (
	maxBody    = 4 << 20
	maxTexts   = 24 << 20 // of configurations and counters
	maxWork    = 30 * time.Second
	maxFailing = 2 * time.Minute // of simulated failures
)

// textsPath takes configurations and counters.
const textsPath = "/api/texts"

// form is a request of a page.
type form struct {
	Texts []pasted.Text `json:"texts"`
	Text  string        `json:"text"` // of a scenario; "": none

	Layout  pasted.MemoryForm   `json:"layout"`
	Wanted  pasted.SearchForm   `json:"wanted"`
	Failing pasted.FailuresForm `json:"failing"`
}

// answer decodes a form and answers it by do. do may continue after it was abandoned, but then keeps the only slot.
func (s *Server) answer(w http.ResponseWriter, q *http.Request, most time.Duration,
	do func(ctx context.Context, f *form) (any, error)) {
	b, err := io.ReadAll(q.Body)
	if err != nil {
		send(w, nil, &InputError{"the request is too large"})
		return
	}
	f := &form{}
	if err := json.Unmarshal(b, f); err != nil {
		send(w, nil, &InputError{"the request is not JSON: " + err.Error()})
		return
	}
	select {
	case s.asking <- struct{}{}:
	case <-time.After(s.patience):
		send(w, nil, errors.New("another form is worked on; try again"))
		return
	case <-q.Context().Done():
		return
	}
	ctx, cancel := context.WithTimeout(q.Context(), most)
	defer cancel()
	defer context.AfterFunc(s.ended, cancel)()
	type outcome struct {
		v   any
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		defer func() { <-s.asking }()
		defer func() {
			if p := recover(); p != nil {
				done <- outcome{err: fmt.Errorf("this is a fault of Railyard: %v", p)}
			}
		}()
		v, err := do(ctx, f)
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		if errors.Is(o.err, context.DeadlineExceeded) {
			o.err = tooLong(most)
		}
		send(w, o.v, o.err)
	case <-ctx.Done():
		send(w, nil, tooLong(most))
	}
}

// tooLong is the error of work beyond its bound.
func tooLong(most time.Duration) error {
	return fmt.Errorf("it takes more than %v, which the page does not wait for; use the command", most)
}

// scenario resolves a form's scenario with a document's method, and records the shipped files that it names.
func (s *Server) scenario(f *form,
	by func(*scenario.Document, scenario.ReadFile) (*scenario.Plan, error)) (x pasted.Scenario, err error) {
	r := request{Text: f.Text, files: s.Files}
	x.Text = f.Text
	d, err := r.document()
	if err != nil {
		return x, err
	}
	named := map[string]bool{}
	x.Plan, err = by(d, func(name string) ([]byte, error) {
		text, err := r.read(name)
		if err == nil && !named[name] {
			named[name] = true
			x.Files = append(x.Files, pasted.Text{Name: name, Text: string(text)})
		}
		return text, err
	})
	return x, err
}

// readTexts lints or diagnoses pasted text.
func (s *Server) readTexts(w http.ResponseWriter, q *http.Request) {
	s.answer(w, q, maxWork, func(_ context.Context, f *form) (any, error) {
		if f.Text == "" {
			return pasted.Devices(f.Texts, nil)
		}
		x, err := s.scenario(f, (*scenario.Document).Network)
		if err != nil {
			return nil, err
		}
		return pasted.Devices(f.Texts, x.Plan)
	})
}

// planMemory answers with the memory of a parallel configuration.
func (s *Server) planMemory(w http.ResponseWriter, q *http.Request) {
	s.answer(w, q, maxWork, func(_ context.Context, f *form) (any, error) { return pasted.MemoryOf(f.Layout) })
}

// planSearch answers with the fastest parallel configurations.
func (s *Server) planSearch(w http.ResponseWriter, q *http.Request) {
	s.answer(w, q, maxWork, func(_ context.Context, f *form) (any, error) {
		x, err := s.scenario(f, (*scenario.Document).Fabric)
		if err != nil {
			return nil, err
		}
		return pasted.Search(f.Wanted, x)
	})
}

// planFailures answers with what single failures do to a step.
func (s *Server) planFailures(w http.ResponseWriter, q *http.Request) {
	s.answer(w, q, maxFailing, func(ctx context.Context, f *form) (any, error) {
		x, err := s.scenario(f, (*scenario.Document).Resolve)
		if err != nil {
			return nil, err
		}
		return pasted.Failures(ctx, f.Failing, x, &study.Pool{Memory: memory()})
	})
}

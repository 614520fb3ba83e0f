package parallel

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Meeting is a barrier of parallel goroutines: they spin, since there is little to do between two barriers, and
// sleep if others are late.
type Meeting struct {
	all    int32
	left   atomic.Int32
	turn   atomic.Uint32
	broken atomic.Bool // whether one of them has given up
	mu     sync.Mutex
	rung   sync.Cond
	why    string // it panicked
}

// Limits of busy waiting: number of checks, and of checks after which the goroutine yields the processor.
const (
	spins  = 4_000
	awakes = 4_100
)

// Together runs n copies of a function in parallel, the first on the caller's goroutine; id is the number of the
// copy. When one panics, the meetings of the rest fail, and the panic is the caller's.
func Together(n int, do func(id int, m *Meeting)) {
	m := &Meeting{all: int32(n)}
	m.left.Store(m.all)
	m.rung.L = &m.mu
	var all sync.WaitGroup
	for id := 1; id < n; id++ {
		all.Go(func() { m.run(id, do) })
	}
	m.run(0, do)
	if all.Wait(); m.why != "" {
		panic(m.why)
	}
}

func (m *Meeting) run(id int, do func(id int, m *Meeting)) {
	defer func() {
		if failed := recover(); failed != nil {
			m.mu.Lock()
			m.why = fmt.Sprintf("%v\n%s", failed, debug.Stack())
			m.mu.Unlock()
			m.broken.Store(true)
			m.next()
		}
	}()
	do(id, m)
}

// Wait returns when all are there, false where one has panicked. What they have written until then all can read.
func (m *Meeting) Wait() bool {
	turn := m.turn.Load()
	if m.left.Add(-1) == 0 {
		m.left.Store(m.all)
		m.next()
		return !m.broken.Load()
	}
	for i := 0; m.turn.Load() == turn && !m.broken.Load(); i++ {
		switch {
		case i > awakes:
			m.mu.Lock()
			for m.turn.Load() == turn && !m.broken.Load() {
				m.rung.Wait()
			}
			m.mu.Unlock()
		case i > spins:
			runtime.Gosched()
		}
	}
	return !m.broken.Load()
}

func (m *Meeting) next() {
	m.mu.Lock()
	m.turn.Add(1)
	m.mu.Unlock()
	m.rung.Broadcast()
}

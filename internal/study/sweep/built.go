package sweep

import (
	"reflect"
	"sync"

	"railyard/internal/workload"
)

// built keeps the graph that was built last, for those who build the same step many times: the trials of a study. A
// graph is shared, and nobody changes one. The zero value is ready.
type built struct {
	mu  sync.Mutex
	of  *workload.Training
	dag *workload.DAG
}

// build is the step's Build.
func (b *built) build(t *workload.Training) (*workload.DAG, error) {
	b.mu.Lock()
	of, dag := b.of, b.dag
	b.mu.Unlock()
	if of != nil && reflect.DeepEqual(of, t) {
		return dag, nil
	}
	own := *t
	dag, err := t.Build()
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.of, b.dag = &own, dag
	b.mu.Unlock()
	return dag, nil
}

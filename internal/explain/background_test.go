package explain_test

import (
	"strings"
	"testing"

	"railyard/internal/cause"
	"railyard/unit"
)

// TestBackgroundCheckpoint checks that the write of an asynchronous checkpoint behind the last step is no part of the
// steps, and that a write for which a later checkpoint waits is.
func TestBackgroundCheckpoint(t *testing.T) {
	const text = `name: saving
fabric: {kind: rail, segments: 1, hosts: 2, spines: 1}
server: {gpu: h100, gpus: 4, nics: 4, pcie: 50GB/s}
storage: {servers: 1, nics: 2, write: 20GB/s}
workload: {training: {model: gpt3-125m, dp: 8, global_batch: 32, steps: 2}}
fidelity: flow
`
	with := func(how string) string {
		return strings.Replace(text, "steps: 2", "steps: 2, checkpoint: {"+how+"}", 1)
	}
	_, none, _ := runAll(t, text)
	_, blocking, _ := runAll(t, with("every: 2"))
	_, last, _ := runAll(t, with("every: 2, mode: async"))
	_, both, _ := runAll(t, with("every: 1, mode: async"))
	bytes, write := 14*none.Params, blocking.StepTime-none.StepTime
	copying := int64(unit.Serialize(unit.Bytes(bytes/8), 400*unit.Gbps))
	more := last.StepTime - none.StepTime - copying
	if abs(more) > none.StepTime/100 || abs(last.ExposedSave-copying) > copying/100 {
		t.Errorf("%d ps with an asynchronous checkpoint, %d more than the copy of %d", last.StepTime, more, copying)
	}
	s := last.Storage
	if abs(s.After-write) > write/50 || abs(s.Write-write) > write/50 || s.Every != 0 || both.Storage.Every == 0 {
		t.Errorf("written in %d ps, until %d after the step, each %d (of two %d); blocking %d", s.Write, s.After, s.Every,
			both.Storage.Every, write)
	}
	if b := last.Busiest; b == nil || b.Time > last.StepTime {
		t.Errorf("the busiest NIC of a step of %d ps: %+v", last.StepTime, b)
	}
	if last.Chain.Costs(cause.StorageMedia) > none.StepTime/100 || last.Chain.Total() != last.StepTime {
		t.Errorf("%+v", last.Chain)
	}
	if d := both.StepTime - last.StepTime; d < write/2 || both.Chain.Costs(cause.StorageMedia) < write/2 {
		t.Errorf("two checkpoints: %d ps, one: %d; a write takes %d", both.StepTime, last.StepTime, write)
	}
}

package result_test

import (
	"math"
	"testing"

	"railyard/internal/result"
)

// One message of 125 bytes a microsecond is a gigabit per second; each takes 5 us, so the last five end
// behind the last that comes, and count. One that never ended counts neither as come nor as delivered, and
// where each takes twice as long as the one before less is delivered than comes.
func TestLoad(t *testing.T) {
	var flows []result.FlowRow
	for i := range int64(301) {
		flows = append(flows, result.FlowRow{Bytes: 125, Posted: i * 1e6, Done: (i + 5) * 1e6})
	}
	l := result.NewLoad(flows, 2e9, 0)
	if l.Messages != 201 || l.Mean != 5e6 || l.P99 != 5e6 || math.Abs(l.Drawn-0.5) > 0.01 ||
		l.Drawn != l.Delivered {
		t.Errorf("%+v", l)
	}
	for i := range flows {
		flows[i].Done = flows[i].Posted*2 + 5e6
	}
	flows[300].Done = -1
	if l := result.NewLoad(flows, 2e9, 5e6); l.Messages != 200 || math.Abs(l.Delivered/l.Drawn-0.5) > 0.01 {
		t.Errorf("%+v", l)
	}
	if l := result.NewLoad(nil, 1e9, 0); l != (result.Load{}) {
		t.Errorf("of nothing: %+v", l)
	}
}

package result_test

import (
	"math"
	"testing"

	"railyard/internal/result"
)

// One message of 125 bytes a microsecond is a gigabit per second. Each takes 5 us, so the last five end after the
// last start, and count. A message that never ended counts neither as drawn nor as delivered. If each takes twice
// as long as the one before, less is delivered than drawn.
func TestLoad(t *testing.T) {
	var flows []result.FlowRow
	for i := range int64(301) {
		flows = append(flows, result.FlowRow{Bytes: 125, Posted: i * 1e6, Done: (i + 5) * 1e6})
	}
	l := result.NewLoad(flows, 2e9, result.NewAlone(flows))
	if l.Messages != 201 || l.Mean != 5e6 || l.P99 != 5e6 || math.Abs(l.Drawn-0.5) > 0.01 ||
		l.Drawn != l.Delivered {
		t.Errorf("%+v", l)
	}
	for i := range flows {
		flows[i].Done = flows[i].Posted*2 + 5e6
	}
	flows[300].Done = -1
	l = result.NewLoad(flows, 2e9, result.Alone{Base: 5e6})
	if l.Messages != 200 || math.Abs(l.Delivered/l.Drawn-0.5) > 0.01 {
		t.Errorf("%+v", l)
	}
	if l := result.NewLoad(nil, 1e9, result.NewAlone(nil)); l != (result.Load{}) {
		t.Errorf("of nothing: %+v", l)
	}
}

// A few large messages in flight at the end are no backlog, because the difference is within the noise of their
// sizes. An equal amount in many small messages is a backlog.
func TestLoadBacklog(t *testing.T) {
	for _, c := range []struct {
		late, bytes int64
		want        bool
	}{{1, 5000, false}, {40, 125, true}} {
		var flows []result.FlowRow
		for i := range int64(301) {
			flows = append(flows, result.FlowRow{Bytes: 125, Posted: i * 1e6, Done: i*1e6 + 1})
		}
		for i := range c.late {
			f := &flows[int64(len(flows))-1-i]
			f.Bytes, f.Done = c.bytes, f.Posted+100e6
		}
		l := result.NewLoad(flows, 2e9, result.Alone{Base: 1})
		if l.Delivered > 0.85*l.Drawn || l.Backlogged() != c.want {
			t.Errorf("%d messages of %d B: %+v, backlogged: %v", c.late, c.bytes, l, l.Backlogged())
		}
	}
}

// A message of any size is delivered in the period in which it is drawn if it takes as long as without load.
func TestLoadSizes(t *testing.T) {
	var flows []result.FlowRow
	for i := range int64(301) {
		bytes := 125 + 100_000*(i%10/9)
		flows = append(flows, result.FlowRow{Bytes: bytes, Posted: i * 1e6, Done: i*1e6 + 3e6 + 400*bytes})
	}
	alone := result.NewAlone(flows)
	if math.Abs(alone.Base-3e6) > 1 || math.Abs(alone.PerByte-400) > 1e-3 {
		t.Errorf("%+v", alone)
	}
	alone.Base -= 1
	if l := result.NewLoad(flows, 2e9, alone); math.Abs(l.Delivered/l.Drawn-1) > 0.01 || l.Backlogged() {
		t.Errorf("%+v", l)
	}
}

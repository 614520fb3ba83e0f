package exec

import (
	"testing"

	"railyard/internal/inside"
	"railyard/internal/workload"
	"railyard/unit"
)

// TestBegun follows two jobs, one from the start and one from 7 us on. An operation has begun when its job has
// started and its inputs are available.
func TestBegun(t *testing.T) {
	m := machine(4)
	mix, err := workload.NewMix(len(m.Server), job(t, "a", 0, 0, 2), job(t, "b", 7*us, 4, 6))
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{rate: rate, latency: lat, free: map[int]unit.Time{}}
	w.x = New(w, m, mix)
	type seen struct {
		computes, sends bool
		waits           bool // the first waiting transfer belongs to this job
	}
	look := func(p *workload.Part) seen {
		first := p.Ops[0]
		return seen{w.x.Begun(first), w.x.Begun(first + 1), w.x.Waiting() == first+1}
	}
	at := map[unit.Time][2]seen{}
	for _, now := range []unit.Time{7*us - 1, 7 * us, 10*us - 1, 10 * us, 17 * us} {
		w.at(now, func() { at[now] = [2]seen{look(&mix.Jobs[0]), look(&mix.Jobs[1])} })
	}
	if got := look(&mix.Jobs[0]); got != (seen{true, false, false}) {
		t.Errorf("job a at 0: %+v", got)
	}
	if got := look(&mix.Jobs[1]); got != (seen{}) {
		t.Errorf("job b at 0: %+v", got)
	}
	w.run()
	for now, want := range map[unit.Time][2]seen{
		7*us - 1:  {{true, false, false}, {}},
		7 * us:    {{true, false, false}, {true, false, false}},
		10*us - 1: {{true, false, false}, {true, false, false}},
	} {
		if at[now] != want {
			t.Errorf("at %v: %+v, want %+v", now, at[now], want)
		}
	}
	if got := w.x.Waiting(); got != -1 {
		t.Errorf("%d waits when all is over", got)
	}
}

// TestWaitingIsAJobsThatBegan: a job's transfer counts as waiting from the time at which its job starts.
func TestWaitingIsAJobsThatBegan(t *testing.T) {
	b := workload.NewBuilder(2)
	b.Transfer(0, 1, unit.MB)
	m := machine(2)
	mix, err := workload.NewMix(len(m.Server), workload.Job{DAG: seal(t, b), Place: []int{0, 2}, Start: us})
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{rate: rate, latency: lat, free: map[int]unit.Time{}}
	w.x = New(w, m, mix)
	for now, want := range map[unit.Time]int32{0: -1, us - 1: -1, us: 0, us + 1: 0} {
		if w.now = now; w.x.Waiting() != want {
			t.Errorf("at %v it waits for %d, want %d", now, w.x.Waiting(), want)
		}
	}
}

// TestPipesOfServers numbers pipes server by server: two for each GPU of a server with a switch, in and out.
// Servers of one size share one description in memory.
func TestPipesOfServers(t *testing.T) {
	m := Machine{NVLink: NVLink{Rate: 3600 * unit.Gbps, Latency: us}}
	for server, gpus := range []int{4, 2, 4, 1} {
		for range gpus {
			m.Server, m.Rail = append(m.Server, server), append(m.Rail, 0)
		}
	}
	m.Inside = []*inside.Fabric{nil, nil, nil}
	b := workload.NewBuilder(len(m.Server))
	b.Transfer(0, 1, unit.MB)
	x, _ := over(m, seal(t, b))
	if x.Pipes() != 2*(4+2+4+1) {
		t.Errorf("%d pipes, want 22", x.Pipes())
	}
	if f := x.pipes.of; f[0] != f[2] || f[0] == f[1] || f[3] == f[0] || f[3] == f[1] {
		t.Error("servers of one size are in memory several times, or of different sizes once")
	}
	seen := map[int32]string{}
	for _, c := range []struct{ from, to int }{{0, 1}, {3, 2}, {4, 5}, {5, 4}, {6, 9}, {8, 7}} {
		way := x.Way(c.from, c.to, make([]int32, 0, 2))
		if len(way) != 2 {
			t.Fatalf("from %d to %d by pipes %v", c.from, c.to, way)
		}
		for _, pipe := range way {
			server := m.Server[c.from]
			first, n := []int32{0, 8, 12}[server], []int32{8, 4, 8}[server]
			if pipe < first || pipe >= first+n || seen[pipe] != "" {
				t.Errorf("from %d to %d by pipe %d, those of its server are %d to %d; %s", c.from, c.to, pipe, first,
					first+n-1, seen[pipe])
			}
			if seen[pipe] = "it is another way's"; x.PipeRate(pipe) != 3600*unit.Gbps {
				t.Errorf("pipe %d has %v", pipe, x.PipeRate(pipe))
			}
		}
		line, latency := x.Alone(c.from, c.to, 45*unit.MB) // 45 MB at 450 GB/s
		if line != 100*us || latency != us {
			t.Errorf("alone, from %d to %d takes %v and %v", c.from, c.to, line, latency)
		}
	}
}

// TestPipesByServerSize gives servers of 1, 2 and 4 GPUs two pipes per GPU, in any order.
func TestPipesByServerSize(t *testing.T) {
	for _, sizes := range [][]int{{1, 2, 4}, {2, 1, 4}, {4, 2, 1}, {1, 2, 3, 5, 8}} {
		m := Machine{NVLink: NVLink{Rate: 3600 * unit.Gbps, Latency: us}}
		for server, gpus := range sizes {
			for range gpus {
				m.Server, m.Rail = append(m.Server, server), append(m.Rail, 0)
			}
		}
		b := workload.NewBuilder(len(m.Server))
		b.Compute(0, us, workload.Forward)
		if x, _ := over(m, seal(t, b)); x.Pipes() != 2*len(m.Server) {
			t.Errorf("servers of %v GPUs have %d pipes, want %d", sizes, x.Pipes(), 2*len(m.Server))
		}
	}
}

// TestShareOfARun is the share of the bytes that are delivered or, without network traffic, of the operations that
// have ended. A run without operations has share 0.
func TestShareOfARun(t *testing.T) {
	for _, c := range []struct {
		p    Progress
		want float64
	}{
		{Progress{Delivered: 0, Total: 400, Ops: 4, OpsLeft: 1}, 0},
		{Progress{Delivered: 100, Total: 400, Ops: 4, OpsLeft: 1}, 0.25},
		{Progress{Delivered: 400, Total: 400, Ops: 4, OpsLeft: 1}, 1},
		{Progress{Ops: 8, OpsLeft: 8}, 0},
		{Progress{Ops: 8, OpsLeft: 6}, 0.25},
		{Progress{Ops: 8}, 1},
		{Progress{}, 0},
	} {
		if got := c.p.Share(); got != c.want {
			t.Errorf("%+v: %g is done, want %g", c.p, got, c.want)
		}
	}
}

// TestBytesByWhereTheyGo counts bytes over the network and inside servers separately.
func TestBytesByWhereTheyGo(t *testing.T) {
	b := workload.NewBuilder(4)
	b.Transfer(0, 1, 5*unit.MB)
	b.Transfer(0, 2, 300*unit.MB)
	b.Transfer(1, 3, 11*unit.MB)
	b.Compute(3, us, workload.Forward)
	x, w := over(machine(2), seal(t, b))
	if x.NetBytes != 311*unit.MB || x.NVBytes != 0 {
		t.Errorf("before it begins: %v over the network, %v inside", x.NetBytes, x.NVBytes)
	}
	w.run()
	if x.NetBytes != 311*unit.MB || x.NVBytes != 5*unit.MB {
		t.Errorf("in the end: %v over the network, %v inside", x.NetBytes, x.NVBytes)
	}
}

// TestBeginStartsAtOnce: operations of a job without a start time run before the clock advances. For a job with
// one, only a timer is set.
func TestBeginStartsAtOnce(t *testing.T) {
	b := workload.NewBuilder(2)
	b.Transfer(0, 1, unit.MB)
	d := seal(t, b)
	m := machine(2)
	for start, sent := range map[unit.Time]int{0: 1, 1: 0} {
		mix, err := workload.NewMix(len(m.Server), workload.Job{DAG: d, Place: []int{0, 2}, Start: start})
		if err != nil {
			t.Fatal(err)
		}
		w := &wire{rate: rate, latency: lat, free: map[int]unit.Time{}}
		w.x = New(w, m, mix)
		if w.x.Begin(); len(w.sent) != sent || w.x.Computing != 1-sent {
			t.Errorf("a job that starts at %v: %d transfers sent, %d clocks", start, len(w.sent), w.x.Computing)
		}
	}
}

// TestUnreachableAsksOnce queries the network once for each pair of GPUs, for any number of transfers.
func TestUnreachableAsksOnce(t *testing.T) {
	b := workload.NewBuilder(6)
	for range 50 {
		b.Transfer(0, 2, unit.MB)
		b.Transfer(2, 0, unit.MB)
		b.Transfer(0, 1, unit.MB)
	}
	x, w := over(machine(3), seal(t, b))
	c := &counting{wire: w, asked: map[[2]int]int{}}
	x.carrier = c
	if from, to, cut := x.Unreachable(); cut || from != 0 || to != 0 {
		t.Errorf("%d cannot reach %d: %v", from, to, cut)
	}
	if len(c.asked) != 2 || c.asked[[2]int{0, 2}] != 1 || c.asked[[2]int{2, 0}] != 1 {
		t.Errorf("asked %v", c.asked)
	}
}

// counting is a wire that counts queries by pair.
type counting struct {
	*wire
	asked map[[2]int]int
}

func (c *counting) Reaches(from, to int) bool {
	c.asked[[2]int{from, to}]++
	return c.wire.Reaches(from, to)
}

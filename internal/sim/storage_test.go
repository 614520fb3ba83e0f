package sim

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"railyard/internal/result"
	"railyard/internal/workload"
	"railyard/unit"
)

const storageRail = `
name: storage
fabric: {kind: rail, hosts: 2, spines: 2, host_link: {rate: %s}}
server: {gpus: 2, nics: 2, nic_latency: 0s}
cc: {algorithm: none}
storage: {servers: %d, nics: 2, nic_rate: 100Gbps, depth: 32, request: 256KiB, %s}
workload: {traffic: {storage: {read: 16MiB}}}
`

// Reads have the rate of the slowest part: the media of all servers, their NICs, or those of the GPUs.
func TestLoadTime(t *testing.T) {
	const all = 4 * 16 * float64(unit.MiB)
	for _, c := range []struct {
		host    string
		servers int
		more    string
		rate    float64 // total rate, bytes per second
	}{
		{"400Gbps", 2, "read: 4GB/s, latency: 50us", 8e9},
		{"400Gbps", 1, "read: 4GB/s", 4e9},
		{"400Gbps", 1, "network: shared", 2 * 12.5e9},         // the two NICs of the storage server
		{"10Gbps", 2, "read: 100GB/s", 4 * 1.25e9},            // the GPUs' own NICs
		{"400Gbps", 2, "network: separate", 2 * 12.5e9},       // one storage NIC in each server
		{"400Gbps", 1, "network: separate, read: 3GB/s", 3e9}, // the media again
	} {
		r, s, _ := runAll(t, fmt.Sprintf(storageRail, c.host, c.servers, c.more))
		want := all / c.rate
		got := r.Net.Q.Now().Seconds()
		// headers are 3 % of packets, and shares average out over requests of a 64th
		if ratio := got / want; ratio < 1 || ratio > 1.12 {
			t.Errorf("%s of %d: %.3f ms, want %.3f", c.more, c.servers, got*1e3, want*1e3)
		}
		if s.Storage.Read != 4*16<<20 || s.Storage.Written != 0 || s.Storage.Servers != c.servers {
			t.Errorf("%+v", s.Storage)
		}
	}
}

// With one outstanding request at a time, each takes a round trip, the media's latency and its bytes' time.
func TestQueueDepth(t *testing.T) {
	text := `
name: depth
fabric: {kind: rail, hosts: 2, spines: 2}
server: {gpus: 1, nics: 1}
storage: {servers: 1, nics: 1, depth: %d, request: 64KiB, read: 8GB/s, latency: 80us}
workload: {traffic: {storage: {read: 4MiB}}}
`
	took := func(depth int) float64 {
		p := load(t, fmt.Sprintf(text, depth)).Plan
		s := p.Storage.Access // of a single GPU, and the storage ends after it
		s.First = 1
		d, err := s.Access(1, 4*unit.MiB, 0)
		if err != nil {
			t.Fatal(err)
		}
		p.Jobs = []workload.Job{{Name: "one", DAG: d, Place: []int{0, p.Graph.Memory(0), p.Graph.Media(0)}}}
		r, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Go(nil); err != nil {
			t.Fatal(err)
		}
		return r.Net.Q.Now().Seconds()
	}
	one := took(1)
	each := 80e-6 + 65536/8e9 + 65536/50e9 // plus microseconds of cables, NICs and headers
	if got := one / 64; got < each || got > each+6e-6 {
		t.Errorf("a request takes %.2f us, want %.2f", got*1e6, each*1e6)
	}
	if got := one / took(4); math.Abs(got-4) > 0.1 {
		t.Errorf("four at a time are %.2f times as fast", got)
	}
	if got := took(64); got < 4<<20/8e9 || got > 1.3*(80e-6+4<<20/8e9) { // the media's rate
		t.Errorf("64 at a time take %.1f us", got*1e6)
	}
}

const trainingFrom = `
name: loading
fabric: {kind: rail, hosts: 2, spines: 2}
server: {gpus: 2, nics: 2, pcie: 40GB/s}
storage: {servers: 1, nics: 2, read: 4GB/s, write: 4GB/s, %s}
workload:
  training: {model: small.json, dp: 4, steps: 4, sequence: 512, global_batch: 4, %s}
`

// A step waits for its batch as long as that takes beyond the step before. With one batch prefetched a step takes
// the longer of both times, otherwise their sum.
func TestDataStalls(t *testing.T) {
	period := func(more string) (unit.Time, *result.Summary) {
		_, s, _ := runAll(t, fmt.Sprintf(trainingFrom, "network: separate", more))
		return unit.Time(s.StepTime), s
	}
	alone, s := period("tp: 1")
	if len(s.Stalls) > 0 || s.ExposedLoad > 0 || s.Steps != 4 {
		t.Fatalf("%d stalls without data, %d steps", len(s.Stalls), s.Steps)
	}
	step := alone.Seconds() / 4
	sample := func(seconds float64) string { // bytes for each of four GPUs that the media deliver in that time
		return fmt.Sprintf("%dB", int(seconds*4e9/4))
	}
	fast := "data: {prefetch: 1, sample: " + sample(step/2) + "}"
	hidden, s := period(fast)
	if near := hidden.Seconds() / alone.Seconds(); near > 1.01 || len(s.Stalls) > 0 {
		t.Errorf("batches in half a step: %.4f times the time, %d stalls", near, len(s.Stalls))
	}
	slow, s := period("data: {prefetch: 1, sample: " + sample(3*step) + "}")
	want := step + 3*3*step // the first batch is present; each of three takes three steps
	if got := slow.Seconds(); math.Abs(got/want-1) > 0.06 {
		t.Errorf("batches of three steps: %.3f ms, want %.3f", got*1e3, want*1e3)
	}
	if len(s.Stalls) != 3 || s.Stalls[0].Step != 2 || s.Stalls[0].Ranks != 4 ||
		s.Stalls[0].From != "storage-1" || s.Stalls[0].Media < 9*s.Stalls[0].Network {
		t.Errorf("%+v", s.Stalls)
	}
	waited := int64(0)
	for _, x := range s.Stalls {
		waited += x.Waited
	}
	// the rank that waits longest varies
	if over := float64(waited) / float64(s.ExposedLoad); over < 1 || over > 1.06 {
		t.Errorf("steps waited %v, the rank that ended last %v", unit.Time(waited), unit.Time(s.ExposedLoad))
	}
	none, s := period("data: {prefetch: 0, sample: " + sample(3*step) + "}")
	if got, want := none.Seconds(), 4*4*step; math.Abs(got/want-1) > 0.06 || len(s.Stalls) != 4 {
		t.Errorf("nothing ahead: %.3f ms, want %.3f, %d stalls", got*1e3, want*1e3, len(s.Stalls))
	}
}

// A synchronous checkpoint costs its bytes at the media's rate. An asynchronous one costs the copy, and waits if
// the previous checkpoint is not yet written.
func TestCheckpoints(t *testing.T) {
	took := func(more string) (float64, *result.Summary) {
		_, s, _ := runAll(t, fmt.Sprintf(trainingFrom, "network: separate", more))
		return unit.Time(s.StepTime).Seconds(), s
	}
	alone, s := took("tp: 1")
	step, params := alone/4, float64(s.Params)
	write := params / 4e9 // a byte for each parameter
	blocking, s := took("checkpoint: {every: 2, bytes: 1}")
	if got := float64(s.Storage.Written); got < 2*params || got > 2*params+64 {
		t.Errorf("%.0f bytes are written, want 2 times %.0f", got, params)
	}
	if got, want := blocking, alone+2*write; math.Abs(got/want-1) > 0.03 {
		t.Errorf("blocking: %.3f ms, want %.3f", got*1e3, want*1e3)
	}
	if len(s.Stalls) != 1 || s.Stalls[0].Kind != "checkpoint" || s.Stalls[0].Step != 3 ||
		math.Abs(unit.Time(s.Stalls[0].Waited).Seconds()/write-1) > 0.05 {
		t.Errorf("%+v, a checkpoint takes %.3f ms", s.Stalls, write*1e3)
	}
	// the last checkpoint begins at the end of the last step: its copy is part of it, its write comes behind
	beside, s := took("checkpoint: {every: 2, mode: async, bytes: 1}")
	snapshot := params / 4 / 40e9
	want := 2*step + snapshot + max(2*step, write) + snapshot
	if math.Abs(beside/want-1) > 0.03 || write < 2*step {
		t.Errorf("beside: %.3f ms, want %.3f, with %.3f of writing in %.3f", beside*1e3, want*1e3, write*1e3,
			2*step*1e3)
	}
	if len(s.Stalls) != 1 || math.Abs(unit.Time(s.Stalls[0].Waited).Seconds()/(write-2*step)-1) > 0.1 {
		t.Errorf("%+v, the first is written %.3f ms behind the second's time", s.Stalls, (write-2*step)*1e3)
	}
	// one replica of four writes an equal amount, through one NIC
	_, s = took("checkpoint: {every: 2, by: replica, bytes: 1}")
	if got := float64(s.Storage.Written); got < 2*params || got > 2*params+64 {
		t.Errorf("%.0f bytes are written by one, want 2 times %.0f", got, params)
	}
}

// Storage in its own class: only its packets are in that queue. A separate storage network carries nothing else.
func TestStorageClass(t *testing.T) {
	for _, network := range []string{"shared", "separate"} {
		r, _, tables := runAll(t, fmt.Sprintf(trainingFrom, "dscp: 34, network: "+network,
			"data: {sample: 4MB}, checkpoint: {every: 4, bytes: 1}"),
			"switch.dscp.34=4", "switch.queues.0.weight=30", "switch.queues.4.weight=20",
			"switch.queues.4.alpha=1")
		classes := map[string]bool{}
		for _, q := range tables.QPs {
			stored := strings.Contains(q.From+q.To, "storage")
			classes[q.Service] = true
			if (q.Service == "storage") != stored {
				t.Errorf("%s to %s uses %s", q.From, q.To, q.Service)
			}
		}
		if len(classes) != 2 || r.Plan.Services[1].DSCP != 34 {
			t.Errorf("%v", classes)
		}
		for i := range r.Graph.NICs {
			nic := &r.Graph.NICs[i]
			first, last := r.Graph.GPUsOf(nic.Host)
			if first < last && nic.Index >= 2 && network == "shared" {
				t.Error("a NIC for storage on a shared network")
			}
		}
	}
}

// Two runs of one scenario have equal bytes, and the estimate counts the traffic of storage.
func TestStorageEstimate(t *testing.T) {
	for _, network := range []string{"shared", "separate"} {
		r, _, _ := runAll(t, fmt.Sprintf(storageRail, "400Gbps", 2, "read: 4GB/s, network: "+network))
		c := r.Cost
		if int(c.Messages) != len(r.Hosts.Messages) || int(c.QPs) != r.Hosts.Conns() {
			t.Errorf("%d messages on %d queue pairs, estimated %d on %d", len(r.Hosts.Messages),
				r.Hosts.Conns(), c.Messages, c.QPs)
		}
		if near := float64(c.PacketHops) / float64(r.Net.PacketHops); near < 0.9 || near > 1.1 {
			t.Errorf("%d packet-hops, estimated %d", r.Net.PacketHops, c.PacketHops)
		}
	}
}

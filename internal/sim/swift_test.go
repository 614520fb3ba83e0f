package sim

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/engine"
	"railyard/unit"
)

// incast is n servers that send to one more over one switch, at 100 Gbit/s, each with m queue pairs.
func incast(senders, qps int, bytes string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `
fabric: {kind: rail, hosts: %d, spines: 1, uplinks: 1, pipeline: 300ns,
  host_link: {rate: 100Gbps, cable: 300m}, fabric_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: swift}
transport: {qps: %d}
output: {sample: 20us}
workload: {traffic: {flows: [`, senders+1, qps)
	for i := range senders {
		fmt.Fprintf(&b, "\n  {from: host-%d/gpu-1, to: host-%d/gpu-1, bytes: %s},", i+1, senders+1, bytes)
	}
	return b.String() + "\n]}}\n"
}

// crowd is the receiver's port in an interval, and the senders at its end.
type crowd struct {
	goodput    float64 // share of the maximum payload of its line
	queue      float64 // mean of the bytes at the port, looked at every 20 us
	peak       int64
	delay, aim float64 // mean of the senders' last round trips and of their targets, seconds
	jain       float64 // Jain's index of the bytes of each sender
	below      int     // senders with less than one packet
	cuts       int64
	lossless   bool // whether nothing was lost
}

func swiftCrowd(t *testing.T, senders, qps int, from, to unit.Time, sets ...string) (c crowd) {
	t.Helper()
	r := load(t, incast(senders, qps, "1GB"), sets...)
	q := r.Net.Q
	r.schedule()
	q.Push(engine.OfRun, r.sampler.interval, kindSample, 0, 0)
	r.Begin()
	had := make([]unit.Bytes, senders*qps)
	began := unit.Time(0)
	for never := false; q.Now() < to; {
		r.RunUntil(&never, q.Popped()+100, r.Event)
		if began > 0 || q.Now() < from {
			continue
		}
		began = q.Now()
		for i := range had {
			had[i] = r.Hosts.Placed(int32(i))
		}
	}
	sum, squares, n := 0.0, 0.0, float64(len(had))
	for i := range had {
		ctl := r.Hosts.Controller(int32(i))
		signal := func(name string) float64 { x, _ := ctl.Signal(q.Now(), name); return x }
		x := float64(r.Hosts.Placed(int32(i)) - had[i])
		sum, squares = sum+x, squares+x*x
		c.delay, c.aim = c.delay+signal("delay")/n, c.aim+signal("target_delay")/n
		cuts, _ := ctl.Counter("cuts")
		if c.cuts += cuts; signal("window") < 4096 {
			c.below++
		}
	}
	const wire = float64(4096+62+20) / 4096
	c.goodput = sum * 8 * wire / (q.Now() - began).Seconds() / 100e9
	c.jain = sum * sum / squares / n
	port := r.Net.Ports[r.Port(r.Graph.NICs[senders].Links[0], r.Graph.Hosts[senders])].Peer
	looks, queued := 0, int64(0)
	for _, l := range r.sampler.rows {
		if l.Port == port && unit.Time(l.Start) >= from {
			looks, queued, c.peak = looks+1, queued+l.Queued, max(c.peak, l.Queued)
		}
	}
	c.queue = float64(queued) / float64(looks)
	c.lossless = r.Net.Drops == 0 && r.Hosts.Count.Retransmissions+r.Hosts.Count.Timeouts == 0
	return c
}

// Swift's steady state (SIGCOMM 2020, 3.1 and 3.2): any number of flows fill the link, share it, and keep the delay
// at the target. Flow scaling raises the target with their number. The queue is what the line sends in the target
// minus the idle path's round trip. A lone flow has no queue at all.
func TestSwiftKeepsItsTarget(t *testing.T) {
	const alone = 7.343e-6 // round trip of a full packet, seconds
	for _, profile := range []string{"path", "htsim"} {
		last := 0.0
		for _, n := range []int{1, 2, 4, 16, 64} {
			c := swiftCrowd(t, n, 1, 2*unit.Millisecond, 5*unit.Millisecond, "cc.swift.profile="+profile)
			queue := (c.aim - alone) * 100e9 / 8
			if n == 1 {
				queue = 0
			}
			if c.goodput < 0.995 || c.jain < 0.98 || !c.lossless {
				t.Errorf("%s, %d flows: %+v", profile, n, c)
			}
			acted := n == 1 || c.aim > last && c.cuts > 0
			if c.queue < queue*0.7-8192 || c.queue > queue*1.3+8192 || !acted {
				t.Errorf("%s, %d flows: a queue of %.0f bytes, want %.0f: %+v", profile, n, c.queue, queue, c)
			}
			last = c.aim
		}
	}
}

// 1,000 flows to one receiver (3.5 of the paper): the data of their first round trip, 120 MB, drain. Afterwards
// each flow has less than one packet in flight, and the line is full, with a queue that the highest target bounds.
// Nothing is lost.
func TestSwiftBelowOnePacket(t *testing.T) {
	c := swiftCrowd(t, 50, 20, 25*unit.Millisecond, 45*unit.Millisecond)
	const highest = 7.343e-6 * (1 + 1/6.55 + 5)
	most := highest * 100e9 / 8
	if c.goodput < 0.95 || c.below < 900 || c.jain < 0.8 || !c.lossless {
		t.Errorf("%+v", c)
	}
	if c.queue < most/2 || c.queue > most*1.2 || float64(c.peak) > 3*most {
		t.Errorf("the highest target holds %.0f bytes: %+v", most, c)
	}
}

// A receiver's PCIe is half as fast as its cable. The second window keeps the NIC's buffer below the level at which
// it pauses its switch. With only the fabric's window, which sees no queue, it pauses.
func TestSwiftSparesASlowNIC(t *testing.T) {
	const text = `name: slow
fabric: {kind: rail, hosts: 4, spines: 1, host_link: {rate: 200Gbps, cable: 5m}}
server: {gpus: 1, nics: 1, pcie: 100Gbps}
cc: {algorithm: swift}
workload: {traffic: {incast: {bytes: 8MB, fan_in: 2}}}
`
	_, with, _ := runAll(t, text)
	_, without, _ := runAll(t, text, "cc.swift.end_target=1s")
	if with.PFCPause != 0 || without.PFCPause == 0 {
		t.Errorf("paused for %d ps, and for %d without the second window", with.PFCPause, without.PFCPause)
	}
	if slow := float64(with.StepTime) / float64(without.StepTime); slow > 1.15 {
		t.Errorf("it takes %.2f times as long as a NIC that pauses", slow)
	}
}

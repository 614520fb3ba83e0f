package sim

import (
	"strings"
	"testing"

	"railyard/internal/result"
	"railyard/rc"
	"railyard/unit"
)

// railOnly is two rails without spines. Rail 1 is in the hands of its switch.
const railOnly = `
name: rail only
fabric: {kind: rail-only, hosts: 4, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 2, nics: 2}
transport: {timeout: 12}
workload: {traffic: {alltoall: {bytes: 16MB}}}
on_failure: {collective_timeout: 60s, checkpoint_every: 1800s, restart: 300s}
events:
`

// cutRail breaks all cables of rail 1.
func cutRail(at string, up string) (s string) {
	for _, port := range []string{"1", "2", "3", "4"} {
		s += "  - {link: 'rail-1:Eth" + port + "', at: " + at + ", up: " + up + ", converge: 1ms}\n"
	}
	return s
}

// A job that loses a rank ends when retries are exhausted, as on real NICs. The outcome names the isolated rank,
// since when, the work done, and that the others hang until their time-out. It is no refusal and no error.
func TestARankIsLost(t *testing.T) {
	for name, at := range map[string]unit.Time{"0s": 0, "100us": 100 * unit.Microsecond} {
		r, s, _ := runAll(t, railOnly+cutRail(name, "false"))
		o := s.Outcome
		if s.Complete || o == nil || o.Ended != result.RankLost || r.Failed() == nil {
			t.Fatalf("at %s: complete %v, %+v", name, s.Complete, o)
		}
		if len(o.CutOff) != 4 || o.CutOff[2].GPU != "host-3/gpu-1" || o.CutOff[0].Since != int64(at) {
			t.Errorf("at %s: cut off %+v", name, o.CutOff)
		}
		// The last answer arrived at the failure or before. Seven retries and the first try follow it.
		tries := 8 * rc.LocalAckTimeout(12)
		if lost := unit.Time(o.At); lost < tries || lost > at+tries+unit.Millisecond {
			t.Errorf("at %s: lost at %v, %v of tries behind the break", name, lost, tries)
		}
		if hung := unit.Time(o.Job) - 60*unit.Second; hung < 0 || hung > unit.Time(o.At) {
			t.Errorf("at %s: the job ends at %v", name, unit.Time(o.Job))
		}
		if o.Restart != int64(300*unit.Second) || o.Cost != o.Job+o.LostMean+o.Restart {
			t.Errorf("at %s: back after %d, costs %d", name, o.Restart, o.Cost)
		}
		if o.LostMean*2 != o.LostMost || o.LostMost != int64(1800*unit.Second) {
			t.Errorf("lost %v", o)
		}
		d := o.Done
		if d.Operations <= 0 || d.Operations >= d.OfOperations || d.Bytes >= d.OfBytes || d.Bytes <= 0 {
			t.Errorf("at %s: finished %+v", name, d) // rail 2 continues
		}
		if unit.Time(s.StepTime) > 2*unit.Second {
			t.Errorf("idle time was simulated: %v", unit.Time(s.StepTime))
		}
	}
}

// A rail that is back before the retries are exhausted costs time and no rank.
func TestNoRankIsLostInTime(t *testing.T) {
	_, s, _ := runAll(t, railOnly+cutRail("100us", "false")+cutRail("50ms", "true"))
	if !s.Complete || s.Outcome != nil || s.FailedQPs != 0 {
		t.Errorf("complete %v, %+v", s.Complete, s.Outcome)
	}
	if step := unit.Time(s.StepTime); step < 50*unit.Millisecond || step > 110*unit.Millisecond {
		t.Errorf("step %v", step)
	}
}

// Other transports lose ranks, too.
func TestEveryTransportLosesARank(t *testing.T) {
	for _, kind := range []string{"mrc", "srd", "falcon"} {
		_, s, _ := runAll(t, strings.Replace(railOnly, "transport: {timeout: 12}", "transport: "+kind, 1)+
			cutRail("100us", "false"))
		if s.Complete || s.Outcome == nil || len(s.Outcome.CutOff) != 4 {
			t.Errorf("%s: complete %v, %+v", kind, s.Complete, s.Outcome)
		}
	}
}

// A fabric that never connected two ranks is not a job's failure, so it is rejected before the run.
func TestNoWayIsRefused(t *testing.T) {
	text := strings.Replace(railOnly, "events:", "", 1)
	p, err := parsed(text, []string{"fabric.segments=2", "server.pxn=false"})
	if err == nil {
		_, err = New(p)
	}
	if err == nil || !strings.Contains(err.Error(), "cannot reach") {
		t.Errorf("%v", err)
	}
}

// The GPUs of a server that fails do not wait for the time-out; those of others do.
func TestDeadGPUsDoNotHang(t *testing.T) {
	_, s, _ := runAll(t, railOnly+"  - {server: host-4, at: 100us, up: false}\n")
	if o := s.Outcome; o == nil || o.Waited != s.GPUs-s.GPUs/4 {
		t.Errorf("of %d GPUs: %+v", s.GPUs, s.Outcome)
	}
}

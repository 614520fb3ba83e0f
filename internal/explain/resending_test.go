package explain_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"railyard/internal/cause"
	"railyard/rc"
)

// overtaking is a permutation over paths on which packets overtake one another.
const overtaking = `name: x
fabric: {kind: fat-tree, k: 4, host_link: {rate: 400Gbps, delay: 1us}}
lb: reps
workload: {traffic: {permutation: {bytes: 2MB}}}
`

// Go-back-N takes what overtakes for a loss, and what it loses at a message's end only its time-out finds:
// the run and its slowest message say so, and no window is blamed for the time until then. Recovery that
// keeps what overtakes has nothing of it to say.
func TestTimeoutsOfReordering(t *testing.T) {
	late := 0
	for _, algorithm := range []string{"nscc", "swift", "none"} {
		for _, lb := range []string{"reps", "oblivious"} {
			r, s, tab := runAll(t, overtaking, "cc.algorithm="+algorithm, "lb="+lb)
			if !r.Plan.Mixes() || s.Drops != 0 {
				t.Fatalf("%s: no reordering, or %d drops", lb, s.Drops)
			}
			timeout := int64(rc.LocalAckTimeout(14))
			waited := int64(s.Timeouts) * timeout
			if s.Timeouts == 0 {
				if strings.Contains(s.Slowest.Why, "time-out") {
					t.Errorf("%s, %s without a time-out: %s", algorithm, lb, s.Slowest.Why)
				}
				continue
			}
			late++
			if costs := s.Chain.Costs(cause.Reordering); costs < timeout || costs > waited+s.StepTime-timeout ||
				s.Chain.Of(cause.Window) > timeout/20 {
				t.Errorf("%s, %s: of %d ps %d for packets retransmitted, %d for the window", algorithm, lb,
					s.StepTime, s.Chain.Of(cause.Reordering), s.Chain.Of(cause.Window))
			}
			for where, why := range map[string]string{"slowest": s.Slowest.Why,
				"flows": tab.Collectives[0].Why} {
				if !strings.Contains(why, "retransmission timeouts of 67.1 ms: go-back-N treats reordering") {
					t.Errorf("%s, %s, %s: %s", algorithm, lb, where, why)
				}
			}
		}
	}
	if late < 2 {
		t.Errorf("%d runs with time-outs: the rest says little", late)
	}
	_, s, _ := runAll(t, overtaking, "cc.algorithm=nscc", "transport.recovery=selective",
		"transport.write=only")
	if s.Timeouts > 0 || strings.Contains(s.Slowest.Why, "reordering") {
		t.Errorf("selective: %d time-outs, %s", s.Timeouts, s.Slowest.Why)
	}
}

// Where packets are lost indeed, time-outs are said to be theirs.
func TestTimeoutsOfLoss(t *testing.T) {
	text, err := os.ReadFile("../../scenarios/three-flows.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, s, _ := runAll(t, string(text), "cc.algorithm=none", "switch.pfc=false",
		"switch.queues.3.limit=200KB", "transport.timeout=10")
	if s.Drops == 0 || s.Timeouts == 0 || strings.Contains(s.Slowest.Why, "reordering") ||
		!strings.Contains(s.Slowest.Why, "timeouts of 4.19 ms: no later packet revealed the loss") {
		t.Errorf("%d drops, %d time-outs: %s", s.Drops, s.Timeouts, s.Slowest.Why)
	}
}

// TestResentBytesGo checks that paces, which hold up each byte that is sent, go with the bytes that are retransmitted:
// after a bit error go-back-N sends what is behind it once more, at the rate that DCQCN has left.
func TestResentBytesGo(t *testing.T) {
	const text = `
seed: 516359
fabric: {kind: pod, hosts: 3, segments: 2, spines: 4, uplinks: 0, pipeline: 500ns,
  host_link: {rate: 100Gbps, cable: 5m, bit_error_rate: %s}, fabric_link: {rate: 100Gbps, cable: 10m}}
server: {gpus: 1, nics: 1, nic_ports: 2, bond: hash}
transport: {qps: 2, recovery: go-back-n}
cc: {algorithm: dcqcn, dcqcn: {profile: nic}}
lb: flowlet
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-4/gpu-1, bytes: 1991735B},
  {from: host-2/gpu-1, to: host-5/gpu-1, bytes: 1991735B}, {from: host-3/gpu-1, to: host-6/gpu-1, bytes: 1991735B}]}}
`
	_, s, _ := runAll(t, fmt.Sprintf(text, "3.7e-07"))
	_, other, _ := runAll(t, fmt.Sprintf(text, "0"))
	saves, says := s.StepTime-other.StepTime, s.Chain.Saving[cause.Retransmission]
	if 2*saves < s.StepTime || 5*abs(says-saves) > saves {
		t.Errorf("without errors %d ps of %d are saved, said are %d", saves, s.StepTime, says)
	}
}

// TestSlowestResent checks that a message near its ideal time names the retransmissions that its step names, however
// small their share is, and no contention only without them.
func TestSlowestResent(t *testing.T) {
	const one = `name: long
fabric: {kind: rail, segments: 2, hosts: 1, spines: 1, host_link: {rate: 400Gbps, cable: 5m}}
server: {gpus: 1, nics: 1}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 100MB}]}}
`
	for _, c := range []struct{ rate, transport, want string }{
		{"1e-20", "roce", "no contention"},
		{"2e-8", "roce", "above line rate: retransmission; "},
		{"2e-8", "srd", "); "},
	} {
		_, s, _ := runAll(t, one, "fabric.fabric_link.bit_error_rate="+c.rate,
			"transport="+c.transport)
		again := fmt.Sprintf("%d retransmissions of its queue pair", s.Retransmissions)
		if w := s.Slowest; !strings.Contains(w.Why, c.want) || w.Time > w.Ideal*105/100 ||
			strings.Contains(w.Why, again) != (s.Retransmissions > 0) {
			t.Errorf("%s, %s, %d of %d: %s", c.rate, c.transport, w.Time, w.Ideal, w.Why)
		}
	}
}

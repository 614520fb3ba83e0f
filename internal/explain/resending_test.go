package explain_test

import (
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

// TestResentBytesGo checks that pauses, which hold up each byte that is sent, go with the bytes that are sent again:
// go-back-N takes packets that overtake others for loss, and sends twenty times as many.
func TestResentBytesGo(t *testing.T) {
	const text = `
seed: 849358
fabric:
  types: {host: {gpus: 1, nics: 1, nic_rate: 50Gbps}, leaf: {ports: 64x50Gbps}, spine: {like: leaf, role: spine}}
  nodes: {host: {type: host, count: 24}, leaf: {type: leaf, per: {rack: 4}}, spine: {type: spine, count: 2}}
  cables: [{from: host, to: leaf, match: {rack: n/6}, length: 3m}, {from: leaf, to: spine, length: 30m}]
  host_link: {rate: 50Gbps}
  fabric_link: {rate: 50Gbps}
  pipeline: 1us
server: {gpu: h100}
transport: {recovery: go-back-n}
cc: {algorithm: none}
lb: spray-random
workload: {traffic: {permutation: {bytes: 701512B}}}
`
	_, s, _ := runAll(t, text)
	_, other, _ := runAll(t, text, "transport.recovery=selective", "transport.write=only")
	saves, says := s.StepTime-other.StepTime, s.Chain.Saving[cause.Reordering]
	if 2*saves < s.StepTime || s.PFCPauses == 0 || 10*abs(says-saves) > saves {
		t.Errorf("in any order saves %d ps of %d, said are %d; %d pauses", saves, s.StepTime, says, s.PFCPauses)
	}
}

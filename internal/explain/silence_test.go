package explain_test

import (
	"strings"
	"testing"

	"railyard/internal/cause"
)

// Where a link breaks, a sender with a full window whose packets are gone does not wait for its window,
// but for the answer that will not come: selective recovery ends that before any ACK timeout, and the run
// says and counts it. Where go-back-N's time-outs pass beside packets that were trimmed, most of the time is the
// time-outs'.
func TestSilenceIsNoWindow(t *testing.T) {
	const text = `name: x
fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps, delay: 1us}}
cc: {algorithm: swift}
failures: [{link: "leaf-1-1:Eth3", at: 30us, until: 200us}]
switch: {pfc: false, queues: {3: {limit: 300KB}}}
transport: {recovery: selective, write: only}
workload: {traffic: {incast: {bytes: 300KB, fan_in: 7}}}
`
	_, s, _ := runAll(t, text)
	if s.Timeouts > 0 || s.EarlyTimeouts == 0 || s.Drops == 0 || 2*s.Chain.Of(cause.Retransmission) < s.StepTime ||
		10*s.Chain.Of(cause.Window) > s.StepTime ||
		!strings.Contains(s.Slowest.Why, "retransmission after silence") {
		t.Errorf("%d time-outs, %d early ones, %d drops; of %d ps %d for packets retransmitted, %d for the window: %s",
			s.Timeouts, s.EarlyTimeouts, s.Drops, s.StepTime,
			s.Chain.Of(cause.Retransmission), s.Chain.Of(cause.Window), s.Slowest.Why)
	}
	_, s, _ = runAll(t, text, "transport.recovery=go-back-n", "transport.write=first-middle-last",
		"switch.queues.3.lossless=false", "switch.queues.3.trim=true", "switch.queues.3.limit=100KB",
		"cc.algorithm=dcqcn")
	if s.Timeouts == 0 || s.EarlyTimeouts > 0 || 2*s.Chain.Of(cause.Retransmission) < s.StepTime ||
		!strings.Contains(s.Slowest.Why, "timeouts of 67") {
		t.Errorf("%d time-outs; of %d ps %d for packets retransmitted, %d for trimmed ones: %s", s.Timeouts,
			s.StepTime, s.Chain.Of(cause.Retransmission), s.Chain.Of(cause.Trimmed), s.Slowest.Why)
	}
}

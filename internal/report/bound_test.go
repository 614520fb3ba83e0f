package report

import (
	"strings"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// TestHeadOfBoundCollective checks that a collective at its bound has no main cause if its messages only share what
// bounds it. Below the bound, or with another limit, it has its cause.
func TestHeadOfBoundCollective(t *testing.T) {
	for _, c := range []struct {
		bus   float64
		cause cause.ID
		want  string
	}{
		{49e9, cause.SharedNIC, "98 % of line rate, bound by NIC"},
		{40e9, cause.SharedNIC, "busiest NIC at 80 % of line rate; main cause: " + cause.SharedNIC.Get().Name},
		{49e9, cause.Latency, "busiest NIC at 98 % of line rate; main cause: " + cause.Latency.Get().Name},
		{49e9, cause.Pause, "busiest NIC at 98 % of line rate; main cause: " + cause.Pause.Get().Name},
	} {
		s := &result.Summary{Complete: true}
		s.StepTime, s.Chain = 1e9, &cause.Account{}
		s.Chain.Own[c.cause] = 4e8
		s.Collectives = []result.Collective{{Count: 1, BusBW: c.bus, Bound: 50e9, BoundWhy: "NIC"}}
		if got := Answer(s); !strings.HasSuffix(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
		if s.MFU = 0.4; AtBound(s) {
			t.Errorf("a training step, of which the collective is a part, is at its bound: %s", Answer(s))
		}
		s.MFU = 0
		bound := strings.Contains(c.want, "bound by")
		for _, why := range []string{"NIC", "NVLink"} {
			s.Collectives[0].BoundWhy = why
			var b strings.Builder
			Why(&b, s, []Advice{{Remedy: result.Remedy{Cause: cause.SharedNIC.Get().Key, Says: "more NICs"}}})
			got := b.String()
			if strings.Contains(got, "the bound of 50 GB/s includes") != (bound || c.cause == cause.SharedNIC) ||
				bound && strings.Contains(got, "40.0 %") ||
				strings.Contains(got, "more NICs") != (!bound || why == "NIC") {
				t.Errorf("bound by %s: %s", why, got)
			}
		}
	}
}

// TestGainAtBound checks that a run whose busiest NIC works at line rate is bound by it, however long messages of its
// critical path wait for one another elsewhere, and states what is left to gain. A loss that a run without it saves is
// the main cause.
func TestGainAtBound(t *testing.T) {
	s := &result.Summary{Complete: true, Busiest: &result.BusiestNIC{Name: "host-9/nic-1", Receives: true, Bytes: 16e6,
		Rate: 4e11, Time: 97e7, Repaired: 97e7}}
	s.StepTime, s.Chain = 1e9, &cause.Account{}
	s.Collectives = []result.Collective{{Kind: "send-recv", Count: 1, BusBW: 48.5e9, Bound: 50e9, BoundWhy: "NIC"}}
	s.Chain.Own[cause.Incast], s.Chain.Saving[cause.Incast] = 3e8, 29e7
	s.LimitSavings()
	var b strings.Builder
	Text(&b, s)
	for _, want := range []string{": 1 ms, 97 % of line rate, bound by NIC\n",
		"At most 30 µs (3.0 %) to gain: host-9/nic-1 receives 16 MB, ",
		"critical path: 300 µs; the bound includes 270 µs\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %s", want, b.String())
		}
	}
	s.Busiest.Repaired = 5e8 // without the slow link the NIC is not the limit
	s.Chain.Own[cause.SlowLink], s.Chain.Saving[cause.SlowLink] = 4e8, 4e8
	if s.LimitSavings(); !strings.HasSuffix(Answer(s), "main cause: slow link") {
		t.Error(Answer(s))
	}
}

// TestBoundOfFlows checks that the bound of a set of flows mentions no collective.
func TestBoundOfFlows(t *testing.T) {
	s := &result.Summary{Complete: true}
	s.StepTime, s.Chain = 1e9, &cause.Account{}
	s.Chain.Own[cause.SharedNIC] = 4e8
	s.Collectives = []result.Collective{{Kind: "send-recv", Count: 1, BusBW: 49e9, Bound: 50e9, BoundWhy: "NIC"}}
	const want = "Bound by NIC: flows wait for one another, 400 µs on the critical path, which the bound of 50 GB/s includes."
	if got := Bound(s); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestBoundIsNoCause checks that the wait of messages for one another's NIC is a cause only beyond what the bound
// contains: the loss that makes a transfer longer than its bound comes first.
func TestBoundIsNoCause(t *testing.T) {
	s := &result.Summary{Complete: true}
	s.StepTime, s.Chain = 215e8, &cause.Account{}
	s.Chain.Own[cause.SharedNIC], s.Chain.Own[cause.Retransmission], s.Chain.Own[cause.Latency] = 204e8, 105e7, 4e6
	s.Collectives = []result.Collective{{Kind: "send-recv", Count: 1, BusBW: 46.5e9, Bound: 50e9, BoundWhy: "NIC"}}
	var b strings.Builder
	Text(&b, s)
	for _, want := range []string{"; main cause: retransmission\n",
		"Flows wait for one another, 20.4 ms on the critical path, which the bound of 50 GB/s includes.\n",
		"critical path: 1.05 ms\n"} {
		if !strings.Contains(strings.ReplaceAll(b.String(), "bound of\n", "bound of "), want) {
			t.Errorf("no %q in %s", want, b.String())
		}
	}
	s.Collectives[0].BusBW = 40e9 // three milliseconds of wait are beyond the bound
	if got := Answer(s); !strings.HasSuffix(got, "main cause: shared NIC or NVLink port") {
		t.Error(got)
	}
	if a, included := Account(s); included != 17154e6 || a.Own[cause.SharedNIC] != 204e8-included {
		t.Errorf("%d included, %d left", included, a.Own[cause.SharedNIC])
	}
}

// TestSavingAboveBound checks that no saving ends the step before the busiest NIC has carried its payload.
func TestSavingAboveBound(t *testing.T) {
	s := &result.Summary{Complete: true, Busiest: &result.BusiestNIC{Time: 16e8}}
	s.StepTime = 24e8
	s.Chain, s.Simulated = &cause.Account{}, []string{cause.Incast.Get().Key}
	s.Chain.Own[cause.Incast], s.Chain.Saving[cause.Incast] = 22e8, 219e7
	s.LimitSavings()
	var b strings.Builder
	Text(&b, s)
	if !strings.Contains(b.String(), "saves 800 µs at most (busiest NIC)") {
		t.Error(b.String())
	}
}

// TestSavingOfRepair checks that the payload limits a run without slow or failed links at the repaired NICs' rate.
func TestSavingOfRepair(t *testing.T) {
	s := &result.Summary{Complete: true, Busiest: &result.BusiestNIC{Time: 16e8, Repaired: 8e8}}
	s.StepTime, s.Chain = 24e8, &cause.Account{}
	for id, want := range map[cause.ID]string{cause.SlowLink: "saves 1.5 ms alone (estimate)",
		cause.FailedCapacity: "saves 1.5 ms alone (estimate)", cause.Incast: "saves 800 µs at most (busiest NIC)"} {
		s.Chain.Saving[id] = 15e8
		if s.LimitSavings(); saves(s, id, "estimate") != want {
			t.Errorf("%s: %s", id.Get().Name, saves(s, id, "estimate"))
		}
	}
}

// TestHeadOfWait checks a run whose time is spent waiting for another rank's computation. The first line, the
// table, the account and why name that rank, and not the pipeline.
func TestHeadOfWait(t *testing.T) {
	five := result.Waited{Rank: 5, GPU: "host-1/gpu-6", Time: 65e7, Path: 95e7}
	for _, c := range []struct {
		of   []result.Waited
		want string
	}{
		{[]result.Waited{five}, "waiting for rank 5"},
		{[]result.Waited{five, {Rank: 7, Time: 1e7}}, "waiting for rank 5"},
		{[]result.Waited{{Rank: 5, Time: 4e8}, {Rank: 7, Time: 26e7}}, "waiting for ranks 5 and 7"},
		{[]result.Waited{{Rank: 5, GPU: "host-1/gpu-6", Time: 65e7, Path: 95e7, Alike: 3}}, "waiting for rank 5 and 3 others"},
		// off the critical path of the last operation
		{[]result.Waited{{Rank: 5, Time: 65e7}}, "waiting for rank 5"},
		{nil, "waiting for the start of the work"},
	} {
		s := &result.Summary{Complete: true}
		s.Chain, s.Name, s.StepTime, s.Waiting, s.WaitedFor = &cause.Account{}, "ring", 1e9, 66e7, c.of
		s.Compute = 34e7
		if got := Answer(s); !strings.HasSuffix(got, "main cause: "+c.want+" (66.0 % of the step)") {
			t.Errorf("%q, want %q", got, c.want)
		}
		var b, why strings.Builder
		Text(&b, s)
		Why(&why, s, nil)
		for _, got := range []string{b.String(), why.String()} {
			got = strings.Join(strings.Fields(got), " ")
			if !strings.Contains(got, c.want) || strings.Contains(got, "bubble") || strings.Contains(got, "vpp") ||
				len(c.of) == 1 && c.of[0].Path > 0 !=
					strings.Contains(got, "Rank 5 (host-1/gpu-6) computes for 950 µs (95.0 % of the step)") ||
				strings.Contains(got, "computes for 0 s") {
				t.Error(got)
			}
		}
	}
}

// TestHeadIsLargest checks that the first line names the cause that costs most, even if no run without it saves
// time, and that small causes are still named.
func TestHeadIsLargest(t *testing.T) {
	s := &result.Summary{Complete: true}
	s.Chain, s.StepTime = &cause.Account{}, 1e9
	s.Chain.Own[cause.Latency], s.Chain.Saving[cause.Latency], s.Chain.Own[cause.SharedNIC] = 7e6, 7e6, 16e6
	if got := Answer(s); !strings.HasSuffix(got, "main cause: shared NIC or NVLink port (1.6 % of the step)") {
		t.Error(got)
	}
	rows, _ := Losses(s)
	if rows[0].Cause != cause.SharedNIC {
		t.Errorf("%+v", rows)
	}
	s.Chain = &cause.Account{}
	s.Chain.Own[cause.Retransmission] = 3e6
	var b strings.Builder
	lost(&b, s, true)
	if !strings.Contains(b.String(), "below 0.5 %: retransmission 3 µs") {
		t.Error(b.String())
	}
}

// TestOverlapping checks a slow link whose cost other causes contain. It is printed once, in its own row if it has
// one.
func TestOverlapping(t *testing.T) {
	s := &result.Summary{Complete: true}
	s.Chain, s.StepTime = &cause.Account{}, 1e9
	s.Chain.Own[cause.Collision], s.Chain.Saving[cause.Collision], s.Chain.Saving[cause.SlowLink] = 6e8, 6e8, 3e8
	for _, c := range []struct {
		own       int64
		simulated []string
		want      string
	}{
		{0, nil, "\n  overlapping: slow link, saves 300 µs alone (estimate)\n"},
		{1e6, []string{"slow_link"}, "\n  overlapping: slow link, saves 300 µs alone (simulated)\n"},
		{2e7, nil, "\n  slow link             20 µs   2.0 %  saves 300 µs alone, 280 µs of it of other\n" +
			"                                       causes (estimate)\n"},
	} {
		s.Chain.Own[cause.SlowLink], s.Simulated = c.own, c.simulated
		var b strings.Builder
		Text(&b, s)
		if got := b.String(); !strings.Contains(got, c.want) || strings.Count(got, "saves 300") != 1 {
			t.Errorf("%d: %s", c.own, got)
		}
	}
}

// TestHeadOfBubble checks that a step whose pipeline bubble costs more than any network cause names the bubble,
// with its share. why refers to the schedule if no remedy of the network is left.
func TestHeadOfBubble(t *testing.T) {
	for _, c := range []struct {
		bubble, pause int64
		want          string
	}{
		{29e7, 0, "main cause: pipeline bubble (29.0 % of the step)"},
		{29e7, 1e8, "main cause: pipeline bubble (29.0 % of the step)"},
		{29e7, 4e8, "main cause: " + cause.Pause.Get().Name},
		{4e7, 1e8, "main cause: " + cause.Pause.Get().Name},
		{4e7, 0, "step: 1 ms, MFU 40.0 %"},
	} {
		s := &result.Summary{Complete: true}
		s.Chain, s.Name, s.StepTime, s.MFU, s.Bubble = &cause.Account{}, "step", 1e9, 0.4, c.bubble
		s.Chain.Own[cause.Pause] = c.pause
		if got := Answer(s); !strings.HasSuffix(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
		var b strings.Builder
		Why(&b, s, nil)
		if strings.Contains(b.String(), "a matter of the schedule") != (c.bubble > 5e7) {
			t.Errorf("why: %s", b.String())
		}
	}
}

// TestHeadOfSlowRank checks that a slow rank is named in the first line, the step, the account and why.
func TestHeadOfSlowRank(t *testing.T) {
	five := result.SlowRank{Rank: 5, GPU: "host-1/gpu-6", Compute: 198e7, Usual: 11e8}
	of := func(rank int32, excess int64) result.SlowRank {
		return result.SlowRank{Rank: rank, Compute: 11e8 + excess, Usual: 11e8}
	}
	for _, c := range []struct {
		of          []result.SlowRank
		want, saves string
	}{
		{[]result.SlowRank{five}, "slow rank 5", "alone"},
		{[]result.SlowRank{five, of(7, 8e8)}, "slow ranks 5 and 7", "for both ranks together"},
		{[]result.SlowRank{five, of(7, 1e7)}, "slow ranks 5 and 7", "for both ranks together"},
		{[]result.SlowRank{five, of(7, 8e8), of(2, 7e8)}, "slow ranks 5, 7 and 1 other", "for all 3 ranks together"},
		{[]result.SlowRank{five, of(7, 8e8), of(6, 7e8)}, "slow ranks 5 to 7", "for all 3 ranks together"},
		// one stands out
		{[]result.SlowRank{five, of(7, 2e8), of(6, 1e8), of(4, 1e8)}, "slow ranks 5, 7 and 2 others",
			"for all 4 ranks together"},
	} {
		s := &result.Summary{Complete: true}
		s.Chain, s.Name, s.StepTime, s.Slow, s.SlowRanks = &cause.Account{}, "ring", 314e7, 72e7, c.of
		s.Compute = s.StepTime - s.Slow
		s.Chain.Own[cause.Compute], s.Chain.Own[cause.SlowRank] = s.Compute, s.Slow
		s.Chain.Saving[cause.SlowRank], s.Simulated = s.Slow, []string{cause.SlowRank.Get().Key}
		if got := Answer(s); !strings.HasSuffix(got, "main cause: "+c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
		var b, why strings.Builder
		Text(&b, s)
		Why(&why, s, nil)
		for what, got := range map[string]string{"text": b.String(), "why": why.String()} {
			got = strings.Join(strings.Fields(got), " ")
			if !strings.Contains(got, c.want+" 720 µs 22.9 %") ||
				!strings.Contains(got, "saves 720 µs "+c.saves+" (simulated)") ||
				!strings.Contains(got, "Slow rank 5 (host-1/gpu-6) computes for 1.98 ms, its siblings for 1.1 ms (median).") {
				t.Errorf("%s: %s", what, got)
			}
		}
		s.Chain = nil // too many messages for an account
		if got := Answer(s); !strings.HasSuffix(got, "main cause: "+c.want+" (22.9 % of the step)") {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Slower GPUs of a training are named by their kind, with the fastest one's time.
func TestHeadOfSlowerGPUs(t *testing.T) {
	s := &result.Summary{Complete: true}
	s.Chain, s.Name, s.StepTime, s.Slow, s.Params = &cause.Account{}, "mixed", 2e12, 8e11, 8e9
	for rank := range int32(3) {
		kind, took := "a100", int64(138e10)
		if rank == 2 {
			kind, took = "v100", 9e11
		}
		s.SlowRanks = append(s.SlowRanks, result.SlowRank{Rank: rank, GPU: "old-1/gpu-1", Compute: took, Usual: 443e9,
			Kind: kind, Fastest: "h100"})
	}
	s.Compute = s.StepTime - s.Slow
	s.Chain.Own[cause.Compute], s.Chain.Own[cause.SlowRank], s.Chain.Saving[cause.SlowRank] = s.Compute, s.Slow, s.Slow
	const name = "slower GPUs (2 a100, 1 v100)"
	if got := Answer(s); !strings.HasSuffix(got, "main cause: "+name) {
		t.Errorf("%q", got)
	}
	var b strings.Builder
	Text(&b, s)
	got := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{name + " 800 ms 40.0 % saves 800 ms for all 3 ranks together (estimate)",
		"Slower GPUs: 2 a100 compute for 1.38 s, h100 for 443 ms.", "Slower GPUs: 1 v100 compute for 900 ms, h100 for 443 ms."} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

// What reuse simulated is never more than everything, although with short episodes it simulates more packet-hops
// than the run has.
func TestReusedShare(t *testing.T) {
	for want, hops := range map[string]int64{"25.0 % of its packet-hops simulated": 250, "saves nothing": 2450} {
		s := &result.Summary{Reused: &result.Reused{Episodes: 4, Simulated: 3, PacketHops: hops}}
		s.PacketHops = 1000
		if got := fidelityOf(s); !strings.Contains(got, want) {
			t.Errorf("%d of 1000: %q, want %q", hops, got, want)
		}
	}
}

// The first line counts the GPUs that a layout leaves idle, all of which MFU is relative to.
func TestIdleGPUsInTheFirstLine(t *testing.T) {
	s := &result.Summary{Complete: true}
	s.Name, s.StepTime, s.Params, s.MFU, s.TrainingGPUs, s.IdleGPUs = "x", 1e9, 7e9, 0.2, 24, 8
	if got, want := Answer(s), "x: step 1 ms, MFU 20.0 %, 8 of 32 GPUs idle"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

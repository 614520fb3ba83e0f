package report

import (
	"strings"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// TestHeadOfBoundCollective checks that a collective at its bound has no main cause where its messages only share what
// bounds it, and keeps the cause where it lies below the bound or something else holds it back.
func TestHeadOfBoundCollective(t *testing.T) {
	for _, c := range []struct {
		bus   float64
		cause cause.ID
		want  string
	}{
		{49e9, cause.SharedNIC, "98 % of line rate, bound by NIC"},
		{40e9, cause.SharedNIC, "80 % of line rate; main cause: " + cause.SharedNIC.Get().Name},
		{49e9, cause.Pause, "98 % of line rate; main cause: " + cause.Pause.Get().Name},
	} {
		s := &result.Summary{Complete: true}
		s.StepTime, s.Chain = 1e9, &cause.Account{}
		s.Chain.Own[c.cause] = 4e8
		s.Collectives = []result.Collective{{Count: 1, BusBW: c.bus, Bound: 50e9, BoundWhy: "NIC"}}
		if got := answer(s); !strings.HasSuffix(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
		if s.MFU = 0.4; atBound(s) {
			t.Errorf("a training step, of which the collective is a part, is at its bound: %s", answer(s))
		}
		s.MFU = 0
		bound := strings.Contains(c.want, "bound by")
		for _, why := range []string{"NIC", "NVLink"} {
			s.Collectives[0].BoundWhy = why
			var b strings.Builder
			Why(&b, s, []Advice{{Remedy: result.Remedy{Cause: cause.SharedNIC.Get().Key, Says: "more NICs"}}})
			got := b.String()
			if strings.Contains(got, "the bound of 50 GB/s includes") != bound || strings.Contains(got, "40.0 %") == bound ||
				strings.Contains(got, "more NICs") != (!bound || why == "NIC") {
				t.Errorf("bound by %s: %s", why, got)
			}
		}
	}
}

// TestHeadOfBubble checks that a step whose pipeline's bubble costs more than any cause of the network names it, with
// its share, and that why points at the schedule where no remedy of the network is left.
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
		if got := answer(s); !strings.HasSuffix(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
		var b strings.Builder
		Why(&b, s, nil)
		if strings.Contains(b.String(), "a matter of the schedule") != (c.bubble > 5e7) {
			t.Errorf("why: %s", b.String())
		}
	}
}

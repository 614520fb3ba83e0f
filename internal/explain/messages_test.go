package explain_test

import (
	"os"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// Each message that lost most has an account that adds up to its time; the slowest has that of the summary.
func TestMessageAccounts(t *testing.T) {
	for _, name := range []string{"three-flows", "victim"} {
		text, err := os.ReadFile("../../scenarios/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		_, s, tab := runAll(t, string(text))
		own := map[int32]*cause.Account{}
		for _, row := range tab.Causes {
			if c, _ := cause.Find(row.Cause); row.Scope == result.OfMessage {
				if own[row.Instance] == nil {
					own[row.Instance] = &cause.Account{}
				}
				own[row.Instance].Own[c.ID], own[row.Instance].Reaction[c.ID] = row.Time, row.Reaction
			}
		}
		if len(own) != len(tab.Flows) {
			t.Errorf("%s: %d of %d messages have an account", name, len(own), len(tab.Flows))
		}
		for _, m := range tab.Flows {
			a := own[int32(m.Message)]
			if a == nil || a.Total() != m.Done-m.Posted {
				t.Errorf("%s: message %d of %d ps: %+v", name, m.Message, m.Done-m.Posted, a)
				continue
			}
			if w := s.Slowest; m.From == w.From && m.To == w.To && m.Done-m.Posted == w.Time &&
				(a.Own != w.Causes.Own || a.Reaction != w.Causes.Reaction) {
				t.Errorf("%s: %+v, in the summary %+v", name, a, w.Causes)
			}
		}
	}
}

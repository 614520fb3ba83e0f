package web

import (
	"slices"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// TestIdealIsOne checks that a message has one ideal: what its parts, its reason and the time above it have.
func TestIdealIsOne(t *testing.T) {
	const us = 1_000_000
	account := func(set func(a *cause.Account)) *cause.Account {
		a := &cause.Account{}
		set(a)
		return a
	}
	for _, c := range []struct {
		name   string
		m      Message
		parts  []MessagePart
		reason string
	}{
		{"a slower uplink belongs to the ideal", Message{FlowRow: result.FlowRow{Done: 1170 * us, Ideal: 1020 * us},
			Causes: account(func(a *cause.Account) {
				a.Own[cause.LineRate], a.Own[cause.Latency] = 505*us, 4*us
				a.Own[cause.Oversubscription], a.Reaction[cause.Oversubscription] = 511*us, 150*us
			})},
			[]MessagePart{{"line_rate", "line rate", false, 505 * us}, {"latency", "latency", false, 4 * us},
				{"path", "latency and slower links of its path", false, 511 * us},
				{"oversubscription", "oversubscription", true, 150 * us}},
			"150 µs above ideal: CC recovering after oversubscription"},
		{"other transfers of the NIC do not", Message{FlowRow: result.FlowRow{Done: 165 * us, Ideal: 83 * us},
			Causes: account(func(a *cause.Account) { a.Own[cause.LineRate] = 165 * us })},
			[]MessagePart{{"line_rate", "line rate", false, 83 * us},
				{"others", "other transfers of its NIC", true, 82 * us}},
			"82 µs above ideal: line rate of other transfers of its NIC"},
		{"waits of its queue pair do not", Message{FlowRow: result.FlowRow{Done: 2600 * us, Ideal: 259 * us},
			Earlier: 4, Behind: 2050 * us, Causes: account(func(a *cause.Account) {
				a.Own[cause.LineRate], a.Own[cause.Latency], a.Own[cause.Collision] = 255*us, 4*us, 291*us
			})},
			[]MessagePart{{"line_rate", "line rate", false, 255 * us}, {"latency", "latency", false, 4 * us},
				{"behind", "4 earlier messages of queue pair 0", true, 2050 * us},
				{"hash_collision", "ECMP hash collision", true, 291 * us}},
			"2.34 ms above ideal: 2.05 ms behind 4 earlier messages of its queue pair; 291 µs ECMP hash collision"},
	} {
		c.m.explain(nil)
		if !slices.Equal(c.m.Parts, c.parts) {
			t.Errorf("%s: parts %v, expected %v", c.name, c.m.Parts, c.parts)
		}
		if c.m.Why != c.reason {
			t.Errorf("%s: %q, expected %q", c.name, c.m.Why, c.reason)
		}
		sum := int64(0)
		for _, p := range c.m.Parts {
			sum += p.Time
		}
		if sum != c.m.Done {
			t.Errorf("%s: parts sum to %d of %d", c.name, sum, c.m.Done)
		}
	}
}

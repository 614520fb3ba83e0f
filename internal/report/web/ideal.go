package web

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/result"
	"railyard/unit"
)

// MessagePart is a part of a message's time. A message's ideal is its time alone on its path, with what slower links of
// that path take. All else is above it: waits behind earlier messages, other transfers of its NIC, and causes.
type MessagePart struct {
	Key   string `json:"key"`
	Name  string `json:"name"`
	Above bool   `json:"above"`
	Time  int64  `json:"time_ps"`
}

// leastAbove is the share of a message's time that is worth a reason if it is above its ideal.
const leastAbove = 0.05

// explain divides a message's time into its ideal and what is above, and describes the latter; of the slowest one the
// evidence is known.
func (m *Message) explain(slowest *result.Slowest) {
	if m.Done < 0 {
		return
	}
	took := m.Done - m.Posted
	is := slowest != nil && slowest.From == m.From && slowest.To == m.To && slowest.Bytes == m.Bytes &&
		slowest.Time == took
	if is && m.Causes == nil {
		m.Causes = slowest.Causes
	}
	if !is {
		slowest = nil
	}
	above, lost := m.divide(slowest), m.lost()
	worth := func(r reason) bool { return float64(r.time) > leastAbove*float64(lost) }
	if float64(lost) <= leastAbove*float64(took) || !slices.ContainsFunc(above, worth) {
		m.Leading = ""
		return
	}
	var texts []string
	for _, r := range above {
		if worth(r) {
			texts = append(texts, r.text)
		}
	}
	total := unit.Time(lost).Show()
	m.Why = total + " above ideal: " + strings.TrimPrefix(strings.Join(texts, "; "), total+" ")
}

// reason is a part of the time above a message's ideal in words that begin with the time.
type reason struct {
	time int64
	text string
}

// slower are the causes that a message alone on its path meets, too.
var slower = []cause.ID{cause.Oversubscription, cause.SlowLink, cause.OnePort, cause.PCIe, cause.FailedCapacity}

// divide sets Parts and Leading, and describes the largest parts above the ideal.
func (m *Message) divide(slowest *result.Slowest) (above []reason) {
	took := m.Done - m.Posted
	left := min(m.Ideal, took) // of the ideal
	put := func(key, name string, over bool, ps int64) {
		if ps > 0 {
			m.Parts = append(m.Parts, MessagePart{key, name, over, ps})
		}
	}
	behind := func(ps int64) {
		if ps > 0 {
			put("behind", unit.Plural(m.Earlier, "earlier message")+" of queue pair "+fmt.Sprint(m.QP), true, ps)
			above = append(above, reason{ps, unit.Time(ps).Show() + " behind " +
				unit.Plural(m.Earlier, "earlier message") + " of its queue pair"})
		}
	}
	if m.Causes == nil {
		put("line_rate", "line rate and latency", false, left)
		wait := min(m.Behind, took-left)
		behind(wait)
		put("above", "not divided by cause", true, took-left-wait)
		return above
	}
	own := *m.Causes
	wait := max(0, took-own.Total())
	left = min(left, own.Total())
	take := func(id cause.ID) (ps int64) {
		ps = min(left, max(0, own.Own[id]))
		own.Own[id], left = own.Own[id]-ps, left-ps
		return ps
	}
	latency := take(cause.Latency)
	put("line_rate", "line rate", false, take(cause.LineRate))
	put("latency", "latency", false, latency)
	path := int64(0)
	for _, id := range slower {
		path += take(id)
	}
	for _, c := range cause.All() {
		path += take(c.ID)
	}
	put("path", "latency and slower links of its path", false, path)
	behind(wait)
	if others := own.Own[cause.LineRate]; others > 0 {
		put("others", "other transfers of its NIC", true, others)
		above = append(above, reason{others, unit.Time(others).Show() + " line rate of other transfers of its NIC"})
		own.Own[cause.LineRate] = 0
	}
	for _, c := range cause.All() {
		put(c.Key, c.Name, true, own.Costs(c.ID))
	}
	top, lossy := own.Leading(0)
	if !lossy || own.Costs(top) == 0 {
		return above
	}
	m.Leading = top.Get().Key
	costs, recovering := own.Show(top)
	why := top.Get().Name
	if recovering {
		why = "CC recovering after " + why
	} else if same, _ := m.Causes.Leading(0); slowest != nil && same == top {
		why = slowest.Reason
	}
	return append(above, reason{own.Costs(top), costs + " " + why})
}

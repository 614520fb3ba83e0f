package capture

import (
	"slices"

	"railyard/roce"
)

// gaps are PSNs that the capture point has not seen, as ranges: the first, and the one after the last.
type gaps [][2]uint64

// skip adds a range. Only the last maxOpen are kept.
func (g *gaps) skip(from, before uint64) {
	if from >= before {
		return
	}
	if *g = append(*g, [2]uint64{from, before}); len(*g) > maxOpen {
		*g = (*g)[1:]
	}
}

// fill takes a PSN out, and reports whether it was in a range.
func (g *gaps) fill(n uint64) bool {
	for i, r := range *g {
		if n < r[0] || n >= r[1] {
			continue
		}
		rest := append((*g)[:i:i], (*g)[i+1:]...)
		rest.skip(r[0], n)
		rest.skip(n+1, r[1])
		*g = rest
		return true
	}
	return false
}

// late adds a packet that is captured for the first time, after later ones, to its message.
func (s *stream) late(us float64, number int64, n uint64, f *roce.Frame) {
	h, payload := &f.BTH, int64(len(f.Payload()))
	for _, m := range append(s.open[:len(s.open):len(s.open)], s.msg) {
		switch {
		case m == nil:
			continue
		case m.first <= n && n <= m.last:
		case n+1 == m.first && !m.whole && opens(h): // its first packet
			m.first, m.text, m.whole = n, describe(h), true
		case n == m.last+1 && !m.ended && !opens(h):
			if m.last = n; h.Opcode.Ends() {
				s.flow.Messages++
				m.ended = true
			}
		default:
			continue
		}
		m.packets++
		m.size += payload
		m.end = max(m.end, us)
		s.join(m)
		return
	}
	if !opens(h) {
		return
	}
	m := begin(us, number, n, h) // none of its packets was captured before
	m.packets, m.size, m.opening, m.ended = 1, payload, payload, h.Opcode.Ends()
	if m.ended {
		s.flow.Messages++
	}
	at := 0
	for at < len(s.open) && s.open[at].first < n {
		at++
	}
	s.open = slices.Insert(s.open, at, m)
	s.join(m)
}

// repeated extends the time of the message of a packet that is captured again before an acknowledgement. With
// go-back-N the receiver drops the first copies of packets after a gap.
func (s *stream) repeated(us float64, n uint64) {
	for _, m := range s.open {
		if m.opcode != roce.ReadRequest && m.first <= n && n <= m.last {
			m.end = max(m.end, us)
			return
		}
	}
}

// join adds to a message the packets that were captured before its own first ones.
func (s *stream) join(m *message) {
	belongs := func(x *message) bool { return x != nil && !x.whole && !m.ended && x.first == m.last+1 }
	x, all := s.msg, s.open
	if at := slices.IndexFunc(all, belongs); at >= 0 {
		x = all[at]
		s.open = slices.Delete(all, at, at+1)
	} else if belongs(x) {
		s.msg, s.open = m, slices.DeleteFunc(all, func(x *message) bool { return x == m })
	} else {
		return
	}
	m.last, m.packets, m.size, m.end, m.ended = x.last, m.packets+x.packets, m.size+x.size, max(m.end, x.end), x.ended
}

// repeats reports whether a READ asks for the rest of one that has not been answered in full.
func (s *stream) repeats(h *roce.Header) bool {
	for _, m := range s.open {
		if m.opcode == h.Opcode && m.size < m.want && m.rkey == h.RKey && m.upto == h.VA+uint64(h.Len) &&
			uint64(h.Len) < uint64(m.want) {
			return true
		}
	}
	return false
}

package sequence

import (
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Measures of a chart, in points.
const (
	chartLeft = 190 // of the names of rows
	chartWide = 760 // of the axis
	chartHigh = 30  // of a row
)

// chunks are the colours of groups, light enough for a label in ink on them; --k-0 to --k-7 of the page.
var chunks = []color.Color{rgb(0x9c, 0xc3, 0xe6), rgb(0xf0, 0xd3, 0x9a), rgb(0x9d, 0xd3, 0xc4), rgb(0xc9, 0xbc, 0xe8),
	rgb(0xc3, 0xc8, 0xcf), rgb(0xee, 0xbd, 0xc6), rgb(0xcb, 0xd9, 0x9c), rgb(0x8f, 0xd3, 0xe0)}

// senders returns how many lanes send: the rows of a chart.
func (s *Sequence) senders() (n int) {
	for i := range s.Steps {
		n = max(n, s.Steps[i].From+1)
	}
	return n
}

// span returns the time of a chart: from its first step to its last end.
func (s *Sequence) span() (from, to int64) {
	from = math.MaxInt64
	for i := range s.Steps {
		from, to = min(from, s.Steps[i].At), max(to, s.Steps[i].Until)
	}
	return from, max(to, from+1)
}

// bars draws a chart: a row for each sender, and on it what it sends from when it can to when it is complete; a thin
// line below the previous bar leads there from the time of posting. It returns the y of its end.
func (s *Sequence) bars(p *page) (bottom vg.Length) {
	from, to := s.span()
	x := func(ps int64) vg.Length { return chartLeft + vg.Length(float64(ps-from)/float64(to-from))*chartWide }
	bottom = vg.Length(head-20) + chartHigh*vg.Length(s.senders())
	width := step(float64(to-from) / 6)
	for at := math.Ceil(float64(from)/width) * width; at <= float64(to); at += width {
		p.line(x(int64(at)), head-24, x(int64(at)), bottom, rail, 0.5)
		p.write(x(int64(at)), bottom+12, dur(int64(at)), 9, faint, draw.XCenter, false)
	}
	if slices.ContainsFunc(s.Steps, func(b Step) bool { return b.blocked() }) {
		p.write(chartLeft+chartWide, 20, "thin line: posted, blocked on the previous chunk", 9, faint, draw.XRight, false)
	}
	named := map[int]bool{}
	for i := range s.Steps {
		b := &s.Steps[i]
		y := vg.Length(head-20) + chartHigh*vg.Length(b.From)
		if !named[b.From] {
			named[b.From] = true
			p.write(chartLeft-8, y+16, s.Lanes[b.From]+" → "+s.Lanes[b.To], 9, ink, draw.XRight, false)
		}
		if b.blocked() {
			p.line(x(b.At), y+25, x(b.Begin), y+25, faint, 1.2)
		}
		edge := max(x(b.Begin)+0.6, x(b.Until)-0.6)
		p.box(x(b.Begin), y+2, edge, y+22, chunks[b.Group%len(chunks)])
		if label := short(b.Label); vg.Length(5*len(label)) < edge-x(b.Begin) {
			p.write((x(b.Begin)+edge)/2, y+15, label, 8, ink, draw.XCenter, false)
		}
		if i == s.Slowest {
			for _, at := range []vg.Length{y + 2, y + 22} {
				p.line(x(b.Begin), at, edge, at, ink, 1.4)
			}
			p.line(x(b.Begin), y+2, x(b.Begin), y+22, ink, 1.4)
			p.line(edge, y+2, edge, y+22, ink, 1.4)
		}
	}
	return bottom + 16
}

// step rounds a distance of ticks to 1, 2 or 5 times a power of ten.
func step(width float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(width)))
	for _, n := range []float64{2, 5} {
		if width <= n*unit {
			return n * unit
		}
	}
	return 10 * unit
}

// short is the label of a bar: "A 2/4" is chunk A, the sum of 2 of 4 ranks.
func short(label string) string {
	chunk, sum, _ := strings.Cut(strings.TrimPrefix(label, "chunk "), ", ")
	switch {
	case sum == "its own":
		return chunk
	case sum == "whole sum":
		return chunk + " whole"
	}
	return chunk + " " + strings.ReplaceAll(strings.TrimPrefix(sum, "sum of "), " of ", "/")
}

// box fills a rectangle.
func (p *page) box(x1, y1, x2, y2 vg.Length, c color.Color) {
	p.FillPolygon(c, []vg.Point{{X: x1, Y: p.high - y1}, {X: x2, Y: p.high - y1}, {X: x2, Y: p.high - y2},
		{X: x1, Y: p.high - y2}})
}

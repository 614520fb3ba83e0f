package sequence

import (
	"image/color"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
	"gonum.org/v1/plot/vg/vgimg"

	"railyard/internal/report/svg"
)

// Measures of a diagram, in points.
const (
	laneWide = 150 // distance between lanes
	rowHigh  = 34
	left     = 76 // of times
	margin   = 18
	head     = 66 // height of title and lane names
)

// colours are the colours of kinds, distinguishable with any colour vision: line rate, grey, recovering, pause,
// retransmission.
var colours = map[Kind]color.Color{
	Data: rgb(0x3f, 0x7c, 0xb8), Answer: rgb(0x5b, 0x64, 0x6e), Mark: rgb(0xb7, 0x7f, 0x00),
	Pause: rgb(0x6b, 0x3f, 0xa0), Lost: rgb(0xc0, 0x36, 0x1d), Here: rgb(0x22, 0x28, 0x2e),
}

var (
	ink   = rgb(0x22, 0x28, 0x2e)
	faint = rgb(0x6b, 0x74, 0x7e)
	rail  = rgb(0xc9, 0xce, 0xd4)
	paper = rgb(0xff, 0xff, 0xff)
)

func rgb(r, g, b uint8) color.Color { return color.RGBA{r, g, b, 255} }

// page is a diagram in progress: y grows downwards. Its text needs what is between from and to.
type page struct {
	draw.Canvas
	high     vg.Length
	from, to vg.Length
}

// SVG draws a sequence as SVG.
func (s *Sequence) SVG(w io.Writer) error {
	return s.draw(w, func(wide, high vg.Length) vg.CanvasWriterTo { return svg.New(wide, high) })
}

// PNG draws a sequence as PNG.
func (s *Sequence) PNG(w io.Writer) error {
	return s.draw(w, func(wide, high vg.Length) vg.CanvasWriterTo {
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(wide, high), vgimg.UseDPI(144))}
	})
}

// draw draws a sequence twice: first nowhere, to measure its text, then on a canvas where all of it has room.
func (s *Sequence) draw(w io.Writer, canvas func(wide, high vg.Length) vg.CanvasWriterTo) error {
	p := &page{Canvas: draw.NewCanvas(&recorder.Canvas{}, 1, 1), from: margin, to: 420}
	bottom := s.steps(p)
	shift, wide := margin-p.from, p.to+margin
	notes := wrap(s.Notes, wide-2*margin)
	wide, high := wide+shift, bottom+vg.Length(16*len(notes)+margin)
	to := canvas(wide, high)
	p = &page{Canvas: draw.New(to), high: high}
	p.box(0, 0, wide, high, paper)
	p.Translate(vg.Point{X: shift})
	s.steps(p)
	for i, n := range notes {
		p.write(margin-shift, bottom+vg.Length(16*(i+1)), n, 9, faint, draw.XLeft, false)
	}
	_, err := to.WriteTo(w)
	return err
}

// steps draws a diagram without its notes and returns the y of its end.
func (s *Sequence) steps(p *page) (bottom vg.Length) {
	p.write(margin, 20, s.Title, 13, ink, draw.XLeft, false)
	if s.Chart {
		return s.bars(p)
	}
	bottom = vg.Length(head + rowHigh*len(s.Steps) + rowHigh/2)
	s.arrows(p, bottom)
	return bottom
}

// wrap breaks notes into lines of a width.
func wrap(notes []string, wide vg.Length) (lines []string) {
	for _, n := range notes {
		line := ""
		for _, word := range strings.Fields(n) {
			if longer := strings.TrimSpace(line + " " + word); style(9, faint, draw.XLeft).Width(longer) < wide {
				line = longer
				continue
			}
			lines, line = append(lines, line), word
		}
		lines = append(lines, line)
	}
	return lines
}

// arrows draws lanes and the steps between them.
func (s *Sequence) arrows(p *page, bottom vg.Length) {
	for i, name := range s.Lanes {
		x := lane(i)
		p.write(x, head-22, name, 10, ink, draw.XCenter, false)
		p.line(x, head-12, x, bottom, rail, 1)
	}
	for i := range s.Steps {
		s.step(p, i)
	}
}

func lane(i int) vg.Length { return left + laneWide/2 + vg.Length(laneWide*i) }

// step draws one row.
func (s *Sequence) step(p *page, i int) {
	x, y := &s.Steps[i], vg.Length(head+rowHigh*i+10)
	if i == 0 || s.Steps[i-1].At != x.At {
		p.write(left-8, y+4, x.When, 9, faint, draw.XRight, false)
	}
	from, to, tint := lane(x.From), lane(x.To), colours[x.Kind]
	if x.From == x.To {
		p.square(from, y, tint)
		side, at := draw.XLeft, from+9
		if x.From > 0 && x.From == len(s.Lanes)-1 { // no room at its right
			side, at = draw.XRight, from-9
		}
		p.write(at, y+1, x.Label, 9, tint, side, true)
		p.write(at, y+12, x.Detail, 8, faint, side, true)
		return
	}
	down := y
	if x.Until > x.At {
		down += rowHigh / 3
		if !s.Timeless && x.Until-x.At >= 1000 {
			side, beyond := draw.XLeft, to+6
			if to < from {
				side, beyond = draw.XRight, to-6
			}
			p.write(beyond, down+3, "+"+dur(x.Until-x.At), 8, faint, side, true)
		}
	}
	mid, half := (from+to)/2, (y+down)/2
	p.write(mid, half-4, x.Label, 9, tint, draw.XCenter, true)
	p.write(mid, half+13, x.Detail, 8, faint, draw.XCenter, true)
	p.arrow(from, y, to, down, tint)
}

// write draws a line of text. If over is set, a background hides other lines.
func (p *page) write(x, y vg.Length, s string, size float64, c color.Color, align draw.XAlignment, over bool) {
	if s == "" {
		return
	}
	font := style(size, c, align)
	wide := font.Width(s)
	from := x + wide*vg.Length(align)
	p.from, p.to = min(p.from, from), max(p.to, from+wide)
	if over {
		p.box(from-2, y-vg.Length(size), from+wide+2, y+2, paper)
	}
	p.FillText(font, vg.Point{X: x, Y: p.high - y}, s)
}

func style(size float64, c color.Color, align draw.XAlignment) draw.TextStyle {
	return draw.TextStyle{Color: c, XAlign: align, Handler: plot.DefaultTextHandler,
		Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Length(size)}}
}

func (p *page) line(x1, y1, x2, y2 vg.Length, c color.Color, wide vg.Length) {
	p.StrokeLine2(draw.LineStyle{Color: c, Width: wide}, x1, p.high-y1, x2, p.high-y2)
}

// arrow draws a line with a head.
func (p *page) arrow(x1, y1, x2, y2 vg.Length, c color.Color) {
	p.line(x1, y1, x2, y2, c, 1.4)
	turn := math.Atan2(float64(y2-y1), float64(x2-x1))
	at := func(by float64) vg.Point {
		return vg.Point{X: x2 - 7*vg.Length(math.Cos(turn+by)), Y: p.high - (y2 - 7*vg.Length(math.Sin(turn+by)))}
	}
	p.FillPolygon(c, []vg.Point{{X: x2, Y: p.high - y2}, at(0.42), at(-0.42)})
}

// square marks what happens at a lane.
func (p *page) square(x, y vg.Length, c color.Color) {
	const r = 4
	y = p.high - y
	p.FillPolygon(c, []vg.Point{{X: x - r, Y: y - r}, {X: x + r, Y: y - r}, {X: x + r, Y: y + r}, {X: x - r, Y: y + r}})
}

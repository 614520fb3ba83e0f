package plot

import (
	"image/color"
	"math"
	"slices"
	"strconv"

	"railyard/unit"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Colours of the page's light theme (web/src/tokens.css): ink, notes, lines, queue above WRED min, load.
var ink, faint, rule, amber, blue = tint("#191c21"), tint("#656d78"), tint("#e2e1dc"), tint("#e8b434"), tint("#4c86ba")

// stretch is a value that applies from one time to another, in picoseconds.
type stretch struct{ from, to, value float64 }

// strip is one of several curves below each other on one time axis, from zero to a common maximum.
type strip struct {
	name, note string
	on         []stretch // points of a band: those of several curves together
	band       bool      // whether the band spans the lowest to highest value at a time, with the mean as a line
}

// strips are curves below each other, each with its name on the left.
type strips struct {
	title, note string
	all         []strip
	end, most   float64
	limit       float64                // a dotted line across every strip; 0: none
	means       bool                   // mean of several values in a point of the picture, instead of the highest
	show        func(v float64) string // names the top of the scale
	tint        color.Color
}

const (
	figureWide = 24 * vg.Centimeter
	margin     = 5 * vg.Millimeter
	stripHigh  = 18 * vg.Millimeter
	stripLeft  = 62 * vg.Millimeter
	headHigh   = 19 * vg.Millimeter
	footHigh   = 12 * vg.Millimeter
)

// headed draws a title and a note, and returns the canvas below both.
func headed(to vg.CanvasSizer, title, note string) draw.Canvas {
	c := draw.New(to)
	say(c, ink, 15, vg.Point{X: margin, Y: c.Max.Y - 8*vg.Millimeter}, text.XLeft, title)
	say(c, faint, 10, vg.Point{X: margin, Y: c.Max.Y - 13*vg.Millimeter}, text.XLeft, note)
	return draw.Crop(c, margin, -margin, 0, -headHigh)
}

// say draws text whose baseline begins or, with text.XRight, ends at a point.
func say(c draw.Canvas, tint color.Color, size font.Length, at vg.Point, align text.XAlignment, words string) {
	c.FillText(draw.TextStyle{Color: tint, Font: font.From(plot.DefaultFont, size), Handler: plot.DefaultTextHandler,
		XAlign: align}, at, words)
}

// box fills a rectangle.
func box(c draw.Canvas, tint color.Color, x, y, wide, high vg.Length) {
	c.FillPolygon(tint, []vg.Point{{X: x, Y: y}, {X: x + wide, Y: y}, {X: x + wide, Y: y + high}, {X: x, Y: y + high}})
}

// high is the height of the figure.
func (s *strips) high() vg.Length { return headHigh + footHigh + vg.Length(len(s.all))*stripHigh }

// image draws the strips on their own canvas.
func (s *strips) image() *vgimg.Canvas {
	img := image(figureWide, s.high())
	s.draw(img)
	return img
}

// draw draws the strips over the time in which one of them is not zero.
func (s *strips) draw(on vg.CanvasSizer) {
	from, to := s.end, 0.0
	for _, x := range s.all {
		for _, p := range x.on {
			if p.value > 0 {
				from, to = min(from, p.from), max(to, p.to)
			}
		}
	}
	note := s.note
	if to-from <= 0 || to-from > s.end/2 {
		from, to = 0, s.end
	} else {
		note += "; zero before " + unit.Time(from).Show() + " and after " + unit.Time(to).Show()
	}
	c := headed(on, s.title, note)
	left, right, bottom := c.Min.X+stripLeft, c.Max.X-3*vg.Millimeter, c.Min.Y+footHigh
	for _, at := range ticks(from, to) {
		x := left + vg.Length((at.Value-from)/(to-from))*(right-left)
		c.StrokeLine2(draw.LineStyle{Color: rule, Width: 0.5}, x, bottom, x, c.Max.Y)
		say(c, faint, 9, vg.Point{X: x, Y: bottom - 5*vg.Millimeter}, text.XCenter, at.Label)
	}
	top := round(s.most)
	for i, one := range s.all {
		base := c.Max.Y - vg.Length(i+1)*stripHigh
		y := func(v float64) vg.Length { return base + vg.Length(v/max(top, 1e-9))*(stripHigh-3*vg.Millimeter) }
		say(c, ink, 10.5, vg.Point{X: c.Min.X, Y: base + 8*vg.Millimeter}, text.XLeft, one.name)
		say(c, faint, 9, vg.Point{X: c.Min.X, Y: base + 4*vg.Millimeter}, text.XLeft, one.note)
		n := int((right - left) / 0.7) // at most one value per 0.7 points
		x := func(k int) vg.Length { return left + (right-left)*vg.Length(k)/vg.Length(n) }
		low, mean, high := columns(one.on, from, to, n)
		var over, under, line []vg.Point
		for k := range n {
			if one.band && high[k] == 0 { // it has ended
				break
			}
			y0, y1 := base, y(high[k])
			if s.means {
				y1 = y(mean[k])
			}
			if one.band {
				y0, y1 = y(low[k]), max(y1, y(low[k])+0.8)
				line = append(line, vg.Point{X: x(k), Y: y(mean[k])}, vg.Point{X: x(k + 1), Y: y(mean[k])})
			}
			over = append(over, vg.Point{X: x(k), Y: y1}, vg.Point{X: x(k + 1), Y: y1})
			under = append(under, vg.Point{X: x(k), Y: y0}, vg.Point{X: x(k + 1), Y: y0})
		}
		slices.Reverse(under)
		c.FillPolygon(s.tint, append(over, under...))
		c.StrokeLines(draw.LineStyle{Color: ink, Width: 0.9}, line)
		c.StrokeLine2(draw.LineStyle{Color: faint, Width: 0.5}, left, base, right, base)
		c.StrokeLine2(draw.LineStyle{Color: rule, Width: 0.5}, left, y(top), right, y(top))
		if s.show != nil {
			say(c, faint, 8, vg.Point{X: left - 4, Y: y(top) - 5}, text.XRight, s.show(top))
			say(c, faint, 8, vg.Point{X: left - 4, Y: base}, text.XRight, "0")
		}
		if s.limit > 0 && s.limit <= s.most {
			dotted := draw.LineStyle{Color: ink, Width: 0.7, Dashes: []vg.Length{1.5, 2}}
			c.StrokeLine2(dotted, left, y(s.limit), right, y(s.limit))
		}
	}
}

// round is the next value of 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a power of ten, the top of a scale.
func round(v float64) float64 {
	if v <= 0 {
		return 1
	}
	base := math.Pow(10, math.Floor(math.Log10(v)+1e-12))
	for _, m := range []float64{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8} {
		if m*base >= v*(1-1e-9) {
			return m * base
		}
	}
	return 10 * base
}

// columns returns the lowest, mean and highest value in each of n parts of a range, so a peak keeps its height.
// Without a value it is zero.
func columns(on []stretch, from, to float64, n int) (low, mean, high []float64) {
	low, mean, high = make([]float64, n), make([]float64, n), make([]float64, n)
	count := make([]float64, n)
	for _, p := range on {
		first, last := int((p.from-from)/(to-from)*float64(n)), int(math.Ceil((p.to-from)/(to-from)*float64(n)))
		for k := max(first, 0); k < min(max(last, first+1), n); k++ {
			if count[k] == 0 || p.value < low[k] {
				low[k] = p.value
			}
			high[k] = max(high[k], p.value)
			mean[k] += p.value
			count[k]++
		}
	}
	for k := range mean {
		mean[k] /= max(count[k], 1)
	}
	return low, mean, high
}

// ticks are times a 1, 2 or 5 of a unit apart; the last names the unit.
func ticks(from, to float64) (out []plot.Tick) {
	names := []string{"s", "ms", "µs", "ns", "ps"}
	k := max(0, slices.IndexFunc([]float64{1e12, 1e9, 1e6, 1e3, 1}, func(u float64) bool { return to >= u }))
	per := math.Pow(1000, float64(4-k))
	step := math.Pow(10, math.Floor(math.Log10((to-from)/per/4)))
	for _, m := range []float64{1, 2, 5, 10} {
		if (to-from)/per/(step*m) <= 8 {
			step *= m
			break
		}
	}
	for v := math.Ceil(from/per/step) * step; v*per <= to; v += step {
		out = append(out, plot.Tick{Value: v * per, Label: strconv.FormatFloat(v, 'g', 6, 64)})
	}
	if len(out) > 0 {
		out[len(out)-1].Label += " " + names[k]
	}
	return out
}

package plot

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/report/web"
	"railyard/unit"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// Run writes the plots of a run into a directory: its busiest ports over time, the time of its collectives by
// cause, and the slowdown of messages at random times over their size. paths are the written files, even if a later
// one fails.
func Run(r *web.Directory, dir, ext string, force bool) (paths []string, err error) {
	var drawings []drawing
	kinds := []bool{false, true}
	if r.Summary.Fidelity == "flow" { // it has no queues
		kinds = kinds[:1]
	}
	for _, queue := range kinds {
		curves, err := r.Hottest(5, queue)
		if err != nil {
			return nil, input.Fault(err)
		}
		if len(curves) > 0 {
			drawings = append(drawings, ports(r, curves, queue))
		}
	}
	parts, err := r.Parts()
	if err != nil {
		return nil, input.Fault(err)
	}
	if len(parts) > 0 {
		drawings = append(drawings, collectives(r, parts))
	}
	if r.Summary.Flows.Slowdown != nil {
		flows, err := r.Flows()
		if err != nil {
			return nil, input.Fault(err)
		}
		d, err := slowdowns(r.Summary.Name, sizeClasses(flows))
		if err != nil {
			return nil, err
		}
		drawings = append(drawings, d)
	}
	for _, d := range drawings {
		path := filepath.Join(dir, d.name+"."+ext)
		to := Picture(path, figureWide, d.high)
		d.draw(to)
		write := func(w io.Writer) error { _, err := to.WriteTo(w); return err }
		if err := output.Write(path, force, write); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// drawing is a figure before its conversion to PNG or SVG; name is that of its file.
type drawing struct {
	name string
	high vg.Length
	draw func(to vg.CanvasSizer)
}

// Tints are colours that are distinguishable with any colour vision (Okabe and Ito).
var Tints = []color.RGBA{
	{0, 114, 178, 255}, {230, 159, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
	{213, 94, 0, 255}, {86, 180, 233, 255}, {120, 120, 120, 255}, {0, 0, 0, 255},
}

// tint parses a colour of the registry of causes, "#rrggbb".
func tint(hex string) color.RGBA {
	v, _ := strconv.ParseUint(hex[1:], 16, 24)
	return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}
}

// ports draws the queue of ports, or their load, over time. The title contains the number of queues above WRED min,
// or the utilization of the busiest port.
func ports(r *web.Directory, curves []web.Curve, queue bool) drawing {
	end := r.Summary.Recorded()
	s := strips{end: float64(end), tint: blue, most: 1, means: true, show: unit.ShowShare}
	name, first := "utilisation", &curves[0]
	s.title = fmt.Sprintf("%s carries %s of its line rate over %s", first.Name, unit.ShowShare(first.Mean),
		unit.Time(end).Show())
	if from, to, share := first.Busy(end); share >= 0 {
		s.title = fmt.Sprintf("%s carries %s of its line rate from %s to %s", first.Name, unit.ShowShare(share),
			unit.Time(from).Show(), unit.Time(to).Show())
	}
	s.note = r.Summary.Name + ": load of the ports that sent most"
	if queue {
		name, s.tint, s.most, s.means = "queues", amber, first.Most(true), false
		s.show = func(v float64) string { return unit.Bytes(v).Show() }
		port, _, _ := strings.Cut(first.Name, " → ")
		longest := fmt.Sprintf("%s at %s", unit.Bytes(s.most).Show(), port)
		s.title, s.note = "Longest queue "+longest, r.Summary.Name+": longest queues"
		if q := r.Topology.Configs; len(q) > 0 && q[0].WREDMax > 0 {
			s.limit = float64(q[0].WREDMin)
			s.most = max(s.most, 1.1*s.limit)
			s.note += "; dotted: WRED min " + unit.Bytes(q[0].WREDMin).Show()
			n, of := r.Queued(q[0].WREDMin)
			s.title = fmt.Sprintf("%d of %s queue more than WRED min, at most %s", n, unit.Plural(int64(of), "switch port"),
				longest)
		}
		// Queues that would be a line on this scale have no strip.
		curves = slices.DeleteFunc(slices.Clone(curves), func(c web.Curve) bool { return c.Most(true) < 0.01*s.most })
	}
	for _, c := range curves {
		one := strip{name: c.Name, note: unit.ShowShare(c.Mean) + " of line rate over the step"}
		if queue {
			one.note = "peak " + unit.Bytes(c.Most(true)).Show()
		}
		for _, p := range c.Points {
			one.on = append(one.on, stretch{p.At, p.At + p.Length, p.Value(queue)})
		}
		s.all = append(s.all, one)
	}
	return drawing{name, s.high(), s.draw}
}

// legible returns the colour of words on a ground.
func legible(on color.RGBA) color.Color {
	if 299*int(on.R)+587*int(on.G)+114*int(on.B) > 128_000 {
		return ink
	}
	return color.White
}

// collectives draws a bar for the time of each collective, by cause.
func collectives(r *web.Directory, parts []web.Part) drawing {
	const rowHigh = 13 * vg.Millimeter
	present := slices.DeleteFunc(slices.Clone(cause.All()), func(x *cause.Cause) bool {
		return !slices.ContainsFunc(parts, func(p web.Part) bool { return p.Shares[x.ID] >= 0.005 })
	})
	worst := slices.MinFunc(parts, func(a, b web.Part) int {
		return cmp.Compare(a.Shares[cause.LineRate], b.Shares[cause.LineRate])
	})
	title := fmt.Sprintf("%s: %s at line rate", worst.Name, unit.ShowShare(worst.Shares[cause.LineRate]))
	if top := worst.Top; worst.Shares[top] >= 0.005 {
		title += fmt.Sprintf(", %s lost to %s", unit.ShowShare(worst.Shares[top]), top.Get().Name)
	}
	places, rows := legend(present, figureWide-stripLeft-2*margin-3*vg.Millimeter)
	foot := footHigh + vg.Length(rows-1)*legendHigh
	return drawing{"collectives", headHigh + foot + vg.Length(len(parts))*rowHigh, func(to vg.CanvasSizer) {
		c := headed(to, title, r.Summary.Name+": share of the time of all instances")
		left, right, bottom := c.Min.X+stripLeft, c.Max.X-3*vg.Millimeter, c.Min.Y+foot
		for i, p := range parts {
			y := c.Max.Y - vg.Length(i+1)*rowHigh + 3*vg.Millimeter
			say(c, ink, 10.5, vg.Point{X: c.Min.X, Y: y + 5*vg.Millimeter}, text.XLeft, p.Name)
			say(c, faint, 9, vg.Point{X: c.Min.X, Y: y + 1*vg.Millimeter}, text.XLeft, fmt.Sprintf("%s × %s = %s",
				unit.ShowCount(p.Count), unit.Time(p.Time/float64(max(p.Count, 1))).Show(), unit.Time(p.Time).Show()))
			x := left
			for _, about := range present {
				wide := vg.Length(p.Shares[about.ID]) * (right - left)
				box(c, tint(about.Color), x, y, wide, 9*vg.Millimeter)
				if wide > 12*vg.Millimeter {
					at := vg.Point{X: x + wide/2, Y: y + 3.2*vg.Millimeter}
					say(c, legible(tint(about.Color)), 9, at, text.XCenter, unit.ShowShare(p.Shares[about.ID]))
				}
				x += wide
			}
		}
		for i, about := range present {
			x, y := left+places[i].X, bottom-6*vg.Millimeter-places[i].Y
			box(c, tint(about.Color), x, y, 8, 8)
			say(c, ink, 9, vg.Point{X: x + 12, Y: y + 1}, text.XLeft, about.Name)
		}
	}}
}

// legendHigh is the height of a row of a legend.
const legendHigh = 5 * vg.Millimeter

// legend places the names of causes in rows of a width, to the right and down from the first, and counts the rows.
func legend(causes []*cause.Cause, most vg.Length) (places []vg.Point, rows int) {
	at := vg.Point{}
	for _, about := range causes {
		wide, _, _ := plot.DefaultTextHandler.Box(about.Name, font.From(plot.DefaultFont, 9))
		if at.X > 0 && at.X+12+wide > most {
			at = vg.Point{Y: at.Y + legendHigh}
		}
		places = append(places, at)
		at.X += 24 + wide
	}
	return places, 1 + int(at.Y/legendHigh+0.5)
}

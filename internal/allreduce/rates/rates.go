// Package rates records the rate changes of a rank's queue pairs (Log), writes them as CSV and plots them, and
// reads the CSV of all ranks as curves (OfRanks).
package rates

import (
	"fmt"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"railyard/cc"
	"railyard/internal/output"
	"railyard/unit"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Log keeps each change of a queue pair's rate, for a file of CSV or a plot.
type Log struct {
	mu        sync.Mutex
	csv, plot string
	control   string // the congestion control's title
	force     bool
	points    []point
	missed    int
}

type point struct {
	at   unit.Time
	qpn  uint32
	rate unit.Rate
}

// maxPoints bounds the memory of a log: 48 MB, minutes of changes every 55 us.
const maxPoints = 2_000_000

// New checks that the results can be written; either name may be empty.
func New(csv, plot, choice string, force bool) (*Log, error) {
	for _, f := range []string{csv, plot} {
		if f == "" {
			continue
		}
		if st, err := os.Stat(f); err == nil && (!force || !st.Mode().IsRegular()) {
			return nil, fmt.Errorf("%s exists; --force replaces a file", f)
		}
		if st, err := os.Stat(filepath.Dir(f)); err != nil || !st.IsDir() {
			return nil, fmt.Errorf("%s: no such folder", filepath.Dir(f))
		}
	}
	if ext := strings.ToLower(filepath.Ext(plot)); plot != "" && ext != ".png" && ext != ".svg" && ext != ".pdf" {
		return nil, fmt.Errorf("--rate-plot writes .png, .svg or .pdf, found %q", plot)
	}
	control, err := cc.Parse(choice)
	if err != nil {
		return nil, err
	}
	return &Log{csv: csv, plot: plot, control: control.Title, force: force}, nil
}

// Change records a rate.
func (l *Log) Change(qpn uint32, now unit.Time, r unit.Rate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.points) >= maxPoints {
		l.missed++
		return
	}
	l.points = append(l.points, point{now, qpn, r})
}

// Write writes the files, and reports what they lack.
func (l *Log) Write(rank int, says io.Writer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.missed > 0 {
		fmt.Fprintf(says, "rank %d: %d changes of rates came after the first %d and are not in the files\n",
			rank, l.missed, maxPoints)
	}
	if l.csv != "" {
		err := output.Write(l.csv, l.force, func(w io.Writer) error {
			fmt.Fprintln(w, "seconds,qp,gbps")
			for _, p := range l.points {
				if _, err := fmt.Fprintf(w, "%.6f,%#x,%.4f\n", p.at.Seconds(), p.qpn,
					float64(p.rate)/1e9); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if l.plot == "" || !l.slowed() {
		return nil
	}
	return l.draw(rank)
}

// slowed reports whether any queue pair changed its rate after its start.
func (l *Log) slowed() bool {
	seen := map[uint32]bool{}
	for _, p := range l.points {
		if seen[p.qpn] {
			return true
		}
		seen[p.qpn] = true
	}
	return false
}

// draw plots the rate of each queue pair that changed, as steps.
func (l *Log) draw(rank int) error {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("Sending rate of rank %d: %s", rank, l.control)
	p.X.Label.Text, p.Y.Label.Text = "seconds", "Gbit/s"
	p.Y.Min = 0
	highest := 0.0
	lines := map[uint32]plotter.XYs{}
	var order []uint32
	for _, pt := range l.points {
		xys := lines[pt.qpn]
		if xys == nil {
			order = append(order, pt.qpn)
		} else { // hold the last value until now
			xys = append(xys, plotter.XY{X: pt.at.Seconds(), Y: xys[len(xys)-1].Y})
		}
		highest = max(highest, float64(pt.rate)/1e9)
		lines[pt.qpn] = append(xys, plotter.XY{X: pt.at.Seconds(), Y: float64(pt.rate) / 1e9})
	}
	palette := []color.RGBA{{0x1f, 0x77, 0xb4, 0xff}, {0xd6, 0x27, 0x28, 0xff}, {0x2c, 0xa0, 0x2c, 0xff},
		{0xff, 0x7f, 0x0e, 0xff},
		{0x94, 0x67, 0xbd, 0xff}, {0x8c, 0x56, 0x4b, 0xff}, {0xe3, 0x77, 0xc2, 0xff},
		{0x17, 0xbe, 0xcf, 0xff}}
	slices.Sort(order)
	for i, q := range order {
		if len(lines[q]) < 2 {
			continue // never changed
		}
		line, err := plotter.NewLine(lines[q])
		if err != nil {
			return err
		}
		line.Color = palette[i%len(palette)]
		p.Add(line)
		if i < len(palette) {
			p.Legend.Add(fmt.Sprintf("QP %#06x", q), line)
		}
	}
	p.Y.Max = highest * 1.3 // room for the legend
	p.Legend.Top = true
	to, err := p.WriterTo(9*vg.Inch, 4*vg.Inch, strings.ToLower(filepath.Ext(l.plot))[1:])
	if err != nil {
		return err
	}
	return output.Write(l.plot, l.force, func(w io.Writer) error { _, err := to.WriteTo(w); return err })
}

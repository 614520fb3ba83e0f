package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"railyard/internal/sim"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// meter is a bar on the terminal for work of more than two seconds: a label
// with the rate, the share that is done, and the time left.
type meter struct {
	out   io.Writer
	tty   bool
	began time.Time
	last  time.Time
	pool  *mpb.Progress
	bar   *mpb.Bar
	label string
}

func newMeter(w io.Writer) *meter {
	m := &meter{out: w, began: time.Now()}
	if f, ok := w.(*os.File); ok {
		m.tty = term.IsTerminal(int(f.Fd()))
	}
	return m
}

const progressScale = 10_000

// due reports whether it is time to show something: label and share are then
// worth computing.
func (m *meter) due() bool {
	now := time.Now()
	return m.tty && now.Sub(m.began) >= 2*time.Second && now.Sub(m.last) >= 100*time.Millisecond
}

// show draws the bar at a share between 0 and 1.
func (m *meter) show(share float64, label string) {
	if !m.due() {
		return
	}
	m.last, m.label = time.Now(), label
	if m.pool == nil {
		m.pool = mpb.New(mpb.WithOutput(m.out), mpb.WithWidth(40))
		m.bar = m.pool.AddBar(progressScale,
			mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return m.label })),
			mpb.AppendDecorators(decor.Percentage(decor.WCSyncSpace), decor.Any(m.eta)))
	}
	m.bar.SetCurrent(int64(share * progressScale))
}

func (m *meter) eta(st decor.Statistics) string {
	if st.Current == 0 {
		return "  ETA -"
	}
	left := time.Duration(float64(time.Since(m.began)) * float64(st.Total-st.Current) / float64(st.Current))
	return fmt.Sprintf("  ETA %v", left.Round(time.Second))
}

func (m *meter) finish() {
	if m.pool == nil {
		return
	}
	m.bar.SetCurrent(progressScale)
	m.bar.SetTotal(progressScale, true)
	m.pool.Wait()
}

// simulated shows a run: simulated time and packet-hops per second.
func (m *meter) simulated(s sim.Progress) {
	if m.due() {
		m.show(done(s), fmt.Sprintf("%-10v %5.1f M packet-hops/s", s.Now, float64(s.Hops)/time.Since(m.began).Seconds()/1e6))
	}
}

// done is how far a run has come: by bytes, or by operations without network.
func done(s sim.Progress) float64 {
	if s.Total > 0 {
		return float64(s.Delivered) / float64(s.Total)
	}
	return float64(s.Ops-s.OpsLeft) / float64(max(s.Ops, 1))
}

package main

import (
	"fmt"
	"io"
	"time"

	"railyard/internal/exec"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// meter is a progress bar on the terminal for work of more than two seconds: a label with the rate, the completed
// share, and the remaining time. Without a terminal it is a line a minute.
type meter struct {
	out   io.Writer
	env   *env
	tty   bool
	began time.Time
	last  time.Time
	pool  *mpb.Progress
	bar   *mpb.Bar
	label string
}

func newMeter(e *env) *meter {
	return &meter{out: e.stderr, env: e, tty: onTerminal(e.stderr), began: e.clock()}
}

const progressScale = 10_000

// due reports whether the display is due: label and share are then worth computing.
func (m *meter) due() bool {
	now := m.env.clock()
	if !m.tty {
		return now.Sub(m.env.told) >= time.Minute
	}
	return now.Sub(m.began) >= 2*time.Second && now.Sub(m.last) >= 100*time.Millisecond
}

// show draws the bar at a share between 0 and 1.
func (m *meter) show(share float64, label string) {
	if !m.due() {
		return
	}
	if m.env.doing != "" {
		label = m.env.doing + "  " + label
	}
	m.last, m.label = m.env.clock(), label
	if !m.tty {
		m.env.told = m.last
		fmt.Fprintf(m.out, "%s  %.0f %%%s\n", label, 100*share, m.left(share))
		return
	}
	if m.pool == nil {
		m.pool = mpb.New(mpb.WithOutput(m.out), mpb.WithWidth(40))
		m.bar = m.pool.AddBar(progressScale,
			mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return m.label })),
			mpb.AppendDecorators(decor.Percentage(decor.WCSyncSpace), decor.Any(m.eta)))
	}
	m.bar.SetCurrent(int64(share * progressScale))
}

func (m *meter) eta(st decor.Statistics) string { return m.left(float64(st.Current) / progressScale) }

// left returns the remaining time at the current pace.
func (m *meter) left(share float64) string {
	if share <= 0 {
		return "  ETA -"
	}
	left := time.Duration(float64(m.env.clock().Sub(m.began)) * (1 - share) / share)
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

// simulated shows a run.
func (m *meter) simulated(s exec.Progress) {
	if m.due() {
		m.show(s.Share(), m.hops(s))
	}
}

// hops returns how far a run is: simulated time and packet-hops per second.
func (m *meter) hops(s exec.Progress) string {
	return fmt.Sprintf("%-10v %5.1f M packet-hops/s", s.Now,
		float64(s.PacketHops)/m.env.clock().Sub(m.began).Seconds()/1e6)
}

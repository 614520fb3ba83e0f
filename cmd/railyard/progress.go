package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"railyard/internal/sim"
	"railyard/unit"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// progress is a bar on the terminal for runs of more than two seconds:
// simulated time, packet-hops per second and the time left, by bytes delivered.
type progress struct {
	out   io.Writer
	tty   bool
	began time.Time
	last  time.Time
	pool  *mpb.Progress
	bar   *mpb.Bar
	now   unit.Time
	rate  float64
}

func newProgress(w io.Writer) *progress {
	p := &progress{out: w, began: time.Now()}
	if f, ok := w.(*os.File); ok {
		p.tty = term.IsTerminal(int(f.Fd()))
	}
	return p
}

const progressScale = 10_000

func (p *progress) show(s sim.Progress) {
	now := time.Now()
	if !p.tty || now.Sub(p.began) < 2*time.Second || now.Sub(p.last) < 100*time.Millisecond {
		return
	}
	p.last = now
	p.now, p.rate = s.Now, float64(s.Hops)/now.Sub(p.began).Seconds()
	if p.pool == nil {
		p.pool = mpb.New(mpb.WithOutput(p.out), mpb.WithWidth(40))
		p.bar = p.pool.AddBar(progressScale,
			mpb.PrependDecorators(decor.Any(func(decor.Statistics) string {
				return fmt.Sprintf("%-10v %5.1f M packet-hops/s", p.now, p.rate/1e6)
			})),
			mpb.AppendDecorators(decor.Percentage(decor.WCSyncSpace), decor.Any(p.eta)))
	}
	p.bar.SetCurrent(done(s))
}

// done is how far a run has come: by bytes, or by operations without network.
func done(s sim.Progress) int64 {
	if s.Total > 0 {
		return int64(float64(s.Delivered) / float64(s.Total) * progressScale)
	}
	return int64(float64(s.Ops-s.OpsLeft) / float64(max(s.Ops, 1)) * progressScale)
}

func (p *progress) eta(st decor.Statistics) string {
	if st.Current == 0 {
		return "  ETA -"
	}
	left := time.Duration(float64(time.Since(p.began)) * float64(st.Total-st.Current) / float64(st.Current))
	return fmt.Sprintf("  ETA %v", left.Round(time.Second))
}

func (p *progress) finish() {
	if p.pool == nil {
		return
	}
	p.bar.SetCurrent(progressScale)
	p.bar.SetTotal(progressScale, true)
	p.pool.Wait()
}

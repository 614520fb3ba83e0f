package allreduce

import (
	"context"
	"fmt"
	"net"
	"time"

	"railyard/internal/field"
	"railyard/unit"
	"railyard/verbs"
)

// Spec holds the settings that all ranks agree on.
type Spec struct {
	Rank, World int
	Rendezvous  string       // host:port of rank 0
	Listener    net.Listener // rank 0: an open one instead
	Sizes       []int64      // bytes
	Type        string
	Op          Op
	Iters       int
	Warmup      int
	QPs         int
	Wait        time.Duration // time limit for the other ranks to start
	Patience    time.Duration // time limit without progress of a rank [DefaultPatience]
	Connect     verbs.ConnectOptions
	// Progress is called with the completed share of a size; may be nil.
	Progress func(size int64, share float64)
}

// Limits.
const (
	MaxRanks = 1024
	MaxBytes = 4 << 30
	MaxQPs   = 64
)

// DefaultPatience is the time that a rank may be silent before the others give up.
const DefaultPatience = 10 * time.Second

// Row is one line of the nccl-tests table, known to rank 0.
type Row struct {
	Bytes  int64   `json:"size_bytes"`
	Count  int64   `json:"count"`
	Type   string  `json:"type"`
	Op     Op      `json:"redop"`
	TimeUS float64 `json:"time_us"`             // mean over ranks and iterations
	AlgBW  float64 `json:"algbw_gb_per_second"` // size over time
	BusBW  float64 `json:"busbw_gb_per_second"` // algbw x 2(n-1)/n
	Wrong  int64   `json:"wrong"`               // elements, over all ranks
	Stats  Stats   `json:"transport"`
}

// maxIters bounds all-reduces of one size.
const maxIters = 1_000_000

// Validate refuses what cannot run, naming the field.
func (s *Spec) Validate() error {
	k := kinds[s.Type]
	switch {
	case s.World < 1 || s.World > MaxRanks:
		return field.Outside("ranks", 1, MaxRanks, s.World)
	case s.Rank < 0 || s.Rank >= s.World:
		return field.Outside("rank", 0, s.World-1, s.Rank)
	case k == nil:
		return field.Choice("dtype", s.Type, Types(), "%s is not a type of elements", field.Quote(s.Type))
	case s.Iters < 1 || s.Iters > maxIters:
		return field.Outside("iters", 1, maxIters, s.Iters)
	case s.Warmup < 0 || s.Warmup > maxIters:
		return field.Outside("warmup", 0, maxIters, s.Warmup)
	case s.QPs < 1 || s.QPs > MaxQPs:
		return field.Outside("qps", 1, MaxQPs, s.QPs)
	case s.Patience != 0 && (s.Patience < 100*time.Millisecond || s.Patience > time.Hour):
		return field.Outside("patience", "100ms", "1h", s.Patience)
	case len(s.Sizes) == 0 || len(s.Sizes) > 100:
		return field.New("bytes", "must be 1 to 100 sizes, found %d", len(s.Sizes))
	}
	for _, n := range s.Sizes {
		if n < int64(k.size()) || n > MaxBytes || n%int64(k.size()) != 0 {
			return field.New("bytes", "%d is out of range %d–%d, or holds no whole elements of %s",
				n, k.size(), int64(MaxBytes), unit.Plural(k.size(), "byte"))
		}
	}
	return nil
}

// Run takes part as one rank on a device, and reports each row as it is measured. On other ranks than 0 rows have
// no totals and are not reported.
func Run(ctx context.Context, dev *verbs.Device, s *Spec, row func(Row)) error {
	if err := s.Validate(); err != nil {
		return err
	}
	largest := int64(0)
	for _, n := range s.Sizes {
		largest = max(largest, n)
	}
	k := kinds[s.Type]
	r, err := newRing(dev, s.Rank, s.World, s.QPs, int(largest), k, s.Op)
	if err != nil {
		return err
	}
	h := r.hello(s.job())
	var peers []*peer
	var w *welcome
	if s.Listener != nil && s.Rank == 0 && s.World > 1 {
		peers, w, err = hostOn(ctx, s.Listener, h, s.Wait)
	} else {
		peers, w, err = rendezvous(ctx, s.Rendezvous, h, s.Wait)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	p := newPulse(ctx, s.Rank, peers, s.patience())
	defer p.end()
	stop := context.AfterFunc(ctx, func() { p.fail(fmt.Errorf("rank %d was interrupted", s.Rank)) })
	defer stop()
	if err := r.connect(w, s.Connect); err != nil {
		p.fail(fmt.Errorf("rank %d: %w", s.Rank, err))
	}
	for _, n := range s.Sizes {
		out, err := r.measure(p, s, n)
		if ctx.Err() != nil {
			return ctx.Err() // another rank's error is not the cause
		}
		if err != nil {
			p.fail(err)
			return context.Cause(p.ctx)
		}
		if s.Rank == 0 {
			row(out)
		}
	}
	return nil
}

// job returns what all ranks must agree on.
func (s *Spec) job() string {
	return fmt.Sprintf("%v bytes of %s, %s, %d+%d times", s.Sizes, s.Type, s.Op, s.Warmup, s.Iters)
}

// patience returns the time that a rank may be silent.
func (s *Spec) patience() time.Duration {
	if s.Patience == 0 {
		return DefaultPatience
	}
	return s.Patience
}

// measure runs one size: a barrier, warm-up, the timed iterations, and a check
// of every element of the last result.
func (r *ring) measure(p *pulse, s *Spec, bytes int64) (Row, error) {
	out := Row{Bytes: bytes, Count: bytes / int64(r.kind.size()), Type: s.Type, Op: s.Op}
	r.prepare(int(bytes))
	if _, err := p.gather(report{}); err != nil { // no rank writes before all have filled their buffers
		return out, err
	}
	before := r.stats()
	if _, err := r.timed(p.ctx, s.Warmup); err != nil {
		return out, err
	}
	total := 0.0
	for i := range s.Iters {
		if i == s.Iters-1 { // only the last one produces the checked result
			r.spoil()
			if _, err := p.gather(report{}); err != nil {
				return out, err
			}
		}
		sec, err := r.timed(p.ctx, 1)
		if err != nil {
			return out, err
		}
		if total += sec; s.Progress != nil {
			s.Progress(bytes, float64(i+1)/float64(s.Iters))
		}
	}
	own := report{Seconds: total / float64(s.Iters), Wrong: r.kind.wrong(r.result[:bytes], r.world, 0, r.op),
		Stats: r.stats()}
	own.Stats.sub(before)
	all, err := p.gather(own)
	if err != nil {
		return out, err
	}
	for _, rep := range all {
		out.TimeUS += rep.Seconds * 1e6 / float64(len(all))
		out.Wrong += rep.Wrong
		out.Stats.Add(rep.Stats)
	}
	out.AlgBW = float64(bytes) / out.TimeUS / 1e3
	out.BusBW = out.AlgBW * 2 * float64(r.world-1) / float64(r.world)
	return out, nil
}

func (s *Stats) sub(o Stats) {
	s.Retransmissions -= o.Retransmissions
	s.Timeouts -= o.Timeouts
	s.CNPs -= o.CNPs
	s.Cuts -= o.Cuts
	s.CE -= o.CE
	s.Drops -= o.Drops
}

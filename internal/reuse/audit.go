package reuse

import (
	"math"

	"railyard/internal/result"
	"railyard/internal/rng"
	"railyard/internal/sim"
	"railyard/unit"
)

// audit simulates some episodes in full that were not: what of them is off was reused, or left out.
type audit struct {
	share    float64
	chosen   rng.Stream
	episodes int64
	messages int64
	worst    float64 // worst slowdown of a message
	sum      float64
}

func newAudit(seed uint64) audit { return audit{chosen: rng.New(seed, "audit")} }

// Audit simulates a share of the reused episodes as well. Call it before Go.
func (r *Run) Audit(share float64) { r.audit.share = share }

// result returns the audit's findings, nil if none was requested.
func (a *audit) result() *result.Audit {
	if a.share == 0 {
		return nil
	}
	return &result.Audit{Episodes: a.episodes, Messages: a.messages, Worst: a.worst,
		Mean: a.sum / max(1, float64(a.messages))}
}

// check simulates a group that has ended, if it is chosen, in a network of its own, from the same posts.
func (r *Run) check(g *group) {
	a := &r.audit
	const parts = 1 << 20
	if a.share == 0 || g.led && !g.shortened || float64(a.chosen.Intn(parts)) >= a.share*parts || r.err != nil {
		return
	}
	s, err := sim.NewStand(r.Plan, r.routes, r.seen.interval)
	if err != nil {
		r.err = err
		return
	}
	var posts []post // the stand's messages
	for i := range g.posts {
		if g.posts[i].msg >= 0 {
			posts = append(posts, g.posts[i])
		}
	}
	took, left := make([]unit.Time, len(posts)), len(posts)
	s.Delivered = func(m int32) {
		took[m] = s.Now() - posts[m].at
		left--
	}
	for i := range posts {
		p, k := &posts[i], &r.pairs[posts[i].conn]
		for s.Step(p.at) {
		}
		s.Bring(p.at)
		s.Post(k.service, k.from, k.to, k.tag, p.bytes)
	}
	for left > 0 && s.Err == nil && s.Step(unit.Never) {
	}
	if s.Err != nil || left > 0 {
		r.err = s.Err
		return
	}
	a.episodes++
	for i := range posts {
		msg := &r.messages[posts[i].msg]
		off := math.Abs(float64(msg.Done-msg.Posted-took[i])) / float64(took[i])
		a.worst, a.sum = max(a.worst, off), a.sum+off
		a.messages++
	}
}

package goodput

import (
	"math"
	"math/bits"
	"slices"

	"railyard/internal/rng"
)

// Span is a duration in microseconds. It is an integer, so that results are equal on all platforms.
type Span int64

// Units of time.
const (
	Second Span = 1_000_000
	Minute      = 60 * Second
	Hour        = 60 * Minute
	Day         = 24 * Hour
)

// Seconds is a span as a number.
func (s Span) Seconds() float64 { return float64(s) / float64(Second) }

// Seconds converts s, in seconds, to a Span, rounded to 1 µs; durations beyond forever return forever.
func Seconds(s float64) Span {
	if s >= float64(forever/Second) {
		return forever
	}
	return Span(math.Round(s * float64(Second)))
}

// forever is longer than every job.
const forever = Span(1) << 60

// Account divides the time of a job by activity. The sum of its spans is the whole time.
type Account struct {
	Useful     Span // work that counts
	Checkpoint Span // standing still for checkpoints
	Lost       Span // work that had to be done again
	Detect     Span // failures not yet detected
	Restart    Span // starting again
	Wait       Span // time until a server is repaired
	Short      Span // useful time that missing replicas would have added

	Failures []int  // by part
	Cost     []Span // by component: repeated work, detection, restart and waiting after its failures
	Restarts int    // begun
	Out      int    // maximum number of servers in repair at the same time
}

// cycle is the checkpoint schedule: interval of work, then a stall of all ranks; a checkpoint is valid after a further
// write. The next one does not begin before that.
type cycle struct{ interval, stall, write Span }

// run returns the work done in a time x of running, and the part of it that a failure at its end would leave.
func (c cycle) run(x Span) (work, kept Span) {
	first, length := c.interval+c.stall, max(c.interval, c.write)+c.stall
	n := Span(0) // checkpoints behind us
	in := x      // into the cycle
	if x >= first {
		n = 1 + (x-first)/length
		in = (x - first) % length
	}
	work = n*c.interval + min(in, c.interval)
	if x >= first+c.write {
		kept = (1 + (x-first-c.write)/length) * c.interval
	}
	return work, kept
}

// after returns the time from which the first checkpoint that ends at or after x is valid.
func (c cycle) after(x Span) Span {
	first, length := c.interval+c.stall+c.write, max(c.interval, c.write)+c.stall
	if x <= first {
		return first
	}
	return first + (x-first+length-1)/length*length
}

// job is a training in progress.
type job struct {
	in      *Input
	parts   []part
	cycle   cycle
	rng     rng.Stream
	now     Span
	back    []Span // return times of servers in repair, in order
	servers int    // servers of the complete job
	used    int    // servers in use
	cause   int    // the failed part that causes the current loss; -1: none, servers are added
	Account
}

// simulate runs a job from its first step to the end of its days.
func simulate(in *Input, parts []part, interval Span, seed uint64) Account {
	j := &job{in: in, parts: parts, cycle: cycle{interval, in.Stall, in.Write},
		rng: rng.New(seed, "goodput"), servers: in.servers()}
	j.used = j.servers
	j.Failures, j.Cost = make([]int, len(parts)), make([]Span, len(parts))
	end := in.length()
	for j.now < end {
		j.work(end)
	}
	return j.Account
}

// work runs until a failure, the end, or a checkpoint at which repaired servers are added.
func (j *job) work(end Span) {
	fails, which := j.draw()
	left := end - j.now
	stop := j.grow()
	switch at := min(fails, left, stop); {
	case at == left: // the end counts without a checkpoint
		done, _ := j.cycle.run(left)
		j.book(left, done, done)
	case at == stop:
		// the last checkpoint's write is waited for
		_, kept := j.cycle.run(stop)
		j.book(stop, kept, kept)
		j.cause = -1
		j.begin(end)
	default:
		done, kept := j.cycle.run(fails)
		j.book(fails, done, kept)
		j.Cost[which] += done - kept
		j.cause = which
		j.fail(which)
		j.unnoticed(end)
		j.begin(end)
	}
}

// book accounts for a time of running with its work, and the part of the work that counts.
func (j *job) book(x, done, kept Span) {
	j.now += x
	n, of := j.speed(j.used)
	hi, lo := bits.Mul64(uint64(kept), uint64(n))
	q, _ := bits.Div64(hi, lo, uint64(of))
	j.Useful += Span(q)
	j.Short += kept - Span(q)
	j.Lost += done - kept
	j.Checkpoint += x - done
}

// speed returns the number of replicas that the servers run, and the number of all.
func (j *job) speed(servers int) (n, of int) {
	if j.in.Replica == 0 || servers == j.servers {
		return 1, 1
	}
	return servers * j.in.PerServer / j.in.Replica, j.in.GPUs / j.in.Replica
}

// draw returns the time of the next failure and its component.
func (j *job) draw() (Span, int) {
	sum := 0.0
	for i := range j.parts {
		sum += j.rate(i)
	}
	if sum == 0 {
		return forever, 0
	}
	at := Seconds(-math.Log1p(-j.rng.Float64()) / sum)
	u := j.rng.Float64() * sum
	for i := range j.parts {
		if u -= j.rate(i); u < 0 {
			return at, i
		}
	}
	return at, len(j.parts) - 1
}

// rate returns the failure rate of a component on the servers in use.
func (j *job) rate(i int) float64 {
	if p := &j.parts[i]; p.job || j.used == j.servers {
		return p.second
	}
	return j.parts[i].second * float64(j.used) / float64(j.servers)
}

// fail takes note of a failure, and sends a server to repair.
func (j *job) fail(which int) {
	j.Failures[which]++
	if j.in.Spares < 0 || !j.parts[which].takes {
		return
	}
	j.returned()
	at, _ := slices.BinarySearch(j.back, j.now+j.in.Repair)
	j.back = slices.Insert(j.back, at, j.now+j.in.Repair)
	j.Out = max(j.Out, len(j.back))
}

// returned removes the servers whose repair has finished from j.back.
func (j *job) returned() {
	n := 0
	for n < len(j.back) && j.back[n] <= j.now {
		n++
	}
	j.back = slices.Delete(j.back, 0, n)
}

// spend advances the time, up to the end, at the cost of the last failure.
func (j *job) spend(on *Span, x, end Span) {
	x = min(x, end-j.now)
	j.now += x
	*on += x
	if j.cause >= 0 {
		j.Cost[j.cause] += x
	}
}

// unnoticed is the time until a failure is noticed. Other failures in that time are detected with it.
func (j *job) unnoticed(end Span) {
	for left := j.in.Detect; left > 0 && j.now < end; {
		x, which := j.draw()
		j.spend(&j.Detect, min(x, left), end)
		if left -= min(x, left); left > 0 && j.now < end {
			j.fail(which)
		}
	}
}

// begin restarts the job on the available servers, repeatedly if necessary.
func (j *job) begin(end Span) {
	for j.now < end {
		j.seat(end)
		if j.now >= end {
			return
		}
		j.Restarts++
		x, which := j.draw()
		if x >= j.in.Restart {
			j.spend(&j.Restart, j.in.Restart, end)
			return
		}
		j.spend(&j.Restart, x, end)
		if j.now < end {
			j.cause = which
			j.fail(which)
			j.unnoticed(end)
		}
	}
}

// seat allocates servers: all that the job needs, or fewer if it may run degraded. Without any it waits.
func (j *job) seat(end Span) {
	for j.now < end {
		j.returned()
		free := j.servers
		if j.in.Spares >= 0 {
			free = min(free, j.servers+j.in.Spares-len(j.back))
		}
		if n, _ := j.speed(free); free == j.servers || j.in.Replica > 0 && n > 0 {
			j.used = free
			return
		}
		j.spend(&j.Wait, j.back[0]-j.now, end)
	}
}

// grow returns the time at which a degraded job restarts with more servers. It is the first checkpoint by which the
// job has lost the time of a restart since a server returned.
func (j *job) grow() Span {
	if j.used == j.servers {
		return forever
	}
	have, of := j.speed(j.used)
	for i, at := range j.back {
		// servers beyond those still in repair when this one returns
		free := min(j.servers, j.servers+j.in.Spares-len(j.back)+i+1)
		more := of
		if free < j.servers {
			more, _ = j.speed(free)
		}
		if more > have {
			worth := Span(float64(j.in.Restart) * float64(of) / float64(more-have))
			return j.cycle.after(max(0, at-j.now) + worth)
		}
	}
	return forever
}

// Young returns the interval between checkpoints with the smallest loss. It is the work between the end of one and
// the start of the next, with a stall of all ranks each, and failures every mtbf on average (Young, Communications
// of the ACM 17(9), 1974). Seconds.
func Young(stall, mtbf float64) float64 { return math.Sqrt(2 * stall * mtbf) }

// Daly is the same to a higher order (Daly, Future Generation Computer Systems 22, 2006, equation 37).
func Daly(stall, mtbf float64) float64 {
	if stall >= 2*mtbf {
		return mtbf
	}
	x := stall / (2 * mtbf)
	return math.Sqrt(2*stall*mtbf)*(1+math.Sqrt(x)/3+x/9) - stall
}

// Expected returns the useful share of the time with that interval, if servers can always be replaced and a
// checkpoint is valid after its stall: Daly's complete model. Failures happen at any time, also while a checkpoint
// is written and while the job restarts; the restart is then repeated after detection. While a failure is
// undetected, further failures cost nothing more.
//
// A segment of work and stall has (e^(segment/mtbf) - 1) failures on average. Each costs the time until it, which is
// mtbf less a success's share, and the recovery time.
func Expected(interval, stall, mtbf, detect, restart float64) float64 {
	if math.IsInf(mtbf, 1) {
		return interval / (interval + stall)
	}
	return interval / (math.Expm1((interval+stall)/mtbf) * math.Exp(restart/mtbf) * (mtbf + detect))
}

package flows

import (
	"math"

	"railyard/unit"
)

// pace is the rate that a connection's congestion control permits. It is line rate until the connection and others
// demand more than the rate of a switch's port. The use of the port then, and the recovery to line rate once no
// other sender contends, were measured with packets (Curve).
type pace struct {
	cap   int32     // fluid link of the connection alone; -1: its control was not measured, or there is none
	line  float64   // rate on an idle path
	part  float64   // part of the line rate at its last limit; 1: never limited, or recovered
	since unit.Time // when part was
	fresh unit.Time // since when it shares a port that it reached at line rate; -1: it does not
	port  int32     // the limiting port, -1 for none
	got   float64   // part of the line rate in use where the whole rate is used
	turn  int32     // number of the current bell: bells with another number have no effect
	at    float64   // currently allowed part of the line rate
}

// settled is the age from which on senders that reached a port at line rate share it as their control does in the
// long run.
const settled = 2 * unit.Millisecond

// step is by how much a pace must grow to count.
const step = 0.02

// rating is a connection whose rate, or limit, has changed.
type rating struct {
	conn  int32
	rate  float64
	limit int32
}

// paced begins a connection at line rate.
func (r *Run) paced(c int32) {
	p := &r.conns[c].pace
	*p = pace{cap: -1, part: 1, at: 1, fresh: -1, port: -1}
	if all := r.curvesAt(c, r.Hosts.Line(c)); len(all) > 0 {
		p.line = bytesPer(r.Hosts.Line(c)) * all[0].top
		p.cap = r.net.Add(p.line)
	}
}

// curveKey is a service, and a rate of a port.
type curveKey struct {
	service int
	rate    unit.Rate
}

// curvesAt returns the curves of a connection's control at a rate.
func (r *Run) curvesAt(c int32, rate unit.Rate) curves {
	k := curveKey{r.Hosts.ServiceOf(c), rate}
	all, ok := r.curves[k]
	if !ok {
		all = curvesOf(ControlOf(r.Plan, &r.Plan.Services[k.service]), rate)
		r.curves[k] = all
	}
	return all
}

// of are the curves at the rate of a port.
func (r *Run) of(c, link int32) curves {
	if ports := r.links.ports[link]; ports != nil {
		link = ports[0]
	}
	return r.curvesAt(c, r.Net.Rate(link))
}

// own are the curves at a connection's line rate.
func (r *Run) own(c int32) curves { return r.curvesAt(c, r.Hosts.Line(c)) }

// rate notes a change of a flow's rate; the fluid must not change meanwhile.
func (r *Run) rate(conn int32, rate float64, limit int32) {
	if conn < 0 {
		return // the congestion control receives no acknowledgements
	}
	p := &r.conns[conn].pace
	if p.cap < 0 {
		return
	}
	r.limited(conn, limit == p.cap || r.ofSwitch(limit) && r.net.Part(limit) < 1)
	if p.port >= 0 || r.ofSwitch(limit) {
		r.rated = append(r.rated, rating{conn, rate, limit})
	}
}

// limited records whether a connection's congestion control limits it from now on: by its own pace, or at a port
// that controls leave partly idle.
func (r *Run) limited(c int32, now bool) {
	k := &r.conns[c]
	switch {
	case now && k.paced < 0:
		k.paced = r.now
	case !now && k.paced >= 0:
		k.held += r.now - k.paced
		k.paced = -1
	}
}

// leastYield is the minimum use of a port, as a share of its rate: TIMELY falls below 0.2 % of it.
const leastYield = 0.001

// yield is the used part of a port's rate under excess demand. After flows arrived at line rate, the port is partly
// idle for some time once their controls have reacted.
func (r *Run) yield(link int32, asked float64) float64 {
	if !r.ofSwitch(link) {
		return 1
	}
	rate, n, sum := r.net.Rate(link), r.net.Flows(link), 0.0
	times := asked / rate
	r.net.Each(link, func(c int32) {
		p := &r.conns[c].pace
		if p.cap < 0 {
			sum++
			return
		}
		all, age := r.of(c, link), settled
		switch {
		case p.fresh >= 0:
			// A sender with a small part of its NIC's rate must reduce its rate from line rate to less than that.
			age = max(0, r.now-p.fresh-max(0, all.takes(float64(n)*p.line/rate)-all.takes(times)))
		case p.at >= 1-step:
			age = 0
		}
		sum += all.shared(times, age)
	})
	return max(leastYield, sum/float64(max(1, n)))
}

// shared returns the part of a port's rate used by flows whose demand is a multiple of it, at a time after they
// began to share it.
func (all curves) shared(times float64, age unit.Time) float64 {
	if age >= settled {
		return all.at(times, (*Curve).long)
	}
	w := max(1, window(age)) // the first packets arrive in the window before
	return all.at(times, func(c *Curve) float64 { return in(c.Shared, w) })
}

// long returns the final value of a curve: the mean of its windows after settled, weighted by length.
func (c *Curve) long() float64 {
	from, to := Age(window(settled)), Age(len(c.Shared))
	if to <= from {
		return in(c.Shared, len(c.Shared)-1)
	}
	sum := 0.0
	for w := window(settled); w < len(c.Shared); w++ {
		sum += c.Shared[w] * float64(Age(w+1)-Age(w)) / float64(to-from)
	}
	return sum
}

// alone returns the part of its line rate to which a sender has recovered, at a time after it was left with a part.
func (all curves) alone(part float64, age unit.Time) float64 {
	if part >= 1 {
		return 1
	}
	w := window(age)
	return max(part, all.at(1/part, func(c *Curve) float64 { return min(1, in(c.Alone, w)) }))
}

// react follows changes of rates. A flow limited by a switch's port keeps that rate, and recovers from it once
// nothing limits it any more.
func (r *Run) react() {
	all := r.rated
	r.rated = nil
	for _, x := range all {
		p := &r.conns[x.conn].pace
		// A port that carries all that its senders' NICs permit builds no queue.
		switch now := r.ofSwitch(x.limit) && (p.port == x.limit || r.net.Crowded(x.limit)); {
		case now && p.fresh < 0 && p.at >= 1-step: // the flow shared a link while it sent at line rate
			p.fresh, p.port, p.got = r.now, x.limit, x.rate/p.line/r.net.Part(x.limit)
			p.turn++
			r.push(r.now+Age(1), ringPace, x.conn, p.turn)
		case now && p.fresh >= 0:
			p.port, p.got = x.limit, x.rate/p.line/r.net.Part(x.limit)
		case now:
			p.port = x.limit
			r.pin(x.conn, x.rate/p.line)
		case p.port >= 0 && p.fresh >= 0:
			r.leaves(x.conn)
		default:
			p.port = -1
		}
	}
	r.rated = all[:0]
}

// leaves ends a connection's sharing of a port: it continues with its part of the port's rate.
func (r *Run) leaves(c int32) {
	p := &r.conns[c].pace
	if p.port < 0 {
		return
	}
	if p.fresh >= 0 {
		if r.now-p.fresh < r.reaction(c) {
			p.fresh, p.port = -1, -1 // before its congestion control had received feedback
			return
		}
		r.pin(c, p.got)
	}
	p.port = -1
}

// reaction returns how long a control takes from line rate to its part of a port.
func (r *Run) reaction(c int32) unit.Time {
	p := &r.conns[c].pace
	return r.of(c, p.port).takes(1 / p.got)
}

// takes returns the time in which senders that begin at line rate fall to 1/n of it. It ends with the first window
// in which n of them used less than a full link.
func (all curves) takes(parts float64) unit.Time {
	want := math.Log2(max(1, parts))
	at, slope, senders := unit.Time(0), 0.0, 0.0
	for i := range all {
		n, heard := math.Log2(float64(all[i].Senders)), all[i].heard()
		slope = max(0, float64(heard-at)/(n-senders))
		if at, senders = heard, n; n >= want {
			break
		}
	}
	return max(0, at+unit.Time(slope*(want-senders)))
}

// heard returns the start of the first window in which senders used less than the full link.
func (c *Curve) heard() unit.Time {
	for w := 1; w < len(c.Shared); w++ {
		if c.Shared[w] < 0.99 {
			return Age(w)
		}
	}
	return settled
}

// pin sets a connection to a part of its line rate, from which it recovers.
func (r *Run) pin(c int32, part float64) {
	p := &r.conns[c].pace
	p.fresh = -1
	p.part, p.since = min(1, part), r.now
	p.turn++
	r.allow(c, p.part)
	r.grow(c)
}

// allow sets the allowed rate of a connection.
func (r *Run) allow(c int32, part float64) {
	p := &r.conns[c].pace
	p.at = part
	r.net.SetRate(r.now, p.cap, part*p.line)
}

// grow schedules a bell for the time when a connection's pace has grown noticeably.
func (r *Run) grow(c int32) {
	p := &r.conns[c].pace
	all := r.own(c)
	if p.at >= 1 {
		return
	}
	for w := window(r.now-p.since) + 1; w <= aloneWindows; w++ {
		if v := all.alone(p.part, Age(w)); v >= min(1, p.at+step) {
			r.push(p.since+Age(w), ringPace, c, p.turn)
			return
		}
	}
}

// repace updates a connection that recovers, or that began to share a port at line rate.
func (r *Run) repace(c, turn int32) {
	p := &r.conns[c].pace
	if turn != p.turn {
		return
	}
	if p.fresh < 0 {
		v := r.own(c).alone(p.part, r.now-p.since)
		if v > 1-step {
			v, p.part = 1, 1
		}
		r.allow(c, math.Max(v, p.at))
		r.grow(c)
		return
	}
	age := r.now - p.fresh
	if age >= settled {
		r.pin(c, p.got)
		return
	}
	r.net.Touch(r.now, p.port)
	r.push(p.fresh+Age(window(age)+1), ringPace, c, p.turn)
}

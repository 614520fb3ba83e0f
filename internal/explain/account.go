package explain

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"railyard/internal/cause"
	"railyard/internal/facts"
	"railyard/unit"
)

// taken is a replay without one cause more than the one before, or without the reaction to it.
type taken struct {
	id       cause.ID
	reaction bool
	p        *replay
}

// accounts divides times among causes. A message, a collective or a step has a time in each of a row of replays,
// and a cause costs the difference between the replay without it and the one before. The cause that saves most
// alone is left out first. Each later cause costs what it still saves then. The costs add up to the time.
type accounts struct {
	m     *model
	base  *replay
	taken []taken
	known *cause.Facts       // of the run
	deep  uint64             // causes whose parts go with what they are there for
	alone [cause.Max]*replay // without one cause, and what a run without it is without too

	undivided unit.Time // what all causes cost together, where it is not divided among them

	outside *claims // of extensions; nil: none adds a cause

	nvlink, stored float64 // shares of replay.nvlink and stored in the latency of the last step that was divided
}

// last is the replay without any cause.
func (a *accounts) last() *replay {
	if n := len(a.taken); n > 0 {
		return a.taken[n-1].p
	}
	return a.base
}

// removable are the causes that a replay can leave out.
var removable = [...]cause.ID{cause.Recovering, cause.Window, cause.Credit, cause.Collision, cause.SprayImbalance,
	cause.Oversubscription, cause.FailedCapacity, cause.SlowLink, cause.Incast, cause.Pause, cause.Retransmission,
	cause.Reordering, cause.ReorderMemory, cause.Trimmed, cause.OnePort, cause.PCIe, cause.StorageMedia,
	cause.HostCores, cause.Latency}

// newAccounts replays the run without each cause alone, and then without one cause after the other. The time that a
// cause alone saves, over all operations, decides the order.
func (b *blamer) newAccounts() *accounts {
	ops := b.r.all()
	m := b.newModel()
	m.measured()
	there, reacts := m.present()
	a := &accounts{m: m, base: m.replay(without{})}
	a.known = b.r.known()
	a.outside = b.newClaims(a.known)
	first := a.slowless(there[cause.SlowRank])
	if tooMany(b.r.seen) {
		a.together(first, there, ops)
		return a
	}
	var all []candidate
	var each []without
	for _, id := range removable {
		if there[id] {
			each = append(each, without{}.and(id).calm(id), a.alike(id))
		}
	}
	m.replayAll(each)
	hidden := unit.Time(0) // what is saved beside a cause, of what is there because of it
	for _, id := range removable {
		if !there[id] {
			continue
		}
		p := m.replay(without{}.and(id).calm(id))
		all = append(all, candidate{id, p.ends(ops)})
		a.alone[id] = m.replay(a.alike(id))
		hidden = max(hidden, p.ends(ops)-a.alone[id].ends(ops))
	}
	base := a.base.ends(ops)
	for _, c := range all { // what saves little by itself is there because of others
		if 2*(base-c.ends) < hidden {
			a.deep |= 1 << c.id
		}
	}
	slices.SortStableFunc(all, func(x, y candidate) int { return cmp.Compare(x.ends, y.ends) })
	ahead(all, func(x, y candidate) bool { // of two that save about as much the one that is more to the point
		near := a.base.ends(ops) / 100
		return x.ends-y.ends <= near && slices.Index(plainer[:], x.id) < slices.Index(plainer[:], y.id)
	})
	// Links that balancing would also use, or that are down or slow, are no oversubscription. Those causes come
	// first.
	at := func(id cause.ID) int {
		return slices.IndexFunc(all, func(c candidate) bool { return c.id == id })
	}
	behind := func(last, first cause.ID) {
		if l, f := at(last), at(first); l >= 0 && f > l {
			all = slices.Delete(slices.Insert(all, f+1, all[l]), l, l+1)
		}
	}
	for _, id := range removable { // A cause that congestion control reacted to comes before the reactions.
		if reacts[id] && id != cause.Oversubscription {
			behind(cause.Recovering, id)
		}
	}
	for _, id := range []cause.ID{cause.FailedCapacity, cause.SlowLink, cause.Collision} {
		behind(cause.Oversubscription, id)
	}
	if o, i := at(cause.Oversubscription), at(cause.Incast); i >= 0 && o > i && len(m.funnels) > 0 &&
		!slices.Contains(slices.Collect(maps.Values(m.funnels)), false) { // links to the receiver, which are none
		over := all[o]
		all = slices.Insert(slices.Delete(all, o, o+1), i, over)
	}
	behind(cause.Latency, cause.Trimmed) // which costs round trips
	behind(cause.Latency, cause.Reordering)
	if i, c := at(cause.Incast), at(cause.Collision); i >= 0 && c >= 0 && m.ports() &&
		2*(base-all[c].ends) > base-all[i].ends {
		behind(cause.Incast, cause.Collision) // at one of the receiver's ports
	}
	if len(m.tight) == 0 {
		behind(cause.Oversubscription, cause.Recovering)
	}
	a.leaveOut(first, all, reacts, ops)
	return a
}

// together replays a run of many messages without all causes at once. If they cost too little for a report to name
// one, their cost goes to the cause that saves most. Otherwise it stays undivided.
func (a *accounts) together(first without, there [cause.Max]bool, ops [2]int32) {
	rest := first
	for _, id := range removable {
		if there[id] {
			rest = rest.and(id).calm(id)
		}
	}
	p, base := a.m.replay(rest), a.last().ends(ops)
	lost := base - p.ends(ops)
	if float64(lost) >= facts.LeastCost*float64(a.base.ends(ops)) {
		a.undivided = lost
		return
	}
	best, least := cause.ID(cause.Latency), unit.Never
	for _, id := range slices.Backward(removable[:]) { // latency first: it often is the only one
		if !there[id] {
			continue
		}
		ends := a.m.replay(first.and(id).calm(id)).ends(ops)
		if ends < least {
			best, least = id, ends
		}
		if 2*(base-ends) >= lost {
			break
		}
	}
	a.taken = append(a.taken, taken{best, false, p})
}

// alike leaves out a cause, and everything that a run without it also lacks.
func (a *accounts) alike(id cause.ID) without {
	v := without{}.and(id).calm(id)
	v.deep, v.alone = math.MaxUint64, true
	v.stays = id == cause.Oversubscription || id == cause.SprayImbalance
	if w := id.Get().Without(a.known); w.IsPossible() {
		for _, also := range w.Also {
			v = v.and(also).calm(also)
		}
	}
	v.free = v.has(cause.Pause) && (v.has(cause.Recovering) || a.m.pauses)
	v.kept = a.m.owned && v.has(cause.Window) && id != cause.Window
	return v
}

// candidate is a cause, and when the run would have ended without it alone.
type candidate struct {
	id   cause.ID
	ends unit.Time
}

// leaveOut replays the run without one cause after the other. Those that would save nothing alone come last and
// together, booked to the one of them that saves most, unless something is saved then.
func (a *accounts) leaveOut(v without, all []candidate, reacts [cause.Max]bool, ops [2]int32) {
	base := a.base.ends(ops)
	little := slices.IndexFunc(all, func(c candidate) bool { return base-c.ends < base/1000 })
	if little < 0 {
		little = len(all)
	}
	known := len(a.taken)
	v.deep = a.deep
	var rows []without
	one := func(id cause.ID) {
		v = v.and(id)
		rows, a.taken = append(rows, v), append(a.taken, taken{id: id})
		if reacts[id] {
			v = v.calm(id)
			rows, a.taken = append(rows, v), append(a.taken, taken{id: id, reaction: true})
		}
	}
	replay := func() {
		a.m.replayAll(rows)
		for i := range rows {
			a.taken[known+i].p = a.m.replay(rows[i])
		}
	}
	for _, c := range all[:little] {
		one(c.id)
	}
	if little == len(all) {
		replay()
		return
	}
	rest := v
	for _, c := range all[little:] {
		rest = rest.and(c.id).calm(c.id)
	}
	a.m.replayAll(append(slices.Clone(rows), rest))
	replay()
	if p := a.m.replay(rest); a.last().ends(ops)-p.ends(ops) < base/1000 {
		most := slices.MinFunc(all[little:], func(x, y candidate) int { return cmp.Compare(x.ends, y.ends) })
		a.taken = append(a.taken, taken{most.id, false, p})
		return
	}
	for _, c := range all[little:] {
		one(c.id)
	}
	replay()
}

// plainer are the causes that say more of what is wrong than others that save as much, and these behind them.
var plainer = [...]cause.ID{cause.FailedCapacity, cause.SlowLink, cause.PCIe, cause.Pause, cause.Retransmission,
	cause.Reordering, cause.ReorderMemory, cause.Trimmed, cause.OnePort, cause.Collision, cause.SprayImbalance,
	cause.Incast, cause.Window, cause.Credit, cause.Oversubscription, cause.Recovering, cause.StorageMedia,
	cause.HostCores, cause.Latency}

// ahead moves elements before the elements directly in front of them, where the given order requires it.
func ahead[T any](all []T, before func(x, y T) bool) {
	for i := 1; i < len(all); i++ {
		for j := i; j > 0 && before(all[j], all[j-1]); j-- {
			all[j], all[j-1] = all[j-1], all[j]
		}
	}
}

// present returns the causes that a replay could leave out, and those among them to which congestion control
// reacted.
func (m *model) present() (there, reacts [cause.Max]bool) {
	there[cause.Latency] = true
	m.slower = m.b.r.exec.Work.Slow()
	there[cause.SlowRank] = len(m.slower) > 0
	there[cause.Pause] = m.pauses
	there[cause.PCIe] = len(m.buses) > 0
	there[cause.StorageMedia] = m.b.r.limitsMedia()
	there[cause.FailedCapacity] = (m.whole != nil || len(m.b.r.plan.Chips) > 0) && !m.b.r.phased()
	for p := range m.kind {
		there[cause.SlowLink] = there[cause.SlowLink] || m.slow(int32(p))
	}
	into := map[int32]int32{} // by link: whose messages it has
	for c := range m.ways {
		w := &m.ways[c]
		if w.grant >= 0 {
			there[cause.Credit] = true
		}
		if w.window >= 0 {
			there[cause.Window] = true
		}
		if w.cores >= 0 {
			there[cause.HostCores] = true
		}
		if w.bundle > 1 {
			there[cause.OnePort] = true
		}
		if len(w.sets) > 0 {
			there[cause.Oversubscription] = true
		}
		if len(w.ports) > 0 || w.egress != w.egressAll || m.uneven[0] != nil && len(w.sets) > 0 {
			there[m.b.r.hashing()] = true
		}
		src, _ := m.b.r.seen.peers(int32(c))
		if was, ok := into[w.ingress]; ok && was != src {
			there[cause.Incast] = true
		}
		into[w.ingress] = src
	}
	for x := range m.extra {
		if met := m.b.r.trouble(int32(x)); met.Again > 0 {
			there[m.b.resent(&met)] = true
		}
		for _, p := range m.extra[x].of {
			if there[p.id] = true; p.reaction {
				reacts[p.id], there[cause.Recovering] = true, true
			}
			if p.behind != cause.LineRate {
				m.derived, m.behinds = m.derived|1<<p.id, m.behinds|1<<p.behind
			}
		}
	}
	for id := range there {
		if there[id] {
			m.there |= 1 << id
		}
		if reacts[id] {
			m.reacts |= 1 << id
		}
	}
	return there, reacts
}

// divide fills an account with a time that is so long in the base replay, and in each of the others.
func (a *accounts) divide(to *cause.Account, took unit.Time, in func(p *replay) unit.Time,
	rest func(*cause.Account)) {
	base := in(a.base)
	long := func(p *replay) unit.Time {
		d := in(p)
		if base != took && base > 0 {
			d = unit.Time(float64(d) * (float64(took) / float64(base)))
		}
		return min(max(d, 0), took)
	}
	least := min(a.m.grain, unit.Time(facts.LeastCost*float64(took))) // replays tell no shorter times apart
	for id, p := range a.alone {
		if p == nil {
			continue
		}
		if saved := took - long(p); saved > least {
			to.Saving[id] += int64(saved)
		}
	}
	left, before := took, took
	for _, t := range a.taken {
		d := min(long(t.p), before)
		cost := before - d
		if before = d; cost <= least {
			continue
		}
		if left -= cost; t.reaction {
			to.Reaction[t.id] += int64(cost)
		} else {
			to.Own[t.id] += int64(cost)
		}
	}
	var own cause.Account
	rest(&own)
	sum := own.Total()
	if sum <= 0 {
		to.Own[cause.LineRate] += int64(left)
		return
	}
	booked, most := int64(0), 0
	for i, ps := range own.Own {
		x := int64(float64(ps) * (float64(left) / float64(sum)))
		to.Own[i] += x
		if booked += x; own.Own[i] > own.Own[most] {
			most = i
		}
	}
	to.Own[most] += int64(left) - booked
}

// step divides the time from a start until operations have ended.
func (a *accounts) step(ops [2]int32, start unit.Time) *cause.Account {
	sum := &cause.Account{}
	last, _ := a.m.b.r.lastOf(ops)
	a.divide(sum, a.m.b.r.exec.End[last]-start, func(p *replay) unit.Time { return p.ends(ops) - start },
		func(rest *cause.Account) { a.last().walk(a.last().lastIn(ops), start, -1, rest) })
	if sum.Costs(cause.Incast) > 0 {
		var messages []int32
		for _, p := range a.m.b.chain(last, start, -1) {
			if p.message >= 0 {
				messages = append(messages, p.message)
			}
		}
		a.victims(sum, messages)
	}
	var whole cause.Account
	a.base.nvlink, a.base.stored = 0, 0
	a.base.walk(a.base.lastIn(ops), start, -1, &whole)
	latency := float64(max(1, whole.Own[cause.Latency]))
	a.nvlink, a.stored = float64(a.base.nvlink)/latency, float64(a.base.stored)/latency
	a.outside.path(sum, last, start)
	return sum
}

// collective divides the time of a collective.
func (a *accounts) collective(to *cause.Account, c int32, took unit.Time) {
	in := func(p *replay) unit.Time {
		if p.from == nil {
			p.spans()
		}
		return max(0, p.to[c]-p.from[c])
	}
	a.divide(to, took, in, func(rest *cause.Account) {
		p := a.last()
		p.walk(p.lastOf[c], p.from[c], c, rest)
	})
}

package explain

import (
	"cmp"
	"slices"
	"sort"

	"railyard/internal/cause"
	"railyard/internal/fluid"
	"railyard/unit"
)

// measured finds what each message took beyond its fluid time, and which sets of ports are full however bytes are
// spread over them.
func (m *model) measured() {
	m.heat()
	for i := range m.b.r.seen.Ports {
		p := &m.b.r.seen.Ports[i].Packets
		m.lost = m.lost || p.Drops+p.Trims > 0
	}
	if of := m.b.r.seen.Counted.Reorder; of != nil {
		m.lost = m.lost || of.Refused > 0
	}
	m.weights = make([]float64, len(m.b.r.seen.Messages))
	for x := range m.weights {
		m.weights[x] = 1
	}
	balanced := without{}.and(cause.Collision).and(cause.Pause)
	limits := m.coarse(balanced)
	full, all := map[int32]unit.Time{}, map[int32]unit.Time{}
	for x := range limits {
		sum := unit.Time(0)
		for _, l := range limits[x] {
			sum += l.Time
			full[l.Link] += l.Time
			for _, s := range m.in[l.Link] {
				full[s] += l.Time
			}
		}
		for _, s := range m.ways[m.b.r.seen.Messages[x].Conn].sets {
			all[s] += sum
		}
	}
	m.tight = map[int32]bool{}
	for s, d := range all {
		if full[s] > d/3 {
			m.tight[s] = true
		}
	}
	m.funnel()
	for range weighings {
		if m.extra, m.limits = m.open(without{}); !m.weigh() {
			break
		}
	}
	m.apart = m.b.share.apart()
	m.stage()
	m.divide()
	m.opened, m.unmoved = nil, nil
}

// funnel finds the sets that senders can fill, and whether their flows all end at one NIC that takes as much.
func (m *model) funnel() {
	ends := map[int32]int32{}
	m.funnels = map[int32]bool{}
	for c := range m.ways {
		for _, s := range m.ways[c].sets {
			rate, to := m.rate(s, 0, without{}), m.b.r.seen.Conns[c].To
			if m.offered[s] <= rate {
				continue
			}
			was, known := ends[s]
			m.funnels[s] = m.rate(m.ways[c].ingressAll, 0, without{}) == rate && (!known || m.funnels[s] && was == to)
			ends[s] = to
		}
	}
}

// mostSet bounds how often a replay sets rates of flows, oftener how many times as often where a coarser grain would
// exceed a message's time, finest the grain that is tried first of those above none, as a share of the run.
const (
	mostSet = 100_000
	oftener = 5
	finest  = 1 << 14
)

// coarse chooses how finely replays look at when rates change: as finely as they can afford.
func (m *model) coarse(v without) [][]fluid.Limit {
	usual := m.lineTime()
	for {
		next := max(m.b.r.seen.At/finest, 4*m.grain)
		if m.often = mostSet; next > usual {
			m.often *= oftener
		}
		if _, limits := m.open(v); m.rated <= m.often || m.grain > m.b.r.seen.At/16 {
			return limits
		}
		m.grain = next
	}
}

// lineTime is the mean time that messages take at their NICs' rate; 0 without messages.
func (m *model) lineTime() (mean unit.Time) {
	all := m.b.r.seen.Messages
	for x := range all {
		src, _ := m.b.r.seen.peers(all[x].Conn)
		mean += unit.Serialize(all[x].Bytes, m.b.r.nicRate(src)) / unit.Time(len(all))
	}
	return mean
}

// upTo is what a replay leaves out that shows how fast a NIC sends in turn, and between what it and the fabric
// carry: whoever does not slow its senders down has packets wait on the way, and these go no faster where others wait
// further on.
var upTo = [...]without{without{}.and(cause.Oversubscription).and(cause.Incast).and(cause.Pause),
	without{}.and(cause.Incast).and(cause.Pause)}

// stage notes which messages took no less than the parts of their way take, whatever comes behind.
func (m *model) stage() {
	for k, v := range upTo {
		part, _ := m.open(v)
		for x := range part {
			if e := &m.extra[x]; part[x].part > 0.95 {
				e.paced[k] = true
				e.fluid = min(max(e.fluid, part[x].fluid), e.began+e.took)
			}
		}
	}
}

// weighings bounds how often weights are set anew.
const weighings = 5

// weigh gives more weight to messages that were done before the fluid had moved them: their part of links was larger.
// It reports whether there were any.
func (m *model) weigh() (more bool) {
	for x := range m.extra {
		if part := m.extra[x].part; part > 0 && part < 1 {
			more = more || part < 0.98
			m.weights[x] = min(64, m.weights[x]/max(0.25, part))
		}
	}
	return more
}

// moment is the begin or the end of a message. At one time, first the messages end that began earlier, then
// messages begin, then those end that began at that time.
type moment struct {
	at    unit.Time
	order uint8
	of    int32
}

const (
	endsMoment uint8 = iota
	beginsMoment
	emptyMoment
)

func (a moment) compare(b moment) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order), cmp.Compare(a.of, b.of))
}

// moments lists the begins and ends of the run's messages, in order, and returns the excess of each message before
// any fluid.
func (m *model) moments() (all []moment, extra []excess) {
	r := m.b.r
	all, extra = make([]moment, 0, 2*len(r.seen.Messages)), make([]excess, len(r.seen.Messages))
	for x := range r.seen.Messages {
		msg := &r.seen.Messages[x]
		if msg.Done == 0 {
			continue
		}
		e := &extra[x]
		e.part, e.began = 1, m.b.share.turn(int32(x))
		latency := m.b.share.latency(int32(x))
		e.took = max(0, msg.Done-latency-e.began)
		end := moment{e.began + e.took, endsMoment, int32(x)}
		if e.took == 0 {
			end.order = emptyMoment
		}
		all = append(all, moment{e.began, beginsMoment, int32(x)}, end)
	}
	slices.SortFunc(all, moment.compare)
	return all, extra
}

// open lets the run's messages begin when they did, and says when the fluid had moved each. One that was done before
// had more than its fair share: what was left of it then is taken off.
func (m *model) open(v without) ([]excess, [][]fluid.Limit) {
	r := m.b.r
	n := len(r.seen.Messages)
	if m.opened == nil {
		m.opened, m.unmoved = m.moments()
	}
	moments, extra, limits := m.opened, slices.Clone(m.unmoved), make([][]fluid.Limit, n)
	var kept []fluid.Limit
	net := m.newNet(v)
	net.Limits = true
	weight := func(x int32) float64 {
		if v.has(cause.Incast) {
			return 1
		}
		return m.weights[x]
	}
	flows, next := make([]int32, n), 0 // by message: its flow + 1
	over := make([][]fluid.Use, len(m.ways))
	ended := func(x, number int32, at unit.Time) {
		extra[x].fluid, flows[x] = at, 0
		of := net.LimitsOf(number)
		if len(kept)+len(of) > cap(kept) {
			kept = make([]fluid.Limit, 0, max(len(of), 4096)) // an array for many messages
		}
		kept = append(kept, of...)
		limits[x] = kept[len(kept)-len(of):]
	}
	for i := 0; ; {
		other := unit.Never
		if i < len(moments) {
			other = moments[i].at
		}
		if next < len(m.times) && m.times[next] <= other {
			other = m.times[next]
		}
		at, flow := net.Next(other)
		switch {
		case flow:
			at, number, x := net.End()
			ended(x, number, at)
		case next < len(m.times) && m.times[next] == at:
			m.changed(net, at, v)
			for _, c := range m.moves(at, v) {
				over[c] = m.over(c, at, v)
				list := m.b.share.byQP[c]
				first := sort.Search(len(list), func(i int) bool { return m.b.share.done(list[i]) >= at })
				for _, x := range list[first:] {
					if extra[x].began > at {
						break
					}
					if flows[x] > 0 {
						burst := r.seen.Messages[x].Posted == extra[x].began
						net.Move(at, flows[x]-1, m.send(x, over[c], burst, v))
					}
				}
			}
			next++
		case i >= len(moments):
			m.rated = net.Set
			return extra, limits
		case net.Set > m.often && m.grain <= r.seen.At/16 && v.has(cause.Collision):
			m.rated = net.Set
			return extra, limits // too finely
		default:
			x, c := moments[i].of, r.seen.Messages[moments[i].of].Conn
			if moments[i].order == beginsMoment {
				if over[c] == nil {
					over[c] = m.over(c, at, v)
				}
				burst := at == r.seen.Messages[x].Posted
				flows[x] = net.Start(at, x, m.bytes(x, v), weight(x), m.send(x, over[c], burst, v)) + 1
			} else if flows[x] > 0 {
				number := flows[x] - 1
				left := net.Stop(at, number)
				ended(x, number, at)
				extra[x].part = max(0.01, 1-left/m.bytes(x, v))
			}
			i++
		}
	}
}

// transient is the queue, in packets, that spreading packets one by one leaves now and then where links are full.
const transient = 50

// marksFrom is the queue from which on packets are marked.
func (m *model) marksFrom() unit.Bytes {
	s := m.b.r.plan.Spec
	return s.Queues[s.DSCP[uint8(m.b.r.plan.Default().DSCP)]].WRED.Min
}

// heat finds the links that several NICs send over, and the connections that cross a set of ports for which senders
// have too much whatever balances them: a set that they fill exactly has no queue where packets take its ports in turn.
func (m *model) heat() {
	r := m.b.r
	bySource := make([]int32, len(m.ways))
	for c := range bySource {
		bySource[c] = int32(c)
	}
	slices.SortStableFunc(bySource, func(a, b int32) int {
		return cmp.Compare(r.seen.Conns[a].From, r.seen.Conns[b].From)
	})
	type senders struct {
		last, n int32
		rates   unit.Rate
	}
	at := slices.Repeat([]senders{{last: -1}}, m.links())
	for _, c := range bySource {
		w, src := &m.ways[c], r.seen.Conns[c].From
		rate := r.nicRate(src)
		add := func(link int32) {
			if l := &at[link]; l.last != src {
				l.last, l.n, l.rates = src, l.n+1, l.rates+rate
			}
		}
		over := func(ports []fluid.Use) {
			for _, u := range ports {
				add(u.Link)
			}
		}
		add(w.ingress)
		for _, s := range w.sets {
			add(s)
		}
		over(w.ports)
		over(w.arrive)
		for _, ports := range w.even[0] {
			over(ports)
		}
		for _, was := range w.was {
			over(was.ports)
		}
	}
	m.shared, m.offered = make([]bool, len(at)), make([]float64, len(at))
	for s, from := range at {
		m.shared[s], m.offered[s] = from.n > 1, bytesPer(from.rates)
	}
	m.hot = make([]bool, len(m.ways))
	if m.b.r.plan.Default().CC.Name == "dcqcn" && m.marksFrom() > transient*r.seen.Rules.MTU {
		return
	}
	demand := m.demand()
	for c := range m.ways {
		m.hot[c] = slices.ContainsFunc(m.ways[c].sets, func(s int32) bool {
			return m.shared[s] && demand[s] > 1.001*m.rate(s, 0, without{}) // sums of shares are not exact
		})
	}
}

// demand returns what senders ask of sets of ports, in bytes per picosecond: of a NIC the part of its rate that is the
// set's part of its bytes.
func (m *model) demand() map[int32]float64 {
	r := m.b.r
	sent, by := make([]float64, len(m.ways)), make([]float64, len(r.graph.NICs))
	for x := range r.seen.Messages {
		msg := &r.seen.Messages[x]
		sent[msg.Conn] += float64(msg.Bytes)
		by[r.seen.Conns[msg.Conn].From] += float64(msg.Bytes)
	}
	demand := map[int32]float64{}
	for c := range m.ways {
		src := r.seen.Conns[c].From
		if by[src] == 0 {
			continue
		}
		for _, s := range m.ways[c].sets {
			demand[s] += bytesPer(r.nicRate(src)) * sent[c] / by[src]
		}
	}
	return demand
}

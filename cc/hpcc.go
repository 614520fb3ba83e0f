package cc

import (
	"railyard/param"
	"railyard/unit"
)

// hpcc is HPCC's place in the registry. The rules are algorithm 1 of the paper (Li et al., SIGCOMM 2019, section
// 3.3). The constants are those of the artifact's simulator (rdma-hw.cc, run.py; docs/references.md, hpcc). Paper
// and artifact differ in the additive steps before a multiplicative one. The paper has at most five. Its authors
// call that a typo: the simulations have no limit, and in theory no limit is best (issue 24 of the artifact).
var hpcc = Algorithm{
	Name: "hpcc", Title: "HPCC", Params: hpccTable.Params(), Sockets: "paper",
	Profiles: []Profile{
		{Name: "paper", Doc: "as the paper has it: 95 % of the line, five additive steps",
			Words: "HPCC, in-band telemetry from every switch, at %v",
			Of: func(line unit.Rate) Values {
				return hpccTable.Values(hpccValues(line, 5, line/2000, line/10_000))
			}},
		{Name: "artifact", Doc: "as its simulator has it: no step that is only additive, 10 Mbit/s up per 25 Gbit/s of line and round trip, no sender below 1 Gbit/s",
			Words: "HPCC with its artifact's constants, at %v",
			Of: func(line unit.Rate) Values {
				return hpccTable.Values(hpccValues(line, 0, line/2500, unit.Gbps))
			}},
	},
	Signals: []Term{
		{SignalRate, "bit/s", "the window per base round trip"},
		{SignalWindow, "B", "the window; below one packet the pace keeps it"},
		{SignalLoad, "", "how full the path's busiest port is with its queue, as estimated; 1 is full"},
		{"reference", "B", "the window that a round trip's decisions start from"},
	},
	Counters: []Term{
		{Name: CounterCuts, Doc: "times that the window became smaller"},
		{Name: "updates", Doc: "round trips that ended with a new reference of the window"},
		{Name: "new_paths", Doc: "times that telemetry began anew: at first, on a new path, after silence"},
	},
	Needs:     Needs{Switch: "INT", NIC: "window, INT sent back"},
	Telemetry: hpccReports,
	Interval:  func(v Values) unit.Time { return hpccTable.Read(v).Interval },
	New: func(v Values) Make {
		s := hpccTable.Read(v)
		return func(path Path) Controller { return newHPCC(&s, path) }
	},
}

// hpccReports returns the kind of telemetry that switches write: INT, IFA's metadata, or a tag of the given size.
func hpccReports(v Values) Report {
	if Value[bool](v, "ifa") {
		return ReportIFA
	}
	return reportsByTag(v, ReportINT)
}

// hpccSettings are the parameters, as senders share them.
type hpccSettings struct {
	plus     *plusSettings // nil: HPCC as the paper has it
	Eta      float64       `yaml:"eta" range:"0.5,1" doc:"share of a port's rate that is aimed at"`
	Stages   int           `yaml:"max_stage" range:"0|1,1000" doc:"consecutive round trips of additive increase; then, or immediately with 0, the window follows the load"`
	AI       unit.Rate     `yaml:"ai" range:"1Mbps,1Tbps" at:"line" doc:"additive increase per round trip, as a rate: (1-eta) of the line over the senders at a port"`
	Base     unit.Time     `yaml:"base_rtt" range:"0|100ns,100ms" doc:"round trip without queues, the same for all; 0s: the path's own"`
	Least    unit.Rate     `yaml:"min_rate" range:"1Mbps,1Tbps" at:"line" doc:"no sender below it"`
	PerHop   bool          `yaml:"per_hop" doc:"keep a window for each port of the path; the smallest counts"`
	CSIG     int           `yaml:"csig" of:"0, 4, 8" doc:"congestion signaling's tag instead of INT: 4 bytes, compact, or 8, wide; 0: INT"`
	IFA      bool          `yaml:"ifa" doc:"headers of the in-band flow analyzer instead of INT: 8 bytes, and 32 more from each switch"`
	Interval unit.Time     `yaml:"csig_interval" range:"128ns,1024ms" doc:"over how long switches measure available bandwidth for it"`
	Asks     int           `yaml:"ack_every" range:"1,1000" doc:"every Nth packet requests telemetry"`
}

var hpccTable = param.In[hpccSettings]()

// hpccValues computes the additive increase. The initial window is one base round trip at line rate. The paper's
// increase, that window times (1-eta) over N senders, is therefore a rate: (1-eta)/N of the line. N is 100 in the
// paper's profile, as its 80 bytes at 100 Gbit/s and 13 us are. For tags, switches measure over 1,024 ns, one of
// the intervals in CSIG's specification for SAI. CSIG's default, 256 us, is many round trips.
func hpccValues(line unit.Rate, stages int, ai, least unit.Rate) hpccSettings {
	return hpccSettings{Eta: 0.95, Stages: stages, AI: max(ai, unit.Mbps), Least: min(max(least, unit.Mbps), line),
		Asks: 1, Interval: 1024 * unit.Nanosecond}
}

// HPCC is one sender's window. Each acknowledgement carries the bytes that the path's ports sent between the
// acknowledged packet and the one before. The window is divided by the load of the busiest port, whose queue
// counts. The bytes in flight thus approach the path's capacity at eta of its rate. All decisions within a round
// trip start from one reference window. The sender therefore reacts once to the bytes of a round trip. Products and
// sums are rounded one by one, so that all platforms compute equal values.
type HPCC struct {
	s       *hpccSettings
	line    unit.Rate
	mtu     unit.Bytes
	base    unit.Time
	seconds float64 // of base
	most    float64 // window that the line fills, bytes; all of it to begin with
	floor   float64
	step    float64 // additive increase

	reference float64 // Wc
	window    float64 // W
	load      float64 // U
	stage     int
	now       Decision

	acked, upTo unit.Bytes // bytes acknowledged, and the value at which the reference window is updated next
	heard       unit.Time  // telemetry, last
	path        uint16
	hops        int
	hop         [MostHops]Hop
	more        plus
	each        []eachHop // nil: one window for all ports

	// last values of the tags: utilization of the busiest port, and its delay in base round trips
	used, waited float64

	cuts, updates, paths int64
}

// unknownBase is the base round trip used when it is unknown.
const unknownBase = 100 * unit.Microsecond

func newHPCC(s *hpccSettings, path Path) *HPCC {
	h := &HPCC{s: s, mtu: path.MTU, base: s.Base, load: 1, hops: -1}
	if h.base == 0 {
		if h.base = path.RTT; h.base == 0 {
			h.base = unknownBase
		}
	}
	h.seconds = h.base.Seconds()
	h.fit(path.Line)
	h.reference, h.window = h.most, h.most
	if s.PerHop {
		h.each = make([]eachHop, MostHops)
	}
	h.settle()
	return h
}

// fit sizes the windows for a line.
func (h *HPCC) fit(line unit.Rate) {
	h.line = line
	h.most, h.floor, h.step = h.bytes(line), h.bytes(min(h.s.Least, line)), h.bytes(h.s.AI)
}

// bytes returns the bytes that a rate sends in a base round trip.
func (h *HPCC) bytes(r unit.Rate) float64 { return float64(r) / 8 * h.seconds }

// OnAck updates the window from the switches' telemetry.
func (h *HPCC) OnAck(now unit.Time, a *Ack) {
	h.acked += a.Bytes
	t := a.Telemetry
	if t == nil {
		return
	}
	if t.Signal != 0 {
		h.signalled(now, t)
		h.move(a)
		return
	}
	known := t.Known()
	silent := now - h.heard
	h.heard = now
	if t.Path != h.path || len(known) != h.hops || silent >= t.Wraps/2 {
		h.begin(t, known, h.acked+a.InFlight)
		return
	}
	if h.measure(known, t.Wraps) {
		h.move(a)
	}
}

// move changes the window by the current load.
func (h *HPCC) move(a *Ack) {
	over := h.acked > h.upTo
	before := h.window
	if h.s.plus != nil {
		h.quicker(over, a.Bytes)
	} else {
		h.react(over)
	}
	if over {
		h.updates++
		h.upTo = h.acked + a.InFlight
	}
	if h.settle(); h.window < before {
		h.cuts++
	}
}

// begin takes a path's first telemetry, with which the next is compared.
func (h *HPCC) begin(t *Telemetry, known []Hop, upTo unit.Bytes) {
	h.path, h.hops, h.upTo = t.Path, len(known), upTo
	copy(h.hop[:], known)
	h.beginHops()
	h.paths++
}

// measure estimates the load of the busiest port, as the paper's MeasureInflight does. The load is bytes sent over
// link capacity, plus the queue at both samples over the bytes of a base round trip. A port whose clock has not
// moved is looked at the next time.
func (h *HPCC) measure(known []Hop, wraps unit.Time) bool {
	busiest, since := -1.0, unit.Time(0)
	for i := range known {
		was, is := &h.hop[i], &known[i]
		gone := is.At - was.At
		if gone < 0 {
			gone += wraps
		}
		if gone == 0 || is.Rate <= 0 {
			continue
		}
		sent := is.Sent - was.Sent
		if sent < 0 {
			sent += is.Wraps
		}
		rate := float64(is.Rate) / 8
		load := float64(float64(sent)/gone.Seconds()) / rate
		queue := float64(min(is.Queue, was.Queue))
		h.more.queue = max(h.more.queue, queue)
		load += queue / float64(rate*h.seconds)
		if h.each != nil {
			h.meetHop(i, load, gone)
		}
		if *was = *is; load > busiest {
			busiest, since = load, gone
		}
	}
	if busiest < 0 {
		return false
	}
	share := min(since, h.base).Seconds() / h.seconds
	h.load = float64((1-share)*h.load) + float64(share*busiest)
	return true
}

// signalled estimates the load from the two alternating tags of congestion signaling. One has the utilization of
// the busiest port; the other has the longest delay in base round trips, which equals queue over window.
func (h *HPCC) signalled(now unit.Time, t *Telemetry) {
	if t.Signal == SignalledShare {
		h.used = 1 - t.Share
	} else {
		h.waited = t.Delay.Seconds() / h.seconds
		h.more.queue = max(h.more.queue, float64(h.waited*h.most))
	}
	share := min(now-h.heard, h.base).Seconds() / h.seconds
	h.heard = now
	h.load = float64((1-share)*h.load) + float64(share*(h.used+h.waited))
}

// react is the paper's ComputeWind. over: update the reference window.
func (h *HPCC) react(over bool) {
	if h.each != nil {
		h.reactHops(over)
		return
	}
	w, stage := h.next(h.reference, h.load, h.stage)
	if h.window = w; over {
		h.reference, h.stage = w, stage
	}
}

// next updates a window from its reference: by the load, or by an additive step while the load is low and few round
// trips have added one.
func (h *HPCC) next(reference, load float64, stage int) (window float64, stages int) {
	w, stages := reference+h.step, stage+1
	if excess := load / h.s.Eta; excess >= 1 || stage >= h.s.Stages {
		w, stages = reference/max(excess, 1e-9)+h.step, 0
	}
	return min(max(w, h.floor), h.most), stages
}

// settle sets the decision: at least a packet, in whole packets, and a rate of one window per base round trip.
func (h *HPCC) settle() {
	rate := min(max(1, unit.Rate(h.window*8/h.seconds)), h.line)
	h.now = Decision{Rate: rate, Window: max(unit.Bytes(h.window), h.mtu), TimerAt: unit.Never}
}

// OnLine changes the ceiling.
func (h *HPCC) OnLine(_ unit.Time, line unit.Rate) {
	h.fit(line)
	h.window, h.reference = min(h.window, h.most), min(h.reference, h.most)
	h.settle()
}

// OnLoss does nothing: telemetry has already reported the queue that caused the loss.
func (h *HPCC) OnLoss(unit.Time, Loss) {}

// OnCNP does nothing.
func (h *HPCC) OnCNP(unit.Time) {}

// OnBytes does nothing.
func (h *HPCC) OnBytes(unit.Time, unit.Bytes) {}

// OnTimer does nothing.
func (h *HPCC) OnTimer(unit.Time) {}

// WantsAcks returns true.
func (h *HPCC) WantsAcks() bool { return true }

// AsksEvery returns the interval, in packets, at which telemetry is requested.
func (h *HPCC) AsksEvery() int { return h.s.Asks }

// Decision returns the window and its pace.
func (h *HPCC) Decision() Decision { return h.now }

// Signal returns the rate, the windows and the load.
func (h *HPCC) Signal(_ unit.Time, name string) (float64, bool) {
	return named(hpcc.Signals, name, float64(h.now.Rate), h.window, h.load, h.reference)
}

// Counter returns the number of rate reductions and their causes.
func (h *HPCC) Counter(name string) (int64, bool) {
	return named(hpcc.Counters, name, h.cuts, h.updates, h.paths)
}

package cc

import (
	"math"

	"railyard/unit"
)

// dcqcn is DCQCN's place in the registry.
var dcqcn = Algorithm{
	Name: "dcqcn", Title: "DCQCN", Params: dcqcnTable.Params(), Sockets: "paper",
	Profiles: []Profile{
		{Name: "nic", Doc: "what ConnectX NICs ship with",
			Words: "DCQCN as ConnectX NICs ship it, steps scaled to %v",
			Of:    func(line unit.Rate) Values { return dcqcnTable.Values(DCQCNNIC(line)) }},
		{Name: "paper", Doc: "SIGCOMM 2015", Words: "DCQCN as in its paper, steps scaled to %v",
			Of: func(line unit.Rate) Values { return dcqcnTable.Values(DCQCNPaper(line)) }},
	},
	Signals: []Term{
		{SignalRate, "bit/s", "current rate, R_C"},
		{SignalTarget, "bit/s", "rate that recovery heads for, R_T"},
		{SignalAlpha, "", "estimate of congestion"},
	},
	Counters: []Term{{Name: CounterCuts, Doc: "cuts of the rate"},
		{Name: CounterCNPs, Doc: "congestion notifications received"}},
	Needs: Needs{Hears: Marking, Switch: "ECN", NIC: "CNPs, rate per QP"},
	New: func(v Values) Make {
		p := dcqcnTable.Read(v)
		return func(path Path) Controller { return NewDCQCN(&p, path.Line) }
	},
	CNPGap:   func(v Values) unit.Time { return Value[unit.Time](v, "cnp_interval") },
	CNPDelay: func(v Values) unit.Time { return Value[unit.Time](v, "cnp_delay") },
}

// DCQCN is the reaction point: the rate of one sending queue pair.
//
// In the paper's form a CNP sets the target to the current rate, reduces the rate by alpha/2 and raises alpha.
// Without CNPs alpha decays per AlphaTimer. In the NIC's form (HPCC rdma-hw.cc 618 to 737) a CNP only sets a flag.
// The periodic updates of alpha and checks for a reduction, which the first CNP starts, read it. In both forms the
// timer and the byte counter drive fast recovery, additive increase and hyper increase after a reduction. Each
// product is rounded by an explicit conversion, so that all platforms compute the paper's floating-point values
// alike.
type DCQCN struct {
	p       *DCQCNParams
	line    unit.Rate
	rc, rt  float64 // current and target rate, bit/s
	alpha   float64
	alphaAt unit.Time // alpha is updated up to here
	timerAt unit.Time // time of the next increase; unit.Never at line rate
	first   unit.Time // CNP: both grids of the NIC's form start here
	checkAt unit.Time // time of the next reduction; unit.Never when no CNP is pending
	t, bc   int
	limited bool // below line rate or still recovering: timers run
	seenCNP bool
	heard   bool // a CNP since alpha's last update, NIC
	cycle   uint32
	Cuts    int // rate cuts so far, for reports
	heardN  int // CNPs so far
}

// NewDCQCN returns a sender at line rate. The parameters are shared between
// senders and must not change.
func NewDCQCN(p *DCQCNParams, line unit.Rate) *DCQCN {
	return &DCQCN{p: p, line: line, rc: float64(line), rt: float64(line), alpha: p.AlphaInit,
		timerAt: unit.Never, checkAt: unit.Never}
}

// Alpha returns the congestion estimate as of now.
func (d *DCQCN) Alpha(now unit.Time) float64 {
	x := *d // reading must not change when alpha is rounded
	x.update(now)
	return x.alpha
}

// Rates returns the current and the target rate.
func (d *DCQCN) Rates() (current, target unit.Rate) { return unit.Rate(d.rc), unit.Rate(d.rt) }

// update applies every alpha update that was due until now, paper equation 2: alpha = (1-g) alpha, once per AlphaTimer.
// In the NIC's form the first of them adds g when a CNP was received.
func (d *DCQCN) update(now unit.Time) {
	n := (now - d.alphaAt) / d.p.AlphaTimer
	if n <= 0 {
		return
	}
	d.alphaAt += n * d.p.AlphaTimer
	if !d.seenCNP {
		return
	}
	if d.heard {
		d.raise()
		d.heard = false
		n--
	}
	if n > 64 {
		d.alpha *= math.Pow(1-d.p.G, float64(n))
	} else {
		for range n {
			d.alpha = float64(d.alpha * (1 - d.p.G))
		}
	}
	if d.alpha < subnormal {
		d.alpha = 0
	}
}

// subnormal is the size below which processors calculate a hundred times
// slower, and below which a factor near 1 rounds to no change at all.
const subnormal = 0x1p-1022

// raise is alpha's update with a CNP, paper equation 1.
func (d *DCQCN) raise() { d.alpha = min(float64(d.alpha*(1-d.p.G))+d.p.G, 1) }

// OnCNP reduces the rate, or records the CNP for the NIC's next check.
func (d *DCQCN) OnCNP(now unit.Time) {
	d.heardN++
	if d.p.CutInterval > 0 {
		d.note(now)
		return
	}
	if d.seenCNP {
		d.update(now)
	}
	d.seenCNP = true
	d.alphaAt = now
	d.cut(now)
	d.raise()
}

// afterAlpha schedules a check after the update of alpha at the same microsecond, as HPCC's code does.
const afterAlpha = unit.Nanosecond

// note keeps a CNP for the next update of alpha and for the next check.
func (d *DCQCN) note(now unit.Time) {
	if !d.seenCNP {
		// HPCC cnp_received_mlx: the first CNP starts the periodic checks and counts for the first check. It does
		// not count for alpha, which it has just set.
		d.seenCNP, d.first, d.alphaAt = true, now, now
		d.checkAt = now + d.p.CutInterval + afterAlpha
		return
	}
	if d.checkAt <= now {
		d.check(d.checkAt)
	}
	d.update(now)
	d.heard = true
	if d.checkAt == unit.Never {
		n := (now-d.first-afterAlpha)/d.p.CutInterval + 1
		d.checkAt = d.first + n*d.p.CutInterval + afterAlpha
	}
}

// check is a look at the rate that finds a CNP: HPCC CheckRateDecreaseMlx.
func (d *DCQCN) check(at unit.Time) {
	d.checkAt = unit.Never
	d.update(at)
	d.cut(at)
}

// cut reduces the rate by alpha/2 and restarts recovery (paper equation 1).
func (d *DCQCN) cut(now unit.Time) {
	if d.p.ClampTarget || d.t > 0 {
		d.rt = d.rc
	}
	keep := max(1-d.alpha/2, 1-d.p.MaxCut)
	d.rc = max(float64(d.rc*keep), min(float64(d.p.MinRate), d.rc))
	d.Cuts++
	d.t, d.bc = 0, 0
	d.cycle++
	d.timerAt = now + d.p.RateTimer
	d.limited = true
}

// OnTimer reduces the rate or counts a timer expiry, depending on which is due.
func (d *DCQCN) OnTimer(now unit.Time) {
	if d.checkAt <= now && d.checkAt <= d.timerAt {
		d.check(now)
		return
	}
	if d.timerAt > now {
		return
	}
	d.t++
	d.timerAt = now + d.p.RateTimer
	d.increase()
}

// OnBytes counts a full byte counter and increases the rate.
func (d *DCQCN) OnBytes(unit.Time, unit.Bytes) {
	if d.limited {
		d.bc++
		d.increase()
	}
}

// increase is one rate increase event. The first F events after a reduction are fast recovery; then increase is
// additive. It is hyper increase once timer and byte counter have both passed F. The paper's pseudo code can be
// read as F-1 steps. Its text ("five"), its fluid model and the HPCC and htsim codes all use F. The hyper step
// grows with every event in the paper. It is constant in HPCC's NIC, which makes one additive step before it.
func (d *DCQCN) increase() {
	hi, lo := max(d.t, d.bc), min(d.t, d.bc)
	if d.p.ByteCounter == 0 {
		lo = hi // time stages alone
	}
	nic := d.p.CutInterval > 0
	switch {
	case hi <= d.p.F:
	case lo <= d.p.F, nic && lo == d.p.F+1:
		d.rt += float64(d.p.AI)
	case nic:
		d.rt += float64(d.p.HAI)
	default:
		d.rt += float64(float64(lo-d.p.F) * float64(d.p.HAI))
	}
	d.rt = min(d.rt, float64(d.line))
	d.rc = (d.rt + d.rc) / 2
	if float64(d.line)-d.rc < float64(d.line)*1e-4 {
		d.rc, d.rt, d.limited = float64(d.line), float64(d.line), false
		d.timerAt = unit.Never
	}
}

// OnLine changes the ceiling. A sender at line rate stays at line rate.
func (d *DCQCN) OnLine(_ unit.Time, line unit.Rate) {
	d.line = line
	d.rc, d.rt = min(d.rc, float64(line)), min(d.rt, float64(line))
	if !d.limited {
		d.rc, d.rt = float64(line), float64(line)
	}
}

// OnAck does nothing: DCQCN reacts only to CNPs.
func (d *DCQCN) OnAck(unit.Time, *Ack) {}

// OnLoss does nothing: go-back-N already stops the sender.
func (d *DCQCN) OnLoss(unit.Time, Loss) {}

// Signal returns the rates and alpha.
func (d *DCQCN) Signal(now unit.Time, name string) (float64, bool) {
	return named(dcqcn.Signals, name, d.rc, d.rt, d.Alpha(now))
}

// Counter returns the cuts and the CNPs.
func (d *DCQCN) Counter(name string) (int64, bool) {
	return named(dcqcn.Counters, name, int64(d.Cuts), int64(d.heardN))
}

// WantsAcks returns false.
func (d *DCQCN) WantsAcks() bool { return false }

// Decision returns the current rate and when to call again.
func (d *DCQCN) Decision() Decision {
	dec := Decision{Rate: unit.Rate(d.rc), TimerAt: min(d.checkAt, d.timerAt)}
	if d.limited {
		dec.Budget, dec.Cycle = d.p.ByteCounter, d.cycle
	} else {
		dec.Rate = d.line
	}
	return dec
}

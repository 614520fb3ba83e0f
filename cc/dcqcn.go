package cc

import (
	"fmt"
	"math"

	"railyard/unit"
)

// DCQCNParams are the knobs of DCQCN's reaction and notification points. Paper
// names are those of Zhu et al., "Congestion Control for Large-Scale RDMA
// Deployments", SIGCOMM 2015; NIC names are mlxconfig's (HANDBOOK.md 2.1, 2.2).
type DCQCNParams struct {
	G              float64    // gain of alpha, 1/256 (NIC: 1 - dce_tcp_g/1024)
	AlphaInit      float64    // alpha of the first CNP, 1
	AlphaTimer     unit.Time  // K: alpha decays once per so long without CNP, 55 us
	RateTimer      unit.Time  // T: rate increase timer, 55 us (rpg_time_reset)
	ByteCounter    unit.Bytes // B: rate increase byte counter, 10 MB; 0 is off
	F              int        // fast recovery steps, 5 (rpg_threshold)
	AI             unit.Rate  // additive increase, 40 Mbit/s at 40G
	HAI            unit.Rate  // hyper increase, 400 Mbit/s
	MinRate        unit.Rate  // floor
	MinCutInterval unit.Time  // two cuts at least so far apart; 0 in the paper
	MaxCut         float64    // a single cut never keeps less than this share, 0.5
	ClampTarget    bool       // each cut sets the target rate (paper); false: only
	// when the rate was increased since the last cut (NIC clamp_tgt_rate 0)
	CNPInterval unit.Time // N: receiver sends one CNP per flow and interval, 50 us
}

// DCQCNPaper returns the paper's deployment values, with the increase steps
// scaled from the paper's 40 Gbit/s to the line rate.
func DCQCNPaper(line unit.Rate) DCQCNParams {
	return DCQCNParams{
		G: 1.0 / 256, AlphaInit: 1, AlphaTimer: 55 * unit.Microsecond, RateTimer: 55 * unit.Microsecond,
		ByteCounter: 10 * unit.MB, F: 5, AI: scaleRate(40*unit.Mbps, line), HAI: scaleRate(400*unit.Mbps, line),
		MinRate: scaleRate(40*unit.Mbps, line), MaxCut: 0.5, ClampTarget: true,
		CNPInterval: 50 * unit.Microsecond,
	}
}

// DCQCNNIC returns the defaults of ConnectX NICs, with the increase steps
// scaled from 25 Gbit/s as the HPCC artifact scales them.
func DCQCNNIC(line unit.Rate) DCQCNParams {
	return DCQCNParams{
		G: 5.0 / 1024, AlphaInit: 1023.0 / 1024, AlphaTimer: 1 * unit.Microsecond,
		RateTimer: 300 * unit.Microsecond, F: 1, AI: line / 25000 * 5, HAI: line / 25000 * 50,
		MinRate: line / 1000, MinCutInterval: 4 * unit.Microsecond, MaxCut: 0.5,
		CNPInterval: 4 * unit.Microsecond,
	}
}

func scaleRate(at40 unit.Rate, line unit.Rate) unit.Rate {
	return unit.Rate(float64(at40) * (float64(line) / float64(40*unit.Gbps)))
}

// Validate refuses parameters the algorithm cannot run with, naming the field.
func (p DCQCNParams) Validate() error {
	switch {
	case !(p.G > 0 && p.G < 1):
		return fmt.Errorf("g must lie between 0 and 1, found %v", p.G)
	case !(p.AlphaInit > 0 && p.AlphaInit <= 1):
		return fmt.Errorf("alpha_init must lie in (0,1], found %v", p.AlphaInit)
	case p.AlphaTimer <= 0:
		return fmt.Errorf("alpha_timer must be positive, found %v", p.AlphaTimer)
	case p.RateTimer <= 0:
		return fmt.Errorf("rate_timer must be positive, found %v", p.RateTimer)
	case p.ByteCounter < 0:
		return fmt.Errorf("byte_counter must not be negative, found %v", p.ByteCounter)
	case p.F < 1:
		return fmt.Errorf("f must be at least 1, found %d", p.F)
	case p.AI <= 0 || p.HAI <= 0:
		return fmt.Errorf("ai and hai must be positive, found %v and %v", p.AI, p.HAI)
	case p.MinRate <= 0:
		return fmt.Errorf("min_rate must be positive, found %v", p.MinRate)
	case !(p.MaxCut > 0 && p.MaxCut < 1):
		return fmt.Errorf("max_cut must lie between 0 and 1, found %v", p.MaxCut)
	case p.CNPInterval < 0 || p.MinCutInterval < 0:
		return fmt.Errorf("intervals must not be negative")
	}
	return nil
}

// DCQCN is the reaction point: the rate of one sending queue pair.
//
// On a CNP the target takes the current rate, the rate is cut by alpha/2 and
// alpha grows; without CNPs alpha decays per AlphaTimer, and the timer and the
// byte counter drive fast recovery, additive and hyper increase. The paper's
// Rate() floating point is kept; each product is rounded by an explicit
// conversion so that no platform fuses it differently.
type DCQCN struct {
	p         *DCQCNParams
	line      unit.Rate
	rc, rt    float64 // current and target rate, bit/s
	alpha     float64
	alphaAt   unit.Time // alpha is decayed up to here
	timerAt   unit.Time
	lastCut   unit.Time
	t, bc     int
	increased bool // since the last cut
	limited   bool // below line rate or still recovering: timers run
	seenCNP   bool
	cycle     uint32
	Cuts      int // rate cuts so far, for reports
}

// NewDCQCN returns a sender at line rate. The parameters are shared between
// senders and must not change.
func NewDCQCN(p *DCQCNParams, line unit.Rate) *DCQCN {
	return &DCQCN{p: p, line: line, rc: float64(line), rt: float64(line), alpha: p.AlphaInit, timerAt: unit.Never}
}

// Alpha returns the congestion estimate as of now.
func (d *DCQCN) Alpha(now unit.Time) float64 {
	d.decay(now)
	return d.alpha
}

// Rates returns the current and the target rate.
func (d *DCQCN) Rates() (current, target unit.Rate) { return unit.Rate(d.rc), unit.Rate(d.rt) }

// decay applies every alpha update that was due until now: paper equation 2,
// alpha = (1-g) alpha, once per AlphaTimer.
func (d *DCQCN) decay(now unit.Time) {
	n := (now - d.alphaAt) / d.p.AlphaTimer
	if n <= 0 {
		return
	}
	d.alphaAt += n * d.p.AlphaTimer
	if !d.seenCNP {
		return
	}
	if n > 64 {
		d.alpha *= math.Pow(1-d.p.G, float64(n))
		return
	}
	for range n {
		d.alpha = float64(d.alpha * (1 - d.p.G))
	}
}

// OnCNP cuts the rate: paper equation 1.
func (d *DCQCN) OnCNP(now unit.Time) {
	if d.seenCNP {
		d.decay(now)
	} else {
		d.seenCNP = true
		d.lastCut = now - d.p.MinCutInterval
	}
	d.alphaAt = now
	if now-d.lastCut >= d.p.MinCutInterval {
		if d.p.ClampTarget || d.increased || d.rt > float64(d.line) {
			d.rt = d.rc
		}
		keep := 1 - d.alpha/2
		if keep < d.p.MaxCut {
			keep = d.p.MaxCut
		}
		d.rc = max(float64(d.rc*keep), float64(d.p.MinRate))
		d.lastCut, d.increased = now, false
		d.Cuts++
	}
	d.alpha = min(float64(d.alpha*(1-d.p.G))+d.p.G, 1)
	d.t, d.bc = 0, 0
	d.cycle++
	d.timerAt = now + d.p.RateTimer
	d.limited = true
}

// OnTimer counts a timer expiry and increases the rate.
func (d *DCQCN) OnTimer(now unit.Time) {
	d.t++
	d.increase()
	if d.limited {
		d.timerAt = now + d.p.RateTimer
	} else {
		d.timerAt = unit.Never
	}
}

// OnBytes counts a full byte counter and increases the rate.
func (d *DCQCN) OnBytes(unit.Time, unit.Bytes) {
	if d.limited {
		d.bc++
		d.increase()
	}
}

// increase is one rate increase event: the first F of them after a cut are fast
// recovery, then additive increase, and hyper increase once timer and byte
// counter have both passed F. The paper's pseudo code can be read as F-1 steps;
// its text ("five"), its fluid model and the HPCC and htsim codes all make F.
func (d *DCQCN) increase() {
	d.increased = true
	hi, lo := max(d.t, d.bc), min(d.t, d.bc)
	if d.p.ByteCounter == 0 {
		lo = hi // the NIC form counts time stages only
	}
	switch {
	case hi <= d.p.F:
	case lo > d.p.F:
		d.rt += float64(float64(lo-d.p.F) * float64(d.p.HAI))
	default:
		d.rt += float64(d.p.AI)
	}
	d.rt = min(d.rt, float64(d.line))
	d.rc = (d.rt + d.rc) / 2
	if float64(d.line)-d.rc < float64(d.line)*1e-4 {
		d.rc, d.rt, d.limited = float64(d.line), float64(d.line), false
	}
}

// OnAck does nothing: DCQCN hears of congestion through CNPs alone.
func (d *DCQCN) OnAck(unit.Time, *Ack) {}

// OnLoss does nothing: go-back-N already stops the sender.
func (d *DCQCN) OnLoss(unit.Time, Loss) {}

// OnCredit does nothing.
func (d *DCQCN) OnCredit(unit.Time, unit.Bytes) {}

// WantsAcks returns false.
func (d *DCQCN) WantsAcks() bool { return false }

// Decision returns the current rate and when to call again.
func (d *DCQCN) Decision() Decision {
	dec := Decision{Rate: unit.Rate(d.rc), TimerAt: unit.Never}
	if d.limited {
		dec.TimerAt, dec.Budget, dec.Cycle = d.timerAt, d.p.ByteCounter, d.cycle
	} else {
		dec.Rate = d.line
	}
	return dec
}

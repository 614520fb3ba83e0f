package cc

import (
	"fmt"

	"railyard/unit"
)

// DCQCNParams are the knobs of DCQCN's reaction and notification points. Paper
// names are those of Zhu et al., "Congestion Control for Large-Scale RDMA
// Deployments", SIGCOMM 2015; NIC names are mlxconfig's (HANDBOOK.md 2.1, 2.2).
//
// CutInterval tells the two forms apart. At zero a CNP cuts the rate at once and
// raises alpha, which decays per AlphaTimer without one: the paper. Above zero
// alpha is updated every AlphaTimer and the rate is looked at every CutInterval,
// both from the first CNP on and both by whether one arrived since: NICs.
type DCQCNParams struct {
	G           float64    // gain of alpha, 1/256 (NIC: 1 - dce_tcp_g/1024)
	AlphaInit   float64    // alpha of the first CNP, 1 (initial_alpha_value)
	AlphaTimer  unit.Time  // K: alpha decays once per so long without CNP, 55 us (dce_tcp_rtt)
	RateTimer   unit.Time  // T: rate increase timer, 55 us (rpg_time_reset)
	ByteCounter unit.Bytes // B: rate increase byte counter, 10 MB; 0 is off (rpg_byte_reset)
	F           int        // fast recovery steps, 5 (rpg_threshold)
	AI          unit.Rate  // additive increase, 40 Mbit/s at 40G (rpg_ai_rate)
	HAI         unit.Rate  // hyper increase, 400 Mbit/s (rpg_hai_rate)
	MinRate     unit.Rate  // floor (rpg_min_rate)
	CutInterval unit.Time  // the NIC looks so often whether to cut (rate_reduce_monitor_period)
	MaxCut      float64    // a single cut takes at most this share, 0.5 (rpg_min_dec_fac)
	ClampTarget bool       // each cut sets the target rate (paper); false: only
	// when the timer has raised the rate since the last cut (NIC clamp_tgt_rate 0,
	// clamp_tgt_rate_after_time_inc 1)
	CNPInterval unit.Time // N: receiver sends one CNP per flow and interval, 50 us (min_time_between_cnps)
}

// DCQCNPaper returns the paper's deployment values, with the increase steps
// scaled from the paper's 40 Gbit/s to the line rate. The rate is cut by alpha/2:
// by half at first, by 7 % at the 0.145 where 8 flows share 40 Gbit/s. A seed's cut
// of "about 1/5", at an alpha of 0.4, is one moment on the way.
func DCQCNPaper(line unit.Rate) DCQCNParams {
	return DCQCNParams{
		G: 1.0 / 256, AlphaInit: 1, AlphaTimer: 55 * unit.Microsecond, RateTimer: 55 * unit.Microsecond,
		ByteCounter: 10 * unit.MB, F: 5, AI: scale(40*unit.Mbps, 40*unit.Gbps, line), HAI: scale(400*unit.Mbps, 40*unit.Gbps, line),
		MinRate: scale(40*unit.Mbps, 40*unit.Gbps, line), MaxCut: 0.5, ClampTarget: true,
		CNPInterval: 50 * unit.Microsecond,
	}
}

// DCQCNNIC returns what ConnectX NICs ship with (HANDBOOK.md 2.2). The steps of
// 5 and 50 Mbit/s are scaled from 25 Gbit/s to the line rate as the HPCC
// artifact scales them, and the floor of 1 Mbit/s with them.
//
// The byte counter is off. A NIC ships with rpg_byte_reset at 32767, the largest
// value of its 15 bits, in a unit in which 802.1Qau's 150,000 bytes are 150: 32.8
// MB, which hardly any sender sends between two timers. HPCC's code has none.
func DCQCNNIC(line unit.Rate) DCQCNParams {
	return DCQCNParams{
		G: 5.0 / 1024, AlphaInit: 1023.0 / 1024, AlphaTimer: 1 * unit.Microsecond,
		RateTimer: 300 * unit.Microsecond, F: 1, AI: scale(5*unit.Mbps, 25*unit.Gbps, line), HAI: scale(50*unit.Mbps, 25*unit.Gbps, line),
		MinRate: scale(unit.Mbps, 25*unit.Gbps, line), CutInterval: 4 * unit.Microsecond, MaxCut: 0.5,
		CNPInterval: 4 * unit.Microsecond,
	}
}

// scale gives a rate the share of line that it has of ref.
func scale(r, ref, line unit.Rate) unit.Rate {
	return unit.Rate(float64(r) * (float64(line) / float64(ref)))
}

// Validate refuses parameters the algorithm cannot run with, naming the field.
func (p DCQCNParams) Validate() error {
	switch {
	case !(p.G > 0 && p.G < 1):
		return fmt.Errorf("g must lie between 0 and 1, found %v", p.G)
	case !(p.AlphaInit > 0 && p.AlphaInit <= 1):
		return fmt.Errorf("alpha_init must be above 0 and at most 1, found %v", p.AlphaInit)
	case p.AlphaTimer <= 0:
		return fmt.Errorf("alpha_timer must be positive, found %v", p.AlphaTimer)
	case p.RateTimer <= 0:
		return fmt.Errorf("rate_timer must be positive, found %v", p.RateTimer)
	case p.ByteCounter < 0:
		return fmt.Errorf("byte_counter must not be negative, found %v", p.ByteCounter)
	case p.F < 1:
		return fmt.Errorf("f must be at least 1, found %d", p.F)
	case p.AI <= 0:
		return fmt.Errorf("ai must be positive, found %v", p.AI)
	case p.HAI <= 0:
		return fmt.Errorf("hai must be positive, found %v", p.HAI)
	case p.MinRate <= 0:
		return fmt.Errorf("min_rate must be positive, found %v", p.MinRate)
	case !(p.MaxCut > 0 && p.MaxCut < 1):
		return fmt.Errorf("max_cut must lie between 0 and 1, found %v", p.MaxCut)
	case p.CutInterval < 0:
		return fmt.Errorf("cut_interval must not be negative, found %v", p.CutInterval)
	case p.CNPInterval < 0:
		return fmt.Errorf("cnp_interval must not be negative, found %v", p.CNPInterval)
	}
	return nil
}

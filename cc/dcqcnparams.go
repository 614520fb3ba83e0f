package cc

import "railyard/unit"

// DCQCNParams are the knobs of DCQCN's reaction and notification points. Paper
// names are those of Zhu et al., "Congestion Control for Large-Scale RDMA
// Deployments", SIGCOMM 2015; NIC names are mlxconfig's (docs/references.md, dcqcn and dcqcn-nic).
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
	CNPDelay    unit.Time // the receiver takes from a marked packet to its CNP; no source says, so 0
}

// DCQCNPaper returns the paper's deployment values, with the increase steps
// scaled from the paper's 40 Gbit/s to the line rate. The rate is cut by alpha/2:
// by half at first, by 7 % at the 0.145 where 8 flows share 40 Gbit/s. A seed's cut
// of "about 1/5", at an alpha of 0.4, is one moment on the way.
func DCQCNPaper(line unit.Rate) DCQCNParams {
	return DCQCNParams{
		G: 1.0 / 256, AlphaInit: 1, AlphaTimer: 55 * unit.Microsecond, RateTimer: 55 * unit.Microsecond,
		ByteCounter: 10 * unit.MB, F: 5, AI: scale(40*unit.Mbps, 40*unit.Gbps, line),
		HAI:     scale(400*unit.Mbps, 40*unit.Gbps, line),
		MinRate: scale(40*unit.Mbps, 40*unit.Gbps, line), MaxCut: 0.5, ClampTarget: true,
		CNPInterval: 50 * unit.Microsecond,
	}
}

// DCQCNNIC returns what ConnectX NICs ship with (docs/references.md, dcqcn-nic). The steps of
// 5 and 50 Mbit/s are scaled from 25 Gbit/s to the line rate as the HPCC
// artifact scales them, and the floor of 1 Mbit/s with them.
//
// The byte counter is off. A NIC ships with rpg_byte_reset at 32767, the largest
// value of its 15 bits, in a unit in which 802.1Qau's 150,000 bytes are 150: 32.8
// MB, which hardly any sender sends between two timers. HPCC's code has none.
func DCQCNNIC(line unit.Rate) DCQCNParams {
	return DCQCNParams{
		G: 5.0 / 1024, AlphaInit: 1023.0 / 1024, AlphaTimer: 1 * unit.Microsecond,
		RateTimer: 300 * unit.Microsecond, F: 1, AI: scale(5*unit.Mbps, 25*unit.Gbps, line),
		HAI:     scale(50*unit.Mbps, 25*unit.Gbps, line),
		MinRate: scale(unit.Mbps, 25*unit.Gbps, line), CutInterval: 4 * unit.Microsecond, MaxCut: 0.5,
		CNPInterval: 4 * unit.Microsecond,
	}
}

// scale gives a rate the share of line that it has of ref.
func scale(r, ref, line unit.Rate) unit.Rate {
	return unit.Rate(float64(r) * (float64(line) / float64(ref)))
}

// dcqcnParams describes them. Durations are at least what a NIC's clock can tell apart,
// the counters at least a packet.
var dcqcnParams = []Param{
	{Name: "g", Doc: "gain of alpha", Kind: Number, Min: "0.000001", Max: "0.999999"},
	{Name: "alpha_init", Doc: "alpha of the first CNP, above 0 and at most 1", Kind: Number,
		Min: "0.000001", Max: "1"},
	{Name: "alpha_timer", Doc: "interval in which alpha decays once, and a NIC updates it", Kind: Duration,
		Min: "100ns", Max: "1s"},
	{Name: "rate_timer", Doc: "rate increase timer", Kind: Duration, Min: "100ns", Max: "1s"},
	{Name: "byte_counter", Doc: "rate increase byte counter; 0B: off, the timer alone counts stages",
		Kind: Size, Min: "256B", Max: "100000GB", Zero: true},
	{Name: "f", Doc: "fast recovery steps", Kind: Count, Min: "1", Max: "1000"},
	{Name: "ai", Doc: "additive increase; profiles scale theirs to the line rate", Kind: Speed,
		Min: "1Kbps", Max: "100Tbps", Line: true},
	{Name: "hai", Doc: "hyper increase; profiles scale theirs to the line rate", Kind: Speed, Min: "1Kbps",
		Max: "100Tbps", Line: true},
	{Name: "min_rate", Doc: "floor; profiles scale theirs to the line rate", Kind: Speed, Min: "1Kbps",
		Max: "100Tbps", Line: true},
	{Name: "cut_interval", Doc: "interval in which a NIC reduces the rate at most once; 0s: every CNP reduces it, as in the paper",
		Kind: Duration, Min: "1ns", Max: "1s", Zero: true},
	{Name: "max_cut", Doc: "a single cut takes at most this share of the rate", Kind: Number,
		Min: "0.000001", Max: "0.999999"},
	{Name: "clamp_target", Doc: "every cut lowers the target rate too; false: only when the timer has raised the rate since the last", Kind: Flag},
	{Name: "cnp_interval", Doc: "minimum interval between CNPs of a flow; 0s: one per marked packet",
		Kind: Duration, Min: "1ns", Max: "1s", Zero: true, Simulated: true},
	{Name: "cnp_delay", Doc: "delay in the receiving NIC from a marked packet to its CNP", Kind: Duration, Min: "1ns", Max: "1ms", Zero: true, Simulated: true},
}

// values writes the parameters under their names.
func (p DCQCNParams) values() Values {
	return Values{"g": p.G, "alpha_init": p.AlphaInit, "alpha_timer": p.AlphaTimer, "rate_timer": p.RateTimer,
		"byte_counter": p.ByteCounter, "f": p.F, "ai": p.AI, "hai": p.HAI, "min_rate": p.MinRate,
		"cut_interval": p.CutInterval,
		"max_cut":      p.MaxCut, "clamp_target": p.ClampTarget, "cnp_interval": p.CNPInterval,
		"cnp_delay": p.CNPDelay}
}

// dcqcnOf reads them back.
func dcqcnOf(v Values) DCQCNParams {
	return DCQCNParams{G: Value[float64](v, "g"), AlphaInit: Value[float64](v, "alpha_init"),
		AlphaTimer: Value[unit.Time](v, "alpha_timer"), RateTimer: Value[unit.Time](v, "rate_timer"),
		ByteCounter: Value[unit.Bytes](v, "byte_counter"), F: Value[int](v, "f"),
		AI:  Value[unit.Rate](v, "ai"),
		HAI: Value[unit.Rate](v, "hai"), MinRate: Value[unit.Rate](v, "min_rate"),
		CutInterval: Value[unit.Time](v, "cut_interval"),
		MaxCut:      Value[float64](v, "max_cut"), ClampTarget: Value[bool](v, "clamp_target"),
		CNPInterval: Value[unit.Time](v, "cnp_interval"),
		CNPDelay:    Value[unit.Time](v, "cnp_delay")}
}

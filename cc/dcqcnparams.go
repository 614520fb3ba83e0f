package cc

import (
	"railyard/param"
	"railyard/unit"
)

// DCQCNParams are the knobs of DCQCN's reaction and notification points. Paper names are those of Zhu et al.,
// "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015; NIC names are mlxconfig's (docs/references.md,
// dcqcn and dcqcn-nic). Durations are at least the resolution of a NIC's clock, and the counter is at least a packet.
//
// NICs have these names for the parameters: G is 1 - dce_tcp_g/1024, AlphaInit initial_alpha_value, AlphaTimer (K)
// dce_tcp_rtt, RateTimer (T) rpg_time_reset, ByteCounter (B) rpg_byte_reset, F rpg_threshold, AI rpg_ai_rate, HAI
// rpg_hai_rate, MinRate rpg_min_rate, CutInterval rate_reduce_monitor_period, MaxCut rpg_min_dec_fac, ClampTarget
// clamp_tgt_rate (false: clamp_tgt_rate_after_time_inc), and CNPInterval (N) min_time_between_cnps. No source has
// CNPDelay, so it is 0.
//
// CutInterval selects the form. At zero a CNP reduces the rate immediately and raises alpha, which decays every
// AlphaTimer without a CNP: the paper's form. Above zero (NICs), alpha is updated every AlphaTimer and the rate is
// checked every CutInterval. Both begin with the first CNP and depend on whether a CNP arrived since.
type DCQCNParams struct {
	G           float64    `yaml:"g" range:"0.000001,0.999999" doc:"gain of alpha"`
	AlphaInit   float64    `yaml:"alpha_init" range:"0.000001,1" doc:"alpha of the first CNP, above 0 and at most 1"`
	AlphaTimer  unit.Time  `yaml:"alpha_timer" range:"100ns,1s" doc:"interval in which alpha decays once, and a NIC updates it"`
	RateTimer   unit.Time  `yaml:"rate_timer" range:"100ns,1s" doc:"rate increase timer"`
	ByteCounter unit.Bytes `yaml:"byte_counter" range:"0|256B,100000GB" doc:"rate increase byte counter; 0B: off, the timer alone counts stages"`
	F           int        `yaml:"f" range:"1,1000" doc:"fast recovery steps"`
	AI          unit.Rate  `yaml:"ai" range:"1Kbps,100Tbps" at:"line" doc:"additive increase; profiles scale theirs to the line rate"`
	HAI         unit.Rate  `yaml:"hai" range:"1Kbps,100Tbps" at:"line" doc:"hyper increase; profiles scale theirs to the line rate"`
	MinRate     unit.Rate  `yaml:"min_rate" range:"1Kbps,100Tbps" at:"line" doc:"floor; profiles scale theirs to the line rate"`
	CutInterval unit.Time  `yaml:"cut_interval" range:"0|1ns,1s" doc:"interval in which a NIC reduces the rate at most once; 0s: every CNP reduces it, as in the paper"`
	MaxCut      float64    `yaml:"max_cut" range:"0.000001,0.999999" doc:"a single cut takes at most this share of the rate"`
	ClampTarget bool       `yaml:"clamp_target" doc:"every cut lowers the target rate too; false: only when the timer has raised the rate since the last"`
	CNPInterval unit.Time  `yaml:"cnp_interval" range:"0|1ns,1s" by:"simulated" doc:"minimum interval between CNPs of a flow; 0s: one per marked packet"`
	CNPDelay    unit.Time  `yaml:"cnp_delay" range:"0|1ns,1ms" by:"simulated" doc:"delay in the receiving NIC from a marked packet to its CNP"`
}

var dcqcnTable = param.In[DCQCNParams]()

// DCQCNPaper returns the paper's deployment values, with the increase steps scaled from the paper's 40 Gbit/s to the
// line rate. The rate is cut by alpha/2: by half at first, by 7 % at the 0.145 where 8 flows share 40 Gbit/s. One
// source describes a reduction of "about 1/5", at an alpha of 0.4; alpha passes through that value.
func DCQCNPaper(line unit.Rate) DCQCNParams {
	return DCQCNParams{
		G: 1.0 / 256, AlphaInit: 1, AlphaTimer: 55 * unit.Microsecond, RateTimer: 55 * unit.Microsecond,
		ByteCounter: 10 * unit.MB, F: 5, AI: scale(40*unit.Mbps, 40*unit.Gbps, line),
		HAI:     scale(400*unit.Mbps, 40*unit.Gbps, line),
		MinRate: scale(40*unit.Mbps, 40*unit.Gbps, line), MaxCut: 0.5, ClampTarget: true,
		CNPInterval: 50 * unit.Microsecond,
	}
}

// DCQCNNIC returns what ConnectX NICs ship with (docs/references.md, dcqcn-nic). The steps of 5 and 50 Mbit/s and
// the minimum of 1 Mbit/s are scaled from 25 Gbit/s to the line rate, as in the HPCC artifact.
//
// The byte counter is off. A NIC ships with rpg_byte_reset at 32767, the largest value of its 15 bits, in a unit in
// which 802.1Qau's 150,000 bytes are 150. That is 32.8 MB; few senders send that much between two timers. HPCC's
// code has none.
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

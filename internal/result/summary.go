// Package result is the run directory: the files of a run that all views read. Nothing in it reaches back into the
// simulator.
//
//	run.json       manifest: scenario, every resolved value, version, wall time
//	summary.json   the figures of the report
//	topology.json  the fabric, and how switches treat data packets
//	*.parquet      flows, links over time, ports, pauses with their roots, ranks, queue
//	               pairs with their paths and rates, collectives with where their time went
//	trace.json     ranks and pauses as a Perfetto trace
package result

import (
	"fmt"

	"railyard/internal/cause"
	"railyard/unit"
)

// Control is the activity of one service's congestion control, summed over its queue pairs.
type Control struct {
	Service    string    `json:"service"`
	Algorithm  string    `json:"algorithm"`           // name as in a scenario
	Transport  string    `json:"transport,omitempty"` // likewise; set if it is not RC
	Title      string    `json:"title"`               // in sentences
	QueuePairs int64     `json:"queue_pairs"`
	Acted      int64     `json:"queue_pairs_cut"` // queue pairs whose rate was reduced at least once
	Held       int64     `json:"held_ps"`         // time for which packets were delayed while their port was free
	Counters   []Counter `json:"counters"`
	Signals    []Signal  `json:"signals"` // those in signals.parquet
}

// Signal describes one of an algorithm's signals.
type Signal struct {
	Name string `json:"name"`
	Unit string `json:"unit"` // bit/s, B or s; none for a share
	Doc  string `json:"doc"`
}

// Counter is one of an algorithm's own counters.
type Counter struct {
	Name  string `json:"name"`
	Doc   string `json:"doc"`
	Count int64  `json:"count"`
}

// Recorded returns the time that tables and counters cover: the step, and behind it asynchronous checkpoints.
func (s *Summary) Recorded() int64 {
	if s.Storage == nil {
		return s.StepTime
	}
	return s.StepTime + s.Storage.After
}

// Overhead returns the bytes that NICs sent beyond delivered payload, as a share of the payload.
func (s *Summary) Overhead() float64 {
	if s.NetworkBytes <= 0 || s.NICBytes <= 0 {
		return 0
	}
	return float64(s.NICBytes)/float64(s.NetworkBytes) - 1
}

// Cuts returns the number of rate reductions.
func (c *Control) Cuts() int64 { return c.Counted("cuts") }

// Counted returns a counter, 0 for an unknown one.
func (c *Control) Counted(name string) int64 {
	for _, k := range c.Counters {
		if k.Name == name {
			return k.Count
		}
	}
	return 0
}

// CoreTime is the time of the hosts' cores that transports took, in picoseconds.
func (s *Summary) CoreTime() (ps int64) {
	for i := range s.Control {
		ps += 1000 * s.Control[i].Counted("cpu_ns")
	}
	return ps
}

// Copies is how often hosts copied a byte of payload.
func (s *Summary) Copies() float64 {
	bytes := int64(0)
	for i := range s.Control {
		bytes += s.Control[i].Counted("copied_bytes")
	}
	return float64(bytes) / float64(max(1, s.NetworkBytes))
}

// Expected is the expected error of a fidelity, from similar cases that were also simulated with packets.
type Expected struct {
	Worst float64 `json:"worst"` // worst of all cases, as a share of the time by packets
	Mean  float64 `json:"mean"`  // mean of the absolute errors
	Cases int     `json:"cases"`
	Of    string  `json:"of"` // similarity of the cases to the scenario
	// packet-hops with packets, if auto has chosen flows because of them
	PacketHops int64 `json:"packet_hops_by_packets,omitempty"`
}

// Reused describes the savings of a run that reuses equal parts of the simulation.
type Reused struct {
	Episodes  int64 `json:"episodes"`  // groups of messages in flight that may interact
	Simulated int64 `json:"simulated"` // of these, episodes that were simulated completely or partly
	Kinds     int64 `json:"kinds"`     // kinds of episodes that differ by more than names
	// packet-hops that were simulated; all others were only counted
	PacketHops int64  `json:"simulated_packet_hops"`
	Audit      *Audit `json:"audit,omitempty"`
}

// Audit compares episodes that were reused with their own packets.
type Audit struct {
	Episodes int64   `json:"episodes"`
	Messages int64   `json:"messages"`
	Worst    float64 `json:"worst"` // relative error of a message's time
	Mean     float64 `json:"mean"`
}

// Summary is summary.json. Unless the name has a unit, times are picoseconds, rates bits per second, sizes bytes.
type Summary struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	Seed     uint64 `json:"seed"`
	Fidelity string `json:"fidelity"`
	// expected error of an approximate fidelity
	Expected *Expected `json:"expected_error,omitempty"`
	// simulated and repeated parts, for runs that simulate equal parts once
	Reused   *Reused `json:"reused,omitempty"`
	LB       string  `json:"lb"`
	Complete bool    `json:"complete"` // false: interrupted, or failed as the outcome describes
	// congestion control and the source of its parameters, in words
	Congestion string `json:"congestion_control"`
	Transport  string `json:"transport,omitempty"` // description, if it is not RC

	Step
	NVLinkLatency int64 `json:"nvlink_latency_ps,omitempty"` // part of Chain's latency that messages inside servers and NVLink domains take
	StoredLatency int64 `json:"stored_latency_ps,omitempty"` // part of it in which switches wait for whole packets
	// Simulated lists the causes, by key, whose saving (Chain) was simulated by a run without them. Other savings
	// are the model's estimates.
	Simulated []string `json:"saving_simulated,omitempty"`
	// Places are where causes of 0.5 % of the step cost most on the critical path.
	Places []CausePlace `json:"places,omitempty"`
	// Unaccounted describes why a run that ended has no account of lost time (Chain).
	Unaccounted string   `json:"unaccounted,omitempty"`
	Remedies    []Remedy `json:"remedies,omitempty"` // for the cause that saves most first
	// Busiest is the NIC that needs longest for its payload; no change of network settings ends the step earlier.
	Busiest *BusiestNIC `json:"busiest_nic,omitempty"`
	// Cut describes claims of causes from outside that exceeded the time they were to be part of.
	Cut  []string `json:"claims_cut,omitempty"`
	GPUs int      `json:"gpus"`
	Trained
	Packets        int64  `json:"packets"`
	PacketHops     int64  `json:"packet_hops"`
	DataPackets    int64  `json:"data_packets"`
	DataPacketHops int64  `json:"data_packet_hops"`
	NetworkBytes   int64  `json:"network_bytes"` // payload between hosts
	NVLinkBytes    int64  `json:"nvlink_bytes"`
	Events         uint64 `json:"events"`

	ECNMarks  int64 `json:"ecn_marks"`
	CNPs      int64 `json:"cnps"`
	PFCPauses int64 `json:"pfc_pauses"` // times a priority went from running to paused
	// of these, caused by a full shared buffer, below xOFF
	PFCFull int64 `json:"pfc_pauses_full_buffer,omitempty"`
	// refreshes included, resume frames (pause time 0) not
	PFCFrames int64 `json:"pfc_pause_frames"`
	PFCPause  int64 `json:"pfc_pause_ps"`     // summed over ports
	QueuePeak int64 `json:"queue_peak_bytes"` // longest queue of a switch port
	// time-averaged, of the switch port with the longest queue, from samples
	QueueMean int64 `json:"queue_mean_bytes"`
	// wire bytes of all NICs: payload, headers, gaps between frames, control packets, retransmissions
	NICBytes int64 `json:"nic_wire_bytes"`
	// Jain's index over queue pairs, of ideal time as a share of the time with data to send
	Fairness        float64 `json:"fairness_jain"`
	Drops           int64   `json:"drops"`
	FirstDrop       *Drop   `json:"first_drop,omitempty"` // first dropped data packet
	DropsCorrupt    int64   `json:"drops_bit_errors"`
	DropsDown       int64   `json:"drops_link_down"`
	Retransmissions int64   `json:"retransmissions"`
	OutOfOrder      int64   `json:"out_of_order"`
	Naks            int64   `json:"naks"`
	Timeouts        int64   `json:"timeouts"`
	EarlyTimeouts   int64   `json:"early_timeouts"` // early timeouts of selective recovery, before the ACK timeout
	FailedQPs       int64   `json:"failed_queue_pairs"`
	ReorderPeak     int     `json:"reorder_peak_packets"`
	FlowletMoves    int64   `json:"flowlet_moves"`
	PFCStorms       int64   `json:"pfc_storms"`
	DropsStorm      int64   `json:"drops_pfc_storm"`
	DropsWRED       int64   `json:"drops_wred"`
	DropsNoRoute    int64   `json:"drops_no_route"`

	Trims        int64 `json:"trims,omitempty"`         // packets that switches trimmed to their headers
	TrimmedBytes int64 `json:"trimmed_bytes,omitempty"` // payload that trimming removed
	DropsTrimmed int64 `json:"drops_trimmed,omitempty"` // of the drops: trimmed packets

	Reorder *ReorderMemory `json:"reorder_memory,omitempty"` // NICs that stored packets which overtook others

	Scheduled *Scheduled `json:"scheduled,omitempty"` // requests and grants of a scheduled fabric

	Control []Control `json:"cc"` // actions of congestion control, by service

	Jobs    []Job      `json:"jobs"`                     // jobs by start, then name
	Story   []Happened `json:"steps_in_order,omitempty"` // events of the run, with output.steps
	Storage *Storage   `json:"storage,omitempty"`        // servers that keep data
	Stalls  []Stall    `json:"stalls,omitempty"`         // waits for storage, by step
	// ports where several jobs had traffic at once, those with the most traffic of the second job first
	Meetings    []Meeting     `json:"meetings,omitempty"`
	Collectives []Collective  `json:"collectives"`
	Flows       FlowTimes     `json:"flow_completion_ps"`
	Links       LinkUse       `json:"links"`
	Slowest     *Slowest      `json:"slowest_flow,omitempty"`
	LinkEvents  []LinkEvent   `json:"link_events,omitempty"`   // configured events up to the end
	Missed      *Missed       `json:"missed_events,omitempty"` // configured events after the end
	Deadlock    *Chains       `json:"closed_chains,omitempty"` // pauses that were blocked on one another
	PauseRoots  *PauseRanking `json:"pause_roots,omitempty"`   // ports that caused the pauses
	Moves       []Move        `json:"route_changes,omitempty"` // connections that changed their path
	Outcome     *Outcome      `json:"outcome,omitempty"`       // outcome of a job that did not finish
	TablesCut   []TableCut    `json:"tables_cut,omitempty"`    // tables that lack rows

	// Digest is the hash of the run's tables, as in run.json.
	Digest string `json:"contents_sha256,omitempty"`

	WallSeconds float64 `json:"wall_seconds"`
	SimSeconds  float64 `json:"sim_seconds"`
	PeakMemory  int64   `json:"peak_memory_bytes"`
}

// Job is one of the jobs that ran side by side. Its step begins at its start.
type Job struct {
	Name     string `json:"name"`
	Complete bool   `json:"complete"`
	Start    int64  `json:"start_ps"`
	End      int64  `json:"end_ps"` // or the progress of the run; the end of its last operation, if the others hang
	Step
	GPUs int `json:"gpus"`
	Trained
	NetworkBytes int64     `json:"network_bytes"` // payload between hosts, delivered
	Flows        FlowTimes `json:"flow_completion_ps"`
}

// Step is the time of the work, divided by activity as seen from the rank that ended last.
type Step struct {
	StepTime     int64 `json:"step_time_ps"`
	Compute      int64 `json:"compute_ps"`
	ExposedComm  int64 `json:"exposed_comm_ps"`
	ExposedTP    int64 `json:"exposed_tp_ps"`
	ExposedPP    int64 `json:"exposed_pp_ps"`
	ExposedDP    int64 `json:"exposed_dp_ps"`
	ExposedCP    int64 `json:"exposed_cp_ps"`
	ExposedEP    int64 `json:"exposed_ep_ps"`
	ExposedOther int64 `json:"exposed_other_ps"`
	ExposedLoad  int64 `json:"exposed_data_loading_ps,omitempty"` // data that storage had not brought
	ExposedSave  int64 `json:"exposed_checkpoint_ps,omitempty"`   // checkpoints that were not written
	ExposedHost  int64 `json:"exposed_host_ps,omitempty"`         // GPUs lacked work: kernels were launched, data read
	Bubble       int64 `json:"bubble_ps"`                         // idle time, of a training with pipeline stages
	Uneven       int64 `json:"bubble_uneven_ps,omitempty"`        // part of it blocked on a stage that computes longer
	// time until other ranks finish computing, or until its own start
	Waiting int64 `json:"waiting_ranks_ps,omitempty"`

	WaitedFor []Waited `json:"waited_for,omitempty"` // parts of waiting_ranks_ps, the longest first

	// Slow is the cost of all slow ranks together. The other parts are the parts of the step without it, in which
	// each slow rank computes for the median time of its siblings, or that of the fastest GPU kind.
	Slow      int64      `json:"slow_ranks_ps,omitempty"`
	SlowRanks []SlowRank `json:"slow_ranks,omitempty"` // all, the one that exceeds its siblings most first

	// Chain is the step once more, along the operations that its end waited for.
	Chain *cause.Account `json:"chain,omitempty"`
}

// Bubble is the key of the pipeline's bubble among the causes of remedies: of a schedule, and no cause of the network.
const Bubble = "bubble"

// OtherSetting is the key, among the causes of remedies, of changes whose own cause saves nothing.
const OtherSetting = "other_setting"

// Chance is the random difference between two simulations as a share of the step, below which a saving has no
// meaning. Any change shifts the times at which packets share a queue.
const Chance = 0.02

// LeastIdle is the share of the step from which on idle time is worth a word.
const LeastIdle = 0.05

// Trained holds the figures of a training step.
type Trained struct {
	Params int64 `json:"parameters,omitempty"`
	Tokens int64 `json:"tokens,omitempty"`
	// GPUs that the step represents, also of a folded training
	TrainingGPUs int `json:"training_gpus,omitempty"`
	IdleGPUs     int `json:"idle_gpus,omitempty"` // GPUs without work; per-GPU figures and MFU count them
	// number of steps, if several: tokens and FLOPs are totals
	Steps int     `json:"steps,omitempty"`
	FLOPs float64 `json:"step_flops,omitempty"`
	MFU   float64 `json:"mfu,omitempty"`
}

// Drop is a packet that was lost.
type Drop struct {
	Packet string `json:"packet"` // packet in the form of run --follow
	Port   string `json:"port"`
	At     int64  `json:"at_ps"`
}

// Happened is a numbered step of a run: the first event of its kind.
type Happened struct {
	At    int64  `json:"at_ps"`
	What  string `json:"what"`
	Times int64  `json:"times"` // in all
	Last  int64  `json:"last_ps"`
}

// Storage is the activity of storage servers.
type Storage struct {
	Servers int     `json:"servers"`
	Network string  `json:"network"` // shared, separate
	Read    int64   `json:"read_bytes"`
	Written int64   `json:"written_bytes"`
	Busiest string  `json:"busiest"` // the server whose media were busy longest
	Busy    float64 `json:"media_busy"`

	// Of asynchronous checkpoints: the longest time from a rank's first byte to its last answer, the time of the steps
	// from one checkpoint to the next, and how long after the last step the last one is written. Of several jobs, the
	// one whose writes take longest.
	Write int64 `json:"checkpoint_write_ps,omitempty"`
	Every int64 `json:"checkpoint_interval_ps,omitempty"`
	After int64 `json:"checkpoint_after_ps,omitempty"`
}

// Stall is a step's wait for storage servers, of the rank that waited longest.
type Stall struct {
	Job     string `json:"job,omitempty"`
	Step    int    `json:"step"` // step that could not begin or, for a checkpoint, continue
	Kind    string `json:"kind"` // data, checkpoint
	Ranks   int    `json:"gpus"` // that waited
	Rank    string `json:"gpu"`
	Waited  int64  `json:"waited_ps"`
	From    string `json:"from"` // server whose part was last
	Bytes   int64  `json:"bytes"`
	Asked   int64  `json:"asked_ps"`
	Came    int64  `json:"came_ps"`
	Media   int64  `json:"media_ps"`   // time on the path of the last part: in the servers
	Network int64  `json:"network_ps"` // time in the network
}

// Collective sums up the instances of one collective.
type Collective struct {
	Job       string  `json:"job,omitempty"` // for several jobs
	Name      string  `json:"name"`
	Kind      string  `json:"kind"`
	Algorithm string  `json:"algorithm,omitempty"` // ring, tree, direct
	Count     int     `json:"count"`
	Bytes     int64   `json:"bytes"` // per instance, mean
	Ranks     int     `json:"ranks"`
	Time      int64   `json:"time_ps"` // mean; first transfer started to last delivered
	TimeMin   int64   `json:"time_min_ps"`
	TimeMax   int64   `json:"time_max_ps"`
	AlgBW     float64 `json:"algbw_bytes_per_second"` // algorithm bandwidth: all bytes over all time
	BusBW     float64 `json:"busbw_bytes_per_second"`
	BusBest   float64 `json:"busbw_best_bytes_per_second"`
	// limit of bus bandwidth if its fullest NIC or NVLink pipe were always busy
	Bound    float64 `json:"bound_bytes_per_second"`
	BoundWhy string  `json:"bound_by"`
	// messages of several sizes, or several of a rank: bytes are of the largest, busbw and bound of the fullest NIC or
	// NVLink pipe
	Uneven bool `json:"uneven,omitempty"`
	// mean time from one end to the next in the second half of three or more runs of a repeated collective. Ranks
	// begin a run while others end the previous one, so it is less than Time.
	Steady int64 `json:"steady_ps,omitempty"`
}

// Iteration returns the time of a workload, or what each run of a repeated collective adds after the first ones.
func (s *Summary) Iteration() unit.Time {
	if len(s.Collectives) == 1 && s.Collectives[0].Steady > 0 {
		return unit.Time(s.Collectives[0].Steady)
	}
	return unit.Time(s.StepTime)
}

// LinkEvent is a change of a link at a time.
type LinkEvent struct {
	At     int64  `json:"at_ps"`
	Link   string `json:"link"`
	Change string `json:"change"`
	Cables int    `json:"cables,omitempty"` // cables of a switch, a card, a NIC or a server
	// time at which both ends had detected the failure, before routes converged
	Ends   int64 `json:"ends_ps,omitempty"`
	Routes int64 `json:"routes_ps,omitempty"` // time at which all routes had converged
}

// TableCut is a table that contains its first rows only, so counts and sums over it are too low.
type TableCut struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
	Total int64  `json:"total_rows,omitempty"` // rows without a limit; 0: not counted
}

// String describes the table's unit and content.
func (c TableCut) String() string {
	holds := unit.Plural(c.Rows, "row")
	if c.Total > 0 {
		holds = fmt.Sprintf("%s of %s", unit.ShowCount(c.Rows), unit.Plural(c.Total, "row"))
	}
	return fmt.Sprintf("table %s holds the first %s: counts and sums over it are too low", c.Table, holds)
}

// Missed are configured events after the end of a run, which did not happen.
type Missed struct {
	Events int       `json:"events"`
	First  LinkEvent `json:"first"`
}

// NearestRank is the index of a percentile of a number of sorted values.
func NearestRank(values, percent int) int { return (values*percent+99)/100 - 1 }

// FlowTimes are completion times of messages between hosts.
type FlowTimes struct {
	Count int64 `json:"count"`
	Mean  int64 `json:"mean"`
	P50   int64 `json:"p50"`
	P99   int64 `json:"p99"`
	Max   int64 `json:"max"`
	// slowdown of a run in which all messages begin at random times
	Slowdown *Slowdowns `json:"slowdown,omitempty"`
}

// Slowdowns are ratios of the times of messages to their times on an idle fabric.
type Slowdowns struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

// LinkUse sums up the directions of all links.
type LinkUse struct {
	Max     float64    `json:"max_utilisation"`
	Mean    float64    `json:"mean_utilisation"`
	Idle    int        `json:"idle"`
	Count   int        `json:"count"`
	Hottest []LinkLoad `json:"hottest"`
	// Of the switch uplinks alone: what load balancing can even out.
	UplinkMax  float64 `json:"uplink_max_utilisation"`
	UplinkMin  float64 `json:"uplink_min_utilisation"`
	UplinkMean float64 `json:"uplink_mean_utilisation"`
	UplinkIdle int     `json:"uplink_idle"`
	Uplinks    int     `json:"uplinks"`
}

// LinkLoad is one direction of a link over the run.
type LinkLoad struct {
	Name        string  `json:"name"`
	ToHost      bool    `json:"to_host"` // a receiver's own cable
	Utilisation float64 `json:"utilisation"`
	Marks       int64   `json:"ecn_marks"`
	QueuePeak   int64   `json:"queue_peak_bytes"`
	Paused      int64   `json:"paused_ps"`
}

// CausePlace is the port where a cause cost most, and the time of its maximum there.
type CausePlace struct {
	Cause string `json:"cause"`
	Port  int32  `json:"port"`
	Name  string `json:"name"`
	At    int64  `json:"at_ps"`
}

// Slowest is the flow with the largest time beyond its ideal, and the reasons.
type Slowest struct {
	From       string   `json:"from"`
	To         string   `json:"to"`
	Bytes      int64    `json:"bytes"`
	Time       int64    `json:"time_ps"`
	Ideal      int64    `json:"ideal_ps"`
	Queue      string   `json:"queue,omitempty"` // port whose queue cost most
	QueueWait  int64    `json:"queue_wait_ps"`   // mean per packet there
	QueuePeak  int64    `json:"queue_peak_bytes"`
	SharedWith []string `json:"shared_with,omitempty"`
	SharedN    int      `json:"shared_with_count"`
	PausedBy   []string `json:"paused_by,omitempty"` // chain of ports, root last
	Paused     int64    `json:"paused_ps"`
	CNPs       int64    `json:"ce_marked_packets"`
	Retrans    int64    `json:"retransmissions"`
	Why        string   `json:"why"`
	// Reason is the leading cause of the time above its ideal, with its evidence; "" for none, or without Causes.
	Reason string `json:"reason,omitempty"`
	// Behind is its wait for Earlier messages of its queue pair that were not sent when it was posted.
	Behind  int64 `json:"behind_ps,omitempty"`
	Earlier int   `json:"earlier,omitempty"`
	// parts of its remaining time, by the events of its own packets; runs of earlier versions have none
	Causes *cause.Account `json:"causes,omitempty"`
}

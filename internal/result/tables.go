package result

// FlowRow is one message between hosts: flows.parquet.
type FlowRow struct {
	Message int64  `parquet:"message" json:"message"`
	From    string `parquet:"from,dict" json:"from"`
	To      string `parquet:"to,dict" json:"to"`
	QP      int32  `parquet:"qp" json:"qp"`
	Bytes   int64  `parquet:"bytes" json:"bytes"`
	Posted  int64  `parquet:"posted_ps" json:"posted_ps"`
	Done    int64  `parquet:"done_ps" json:"done_ps"` // -1: did not finish
	Ideal   int64  `parquet:"ideal_ps" json:"ideal_ps"`
	Class   string `parquet:"class,dict" json:"class"`
	Job     string `parquet:"job,dict" json:"job"` // where there are several
}

// LinkRow is one direction of a link in one sampling interval: links.parquet.
// Intervals in which nothing moved and nothing waited have no row.
type LinkRow struct {
	Start  int64 `parquet:"start_ps,delta" json:"start_ps"`
	Length int64 `parquet:"length_ps,dict" json:"length_ps"`
	Port   int32 `parquet:"port" json:"port"` // row of ports.parquet
	Bytes  int64 `parquet:"wire_bytes" json:"wire_bytes"`
	Queued int64 `parquet:"queued_bytes" json:"queued_bytes"` // at the end of the interval
	Paused int64 `parquet:"paused_ps" json:"paused_ps"`
	Marks  int64 `parquet:"ecn_marks" json:"ecn_marks"`
}

// PortRow is one port's totals, transmit side: ports.parquet.
type PortRow struct {
	Port            int32  `parquet:"port" json:"port"`
	Name            string `parquet:"name" json:"name"`
	Node            string `parquet:"node,dict" json:"node"`
	Peer            string `parquet:"peer,dict" json:"peer"`
	Role            string `parquet:"role,dict" json:"role"`
	Rate            int64  `parquet:"rate_bps" json:"rate_bps"`
	WireBytes       int64  `parquet:"wire_bytes" json:"wire_bytes"`
	Frames          int64  `parquet:"frames" json:"frames"`
	Marks           int64  `parquet:"ecn_marks" json:"ecn_marks"`
	Drops           int64  `parquet:"drops" json:"drops"`
	Trims           int64  `parquet:"trims" json:"trims"` // packets cut to their headers
	PauseFramesSent int64  `parquet:"pause_frames_sent" json:"pause_frames_sent"`
	PauseFramesGot  int64  `parquet:"pause_frames_received" json:"pause_frames_received"`
	Paused          int64  `parquet:"paused_ps" json:"paused_ps"`
	QueuePeak       int64  `parquet:"queue_peak_bytes" json:"queue_peak_bytes"`
	IngressPeak     int64  `parquet:"ingress_peak_bytes" json:"ingress_peak_bytes"`
	HeadroomPeak    int64  `parquet:"headroom_peak_bytes" json:"headroom_peak_bytes"`
}

// PauseRow is one PFC event: pauses.parquet.
type PauseRow struct {
	At int64 `parquet:"at_ps,delta" json:"at_ps"`
	// xoff and xon at the congested ingress, pause and resume at the sender
	What     string `parquet:"what,dict" json:"what"`
	Port     int32  `parquet:"port" json:"port"`
	Priority int32  `parquet:"priority" json:"priority"`
	// egress port whose congestion it is; -1: not known
	Cause int32 `parquet:"cause_port" json:"cause_port"`
}

// PathRow is one port at which a queue pair's packets queued: paths.parquet. It is
// made from every sixteenth packet, so a port where few did may be missing; packets that
// pass through an idle port do not queue.
type PathRow struct {
	QP        int32 `parquet:"qp" json:"qp"`
	Port      int32 `parquet:"port" json:"port"`
	Packets   int64 `parquet:"packets" json:"packets"` // that queued, estimated
	Wait      int64 `parquet:"wait_ps" json:"wait_ps"` // in that queue, of all packets together, estimated
	QueuePeak int64 `parquet:"queue_peak_bytes" json:"queue_peak_bytes"`
}

// QPRow is one queue pair's sender: qps.parquet.
type QPRow struct {
	QP       int32  `parquet:"qp" json:"qp"`
	Service  string `parquet:"service,dict" json:"service"`
	From     string `parquet:"from,dict" json:"from"` // NICs
	To       string `parquet:"to,dict" json:"to"`
	Line     int64  `parquet:"line_bps" json:"line_bps"`
	Marked   int64  `parquet:"ce_marked_packets" json:"ce_marked_packets"`
	Cuts     int64  `parquet:"rate_cuts" json:"rate_cuts"`
	Retrans  int64  `parquet:"retransmitted_packets" json:"retransmitted_packets"`
	Messages int64  `parquet:"messages" json:"messages"`
}

// SignalRow is a value that a queue pair's congestion control reports, when it had changed: signals.parquet.
// The summary's cc says which there are, of which unit; cuts are counted up to then.
type SignalRow struct {
	At     int64   `parquet:"at_ps,delta" json:"at_ps"`
	QP     int32   `parquet:"qp" json:"qp"`
	Signal string  `parquet:"signal,dict" json:"signal"`
	Value  float64 `parquet:"value" json:"value"`
}

// CollectiveRow is one instance of a collective and where its time went:
// collectives.parquet. Ideal is the time of its longest chain of transfers at line
// rate; the other parts add up to what it took beyond that.
type CollectiveRow struct {
	Instance  int32  `parquet:"instance" json:"instance"`
	Name      string `parquet:"name,dict" json:"name"`
	Kind      string `parquet:"kind,dict" json:"kind"`
	Class     string `parquet:"class,dict" json:"class"`
	Ranks     int32  `parquet:"ranks" json:"ranks"`
	FirstRank int32  `parquet:"first_rank" json:"first_rank"`
	Bytes     int64  `parquet:"bytes" json:"bytes"`
	Start     int64  `parquet:"start_ps" json:"start_ps"`
	End       int64  `parquet:"end_ps" json:"end_ps"`
	Ideal     int64  `parquet:"ideal_ps" json:"ideal_ps"`
	// propagation, switches, NICs, NVLink
	Latency int64 `parquet:"latency_ps" json:"latency_ps"`
	// flows hashed onto one link
	Collision int64 `parquet:"collision_ps" json:"collision_ps"`
	// less capacity between switches than flows ask for
	Oversub int64 `parquet:"oversubscription_ps" json:"oversubscription_ps"`
	// links with less than their best rate, or avoided, after events
	SlowLink int64 `parquet:"slow_link_ps" json:"slow_link_ps"`
	// senders to one receiver
	Incast int64 `parquet:"incast_ps" json:"incast_ps"`
	// congestion control, while the path was free: its pace, its window, credit that it waited for
	Held    int64 `parquet:"rate_not_given_back_ps" json:"rate_not_given_back_ps"`
	Window  int64 `parquet:"window_too_small_ps" json:"window_too_small_ps"`
	Credit  int64 `parquet:"waiting_for_credit_ps" json:"waiting_for_credit_ps"`
	Pause   int64 `parquet:"pause_ps" json:"pause_ps"` // PFC
	Retrans int64 `parquet:"retransmission_ps" json:"retransmission_ps"`
	// packets that switches had cut to their headers and that were sent again
	Trimmed int64 `parquet:"trimmed_ps" json:"trimmed_ps"`
	// the sender's other queue pairs, or NVLink's other transfers
	SharedNIC int64 `parquet:"shared_nic_ps" json:"shared_nic_ps"`
	PCIe      int64 `parquet:"pcie_ps" json:"pcie_ps"` // slower than the wire, at either end
	Late      int64 `parquet:"late_ps" json:"late_ps"` // ranks that came later than the first
	// where the largest part arose; -1: nowhere in the network
	Port int32  `parquet:"port" json:"port"`
	At   int64  `parquet:"at_ps" json:"at_ps"` // when the transfer that lost most began
	Why  string `parquet:"why" json:"why"`
	Job  string `parquet:"job,dict" json:"job"` // where there are several
}

// RankRow is one operation of a rank: ranks.parquet.
type RankRow struct {
	Rank  int32  `parquet:"rank" json:"rank"` // a job's that is placed somewhere: its GPU
	Start int64  `parquet:"start_ps" json:"start_ps"`
	End   int64  `parquet:"end_ps" json:"end_ps"`
	Class string `parquet:"class,dict" json:"class"`
	Name  string `parquet:"name,dict" json:"name"`
	Job   string `parquet:"job,dict" json:"job"` // where there are several
}

// CriticalRow is a piece of the chain of operations that the end of the step waited
// for: critical.parquet.
type CriticalRow struct {
	Start int64  `parquet:"start_ps" json:"start_ps"`
	End   int64  `parquet:"end_ps" json:"end_ps"`
	Rank  int32  `parquet:"rank" json:"rank"`
	Peer  int32  `parquet:"peer" json:"peer"` // of a transfer; -1: a computation
	Class string `parquet:"class,dict" json:"class"`
}

// Tables are all tables of a run.
type Tables struct {
	Flows  []FlowRow
	Links  []LinkRow
	Ports  []PortRow
	Pauses []PauseRow
	Ranks  []RankRow

	Paths       []PathRow
	QPs         []QPRow
	Signals     []SignalRow
	Collectives []CollectiveRow
	Critical    []CriticalRow
	Topology    *Topology
}

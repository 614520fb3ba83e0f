package result

import "railyard/internal/cause"

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
	Job     string `parquet:"job,dict" json:"job"` // for several jobs
}

// LinkRow is one direction of a link in one sampling interval: links.parquet.
// Intervals in which nothing moved and nothing waited have no row.
type LinkRow struct {
	Start  int64 `parquet:"start_ps,delta" json:"start_ps"`
	Length int64 `parquet:"length_ps,dict" json:"length_ps"`
	Port   int32 `parquet:"port" json:"port"` // row of ports.parquet
	Bytes  int64 `parquet:"wire_bytes" json:"wire_bytes"`
	Queued int64 `parquet:"queued_bytes" json:"queued_bytes"` // queued bytes at the end of the interval
	Paused int64 `parquet:"paused_ps" json:"paused_ps"`
	Marks  int64 `parquet:"ecn_marks" json:"ecn_marks"`
	// maximum of any queue of the port in the interval; switches only
	Peak int64 `parquet:"queue_peak_bytes" json:"queue_peak_bytes"`
	// packets that the port discarded and those lost on its link; runs of earlier versions have none
	Drops int64 `parquet:"drops" json:"drops"`
}

// Longest returns the longest known queue of the interval. Runs of earlier versions recorded only the one at its
// end.
func (r *LinkRow) Longest() int64 { return max(r.Peak, r.Queued) }

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
	Trims           int64  `parquet:"trims" json:"trims"` // packets trimmed to their headers
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
	// port that causes a pause: the egress port with most of its bytes; -1: a server paused it, or it is unknown
	Cause int32 `parquet:"cause_port" json:"cause_port"`
}

// PathRow is one port at which a queue pair's packets queued: paths.parquet. It is computed from every sixteenth
// packet, so a port with few packets may be missing. Packets that pass through an idle port are not queued. A run of
// flows has instead the switch ports of each queue pair's path, without waits, unless packets are sprayed.
type PathRow struct {
	QP        int32 `parquet:"qp" json:"qp"`
	Port      int32 `parquet:"port" json:"port"`
	Packets   int64 `parquet:"packets" json:"packets"` // estimated number of queued packets
	Wait      int64 `parquet:"wait_ps" json:"wait_ps"` // estimated waiting time of all packets in that queue
	QueuePeak int64 `parquet:"queue_peak_bytes" json:"queue_peak_bytes"`
}

// QPRow is one queue pair's sender: qps.parquet.
type QPRow struct {
	QP       int32  `parquet:"qp" json:"qp"`
	Service  string `parquet:"service,dict" json:"service"`
	Job      string `parquet:"job,dict" json:"job"`   // the first job that it carried, for several jobs
	From     string `parquet:"from,dict" json:"from"` // NICs
	To       string `parquet:"to,dict" json:"to"`
	Line     int64  `parquet:"line_bps" json:"line_bps"`
	Marked   int64  `parquet:"ce_marked_packets" json:"ce_marked_packets"`
	Cuts     int64  `parquet:"rate_cuts" json:"rate_cuts"`
	Retrans  int64  `parquet:"retransmitted_packets" json:"retransmitted_packets"`
	Messages int64  `parquet:"messages" json:"messages"`
}

// SignalRow is a value that a queue pair's congestion control reports, when it had changed: signals.parquet. The
// summary's cc lists the signals with their units; reductions are counted up to that time.
type SignalRow struct {
	At     int64   `parquet:"at_ps,delta" json:"at_ps"`
	QP     int32   `parquet:"qp" json:"qp"`
	Signal string  `parquet:"signal,dict" json:"signal"`
	Value  float64 `parquet:"value" json:"value"`
}

// NICsTable is the name of the table of NICRows, in runs whose NICs stored packets that overtook others.
const NICsTable = "nics"

// NICRow is the reorder memory of one NIC in one interval with content or drops: nics.parquet.
type NICRow struct {
	Start   int64 `parquet:"start_ps,delta" json:"start_ps"`
	Length  int64 `parquet:"length_ps" json:"length_ps"`
	NIC     int32 `parquet:"nic" json:"nic"`               // of topology.json
	Bytes   int64 `parquet:"used_bytes" json:"used_bytes"` // payload at the end of the interval
	Peak    int64 `parquet:"peak_bytes" json:"peak_bytes"` // maximum content
	Packets int32 `parquet:"peak_packets" json:"peak_packets"`
	Refused int64 `parquet:"dropped_packets" json:"dropped_packets"` // packets dropped for lack of room
}

// CollectiveRow is one instance of a collective with the division of its time: collectives.parquet. Ideal is the time
// of its longest chain of transfers at line rate; the other parts add up to the excess.
type CollectiveRow struct {
	Instance  int32         `parquet:"instance" json:"instance"`
	Name      string        `parquet:"name,dict" json:"name"`
	Kind      string        `parquet:"kind,dict" json:"kind"`
	Class     string        `parquet:"class,dict" json:"class"`
	Ranks     int32         `parquet:"ranks" json:"ranks"`
	FirstRank int32         `parquet:"first_rank" json:"first_rank"`
	Bytes     int64         `parquet:"bytes" json:"bytes"`
	Start     int64         `parquet:"start_ps" json:"start_ps"`
	End       int64         `parquet:"end_ps" json:"end_ps"`
	Lost      cause.Account `parquet:"-" json:"causes"`             // parts of its time; causes.parquet
	Leading   string        `parquet:"leading,dict" json:"leading"` // leading cause, key as in causes.parquet; "": none
	// port where that cost most; -1: none in the network
	Port int32 `parquet:"port" json:"port"`
	// time of its maximum, from the beginning of the transfer that lost most
	At  int64  `parquet:"at_ps" json:"at_ps"`
	Why string `parquet:"why" json:"why"`
	Job string `parquet:"job,dict" json:"job"` // for several jobs
}

// Scopes of causes besides collectives.
const (
	OfCriticalPath = "critical_path"
	OfMessage      = "message"
)

// Saves takes over the savings of runs without the causes of the critical path.
func (t *Tables) Saves(chain *cause.Account) {
	for i := range t.Causes {
		if row := &t.Causes[i]; row.Scope == OfCriticalPath {
			if c, ok := cause.Find(row.Cause); ok {
				row.Saving = chain.Saving[c.ID]
			}
		}
	}
}

// CauseRow is the time that a collective, a message, or the critical path of the run, lost to one cause:
// causes.parquet. The rows of one collective add up to its time, those of a message to its time after earlier ones of
// its queue pair. Messages are up to 200, those that lost most.
type CauseRow struct {
	Scope string `parquet:"scope,dict" json:"scope"` // collective, message, critical_path
	// index in collectives.parquet, or number of the message in flows.parquet; -1 for the critical path
	Instance int32  `parquet:"instance" json:"instance"`
	Cause    string `parquet:"cause,dict" json:"cause"`        // key as in summary.json, without _ps
	Time     int64  `parquet:"time_ps" json:"time_ps"`         // its own
	Reaction int64  `parquet:"reaction_ps" json:"reaction_ps"` // reaction of congestion control to it
	// saving of a run without it alone, expected or simulated
	Saving int64 `parquet:"saving_ps" json:"saving_ps"`
}

// RankRow is one operation of a rank: ranks.parquet.
type RankRow struct {
	Rank  int32  `parquet:"rank" json:"rank"` // rank of a placed job: its GPU
	Start int64  `parquet:"start_ps" json:"start_ps"`
	End   int64  `parquet:"end_ps" json:"end_ps"`
	Class string `parquet:"class,dict" json:"class"`
	Name  string `parquet:"name,dict" json:"name"`
	Job   string `parquet:"job,dict" json:"job"` // for several jobs
}

// Tables are all tables of a run.
type Tables struct {
	Flows  []FlowRow
	Links  []LinkRow
	Ports  []PortRow
	Pauses []PauseRow
	Ranks  []RankRow

	PauseRoots []PauseRootRow
	PauseHeld  []PauseHeldRow

	Paths       []PathRow
	QPs         []QPRow
	Signals     []SignalRow
	NICs        []NICRow
	Collectives []CollectiveRow
	Causes      []CauseRow
	Critical    []CriticalRow
	Topology    *Topology
}

package result

// FlowRow is one message between hosts: flows.parquet.
type FlowRow struct {
	Message int64  `parquet:"message"`
	From    string `parquet:"from,dict"`
	To      string `parquet:"to,dict"`
	QP      int32  `parquet:"qp"`
	Bytes   int64  `parquet:"bytes"`
	Posted  int64  `parquet:"posted_ps"`
	Done    int64  `parquet:"done_ps"` // -1: did not finish
	Ideal   int64  `parquet:"ideal_ps"`
	Class   string `parquet:"class,dict"`
}

// LinkRow is one direction of a link in one sampling interval: links.parquet.
// Intervals in which nothing moved and nothing waited have no row.
type LinkRow struct {
	Start  int64 `parquet:"start_ps,delta"`
	Length int64 `parquet:"length_ps,dict"`
	Port   int32 `parquet:"port"` // row of ports.parquet
	Bytes  int64 `parquet:"wire_bytes"`
	Queued int64 `parquet:"queued_bytes"` // at the end of the interval
	Paused int64 `parquet:"paused_ps"`
}

// PortRow is one port's totals, transmit side: ports.parquet.
type PortRow struct {
	Port            int32  `parquet:"port"`
	Name            string `parquet:"name"`
	Node            string `parquet:"node,dict"`
	Peer            string `parquet:"peer,dict"`
	Role            string `parquet:"role,dict"`
	Rate            int64  `parquet:"rate_bps"`
	WireBytes       int64  `parquet:"wire_bytes"`
	Frames          int64  `parquet:"frames"`
	Marks           int64  `parquet:"ecn_marks"`
	Drops           int64  `parquet:"drops"`
	PauseFramesSent int64  `parquet:"pause_frames_sent"`
	PauseFramesGot  int64  `parquet:"pause_frames_received"`
	Paused          int64  `parquet:"paused_ps"`
	QueuePeak       int64  `parquet:"queue_peak_bytes"`
	IngressPeak     int64  `parquet:"ingress_peak_bytes"`
	HeadroomPeak    int64  `parquet:"headroom_peak_bytes"`
}

// PauseRow is one PFC event: pauses.parquet.
type PauseRow struct {
	At       int64  `parquet:"at_ps,delta"`
	What     string `parquet:"what,dict"` // xoff and xon at the congested ingress, pause and resume at the sender
	Port     int32  `parquet:"port"`
	Priority int32  `parquet:"priority"`
}

// RankRow is one operation of a rank: ranks.parquet.
type RankRow struct {
	Rank  int32  `parquet:"rank"`
	Start int64  `parquet:"start_ps"`
	End   int64  `parquet:"end_ps"`
	Class string `parquet:"class,dict"`
	Name  string `parquet:"name,dict"`
}

// Tables are all tables of a run.
type Tables struct {
	Flows  []FlowRow
	Links  []LinkRow
	Ports  []PortRow
	Pauses []PauseRow
	Ranks  []RankRow
}

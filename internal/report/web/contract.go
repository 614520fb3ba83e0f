package web

import "railyard/internal/result"

// The data of the page are declared only here and in result. TestContract writes web/src/contract.ts from these
// types, and fails when it is out of date.

// Info is the common data of every view of a run.
type Info struct {
	Name     string           `json:"name"`
	Manifest result.Manifest  `json:"manifest"`
	Summary  result.Summary   `json:"summary"`
	Topology result.Topology  `json:"topology"`
	Ports    []result.PortRow `json:"ports"`
	Cols     int              `json:"cols"`    // columns of time in a grid and in pauses
	Leading  string           `json:"leading"` // name of the leading cause; "": none costs 0.5 % of the step
	Span     int64            `json:"span_ps"` // what tables cover: the step, or until background writes end
}

// Grid is one value per port and column of time, to three digits: ln(1 + value / unit) as a share of 65,535 at Scale,
// where unit is 1 or, of shares, 1e-4. First the high bytes of all values, then the low ones, which compress worse.
type Grid struct {
	Metric string  `json:"metric"`
	From   int64   `json:"from_ps"`
	To     int64   `json:"to_ps"`
	Cols   int     `json:"cols"`
	Ports  int     `json:"ports"`
	Scale  float64 `json:"scale"`
	Unit   string  `json:"unit"`
	Rows   []int   `json:"rows"` // ports with a value above 0
	Data   string  `json:"data"` // base64, row by row
}

// PortView is one port over time, and the queue pairs that used it.
type PortView struct {
	Port   result.PortRow `json:"port"`
	Series [][6]float64   `json:"series"` // start, length, share of line rate, queue, marks, share paused
	Flows  []Through      `json:"flows"`  // flows with the longest queueing time
	Count  int            `json:"flow_count"`
}

// Through is a queue pair whose packets queued at a port.
type Through struct {
	QP      int32  `json:"qp"`
	From    string `json:"from"`
	To      string `json:"to"`
	Wait    int64  `json:"wait_ps"`
	Packets int64  `json:"packets"`
}

// QPView is one queue pair: its path, the rate at which it sent, and the signals of its congestion control over time.
type QPView struct {
	QP      result.QPRow     `json:"qp"`
	Path    []result.PathRow `json:"path"`
	Sent    Series           `json:"sent"`    // bit/s on the wire; the last value is 0, after its last byte
	Signals []Series         `json:"signals"` // until then
}

// Series is one signal over time; the summary's cc describes it.
type Series struct {
	Signal string    `json:"signal"`
	At     []int64   `json:"at_ps"`
	Values []float64 `json:"values"`
}

// Flows are the messages that lost most.
type Flows struct {
	Flows []result.FlowRow `json:"flows"`
	Count int              `json:"count"`
}

// Collectives are the instances that lost most, and sums by name.
type Collectives struct {
	Worst []result.CollectiveRow `json:"worst"`
	Sums  []CollectiveSum        `json:"sums"`
	// Causes are those that any of them lost time to, in the order of bars and legends.
	Causes []CauseInfo `json:"causes_present"`
	Count  int         `json:"count"`
}

// StepLoss is a step's loss to a cause: its own time, congestion control's reaction, the expected saving of a run
// without it, and remedies.
type StepLoss struct {
	CauseInfo
	Own      int64          `json:"own_ps"`
	Reaction int64          `json:"reaction_ps"`
	Saving   int64          `json:"saving_ps"`
	Remedy   *result.Remedy `json:"remedy,omitempty"`
}

// CauseInfo names a cause: its key in accounts, with _ps, and its colour.
type CauseInfo struct {
	Key   string `json:"key"`
	Name  string `json:"name"`
	Color string `json:"color"`
	About string `json:"about"`
}

// CollectiveSum is the sum of all instances of one name. Its times are sums; its end is the end of all in sequence.
type CollectiveSum struct {
	result.CollectiveRow
	Count int `json:"count"`
}

// Critical is the chain of operations that the end waited for, in a window. Its pieces add up to the window.
type Critical struct {
	From       int64                `json:"from_ps"`
	To         int64                `json:"to_ps"`
	Path       []result.CriticalRow `json:"path"`
	Operations int                  `json:"operations"` // number of operations in the pieces
	// Shares are, by piece of communication, the shares of Causes in the time of the collectives of its class at
	// that time.
	Causes []string    `json:"causes"`
	Shares [][]float64 `json:"shares"`
}

// Pauses are the ports that are paused in the middle of columns of a grid.
type Pauses struct {
	Cols int64 `json:"cols"`
	// Spans have port, the egress port that held most of its bytes (-1: a server paused it, or it is unknown), first
	// and last column, and the root (-1 likewise).
	Spans [][5]int64 `json:"spans"`
	Count int        `json:"count"` // of PFC events
}

// Ranks is the activity of some ranks in a window of time.
type Ranks struct {
	From    int64      `json:"from_ps"`
	To      int64      `json:"to_ps"`
	Names   []string   `json:"names"`
	Spans   [][5]int64 `json:"spans"` // rank, start, end, class and name as numbers of names
	Ranks   int32      `json:"ranks"`
	Page    []int32    `json:"page"` // those listed, in order
	LeftOut int        `json:"left_out"`
	Shorter int64      `json:"shorter_ps"` // omitted spans are at most this long
	Paused  [][2]int64 `json:"paused"`     // when any port is paused
	Sent    [][3]int64 `json:"sent"`       // rank, start and end of its messages between servers
}

// Total is the servers' sent bytes, and the switches' marks, pauses and drops, over time.
type Total struct {
	Width float64      `json:"width_ps"`
	Cols  [][5]float64 `json:"cols"` // bit/s sent by servers, marks, ports paused, longest queue, drops
}

// Packets is a part of a run's capture.
type Packets struct {
	Packets []Packet `json:"packets"`
	More    bool     `json:"more"`
	Skip    int64    `json:"skip"`  // packets of the filter before these
	Found   int64    `json:"found"` // the number of the packet that was looked for; 0: none
	Missing string   `json:"missing,omitempty"`
}

// Journeys are the packets traced hop by hop, none if no trace was requested.
type Journeys struct {
	Packets []result.Followed `json:"packets"`
}

// About is the server's description of itself.
type About struct {
	Version   string            `json:"version"`
	Root      string            `json:"root"`
	Scenarios map[string]string `json:"scenarios"`
	// Names are values that the schema does not list, by the end of their key.
	Names map[string][]string `json:"names"`
}

// Checked is the result of checking a scenario for the editor.
type Checked struct {
	OK       bool    `json:"ok"`
	Estimate string  `json:"estimate,omitempty"` // packets, memory and time of a run
	Error    string  `json:"error,omitempty"`    // all of it, a line for each fault
	Faults   []Fault `json:"faults,omitempty"`   // errors of values, with their positions
}

// Fault is a value of a scenario that cannot be.
type Fault struct {
	Line    int    `json:"line"` // 0: no position
	Column  int    `json:"column"`
	Path    string `json:"path"`
	Message string `json:"message"`
}

package cc

import "railyard/unit"

// Report is a kind of telemetry that switches write into packets.
type Report uint8

// Kinds of reports. Their numbers are the codes of package roce.
const (
	NoReport       Report = iota
	ReportINT             // each switch's time, bytes sent, queue and rate
	ReportCSIG            // what the busiest port has left, or the longest delay, in a compact tag
	ReportCSIGWide        // the same in a wide one
	ReportIFA             // as INT, by the headers of the in-band flow analyzer
)

func (r Report) String() string {
	return [...]string{"nothing", "INT", "CSIG", "wide CSIG", "IFA"}[r]
}

// MostHops is the number of switches that a telemetry header has room for.
const MostHops = 5

// reportsByTag returns the telemetry of an algorithm with a parameter csig, the bytes of a tag; without
// one something else.
func reportsByTag(v Values, without Report) Report {
	switch Value[int](v, "csig") {
	case 4:
		return ReportCSIG
	case 8:
		return ReportCSIGWide
	}
	return without
}

// Telemetry is the content of switches that a packet's acknowledgement returns.
type Telemetry struct {
	Hops  int    // switches passed; of those beyond MostHops nothing is known
	Path  uint16 // tells paths apart
	Hop   [MostHops]Hop
	Wraps unit.Time // after how long a hop's time comes round

	// Of congestion signaling one of these, as Signal says, and no hops.
	Signal Signalled
	Share  float64   // of the rate of the busiest port: what nobody uses
	Delay  unit.Time // longest that a switch kept the packet
	Most   unit.Time // the longest that the tag tells: or more
}

// Signalled is the quantity in a congestion signaling tag.
type Signalled uint8

// What it can be.
const (
	SignalledShare Signalled = iota + 1
	SignalledDelay
)

// Hop is the state of one switch's egress port when the packet's frame started there.
type Hop struct {
	Rate  unit.Rate
	At    unit.Time  // its clock, which comes round
	Sent  unit.Bytes // of the wire, by the port before this frame; comes round after Wraps
	Wraps unit.Bytes
	Queue unit.Bytes // waiting behind the frame
}

// Known returns the hops of which something is known.
func (t *Telemetry) Known() []Hop { return t.Hop[:min(t.Hops, MostHops)] }

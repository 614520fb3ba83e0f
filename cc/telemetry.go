package cc

import "railyard/unit"

// Report is a kind of telemetry that switches write into packets.
type Report uint8

// Kinds of reports. Their numbers are the codes of package roce.
const (
	NoReport       Report = iota
	ReportINT             // each switch's time, bytes sent, queue and rate
	ReportCSIG            // a compact tag with the least available bandwidth, or the longest delay
	ReportCSIGWide        // the same in a wide one
	ReportIFA             // telemetry in the headers of the in-band flow analyzer (IFA)
)

func (r Report) String() string {
	return [...]string{"nothing", "INT", "CSIG", "wide CSIG", "IFA"}[r]
}

// MostHops is the number of switches that a telemetry header has room for.
const MostHops = 5

// reportsByTag returns the telemetry of an algorithm with a parameter csig, the bytes of a tag; without it, returns
// without.
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
	Hops  int    // number of switches passed; those beyond MostHops are not recorded
	Path  uint16 // identifies the path
	Hop   [MostHops]Hop
	Wraps unit.Time // period after which a hop's timestamps wrap

	// One value of congestion signaling, of the kind Signal, without hops.
	Signal Signalled
	Share  float64   // unused part of the rate of the busiest port
	Delay  unit.Time // longest that a switch kept the packet
	Most   unit.Time // largest delay that the tag can express; it means this or more
}

// Signalled is the quantity in a congestion signaling tag.
type Signalled uint8

// Its kinds.
const (
	SignalledShare Signalled = iota + 1
	SignalledDelay
)

// Hop is the state of one switch's egress port when the packet's frame started there.
type Hop struct {
	Rate  unit.Rate
	At    unit.Time  // the switch's clock, which wraps around
	Sent  unit.Bytes // bytes on the wire, sent by the port before this frame; wraps after Wraps
	Wraps unit.Bytes
	Queue unit.Bytes // bytes queued after the frame
}

// Known returns the hops with valid entries.
func (t *Telemetry) Known() []Hop { return t.Hop[:min(t.Hops, MostHops)] }

package diagnose

import (
	"fmt"
	"slices"

	"railyard/internal/counters"
	"railyard/unit"
)

// shortest is the length of the shortest Ethernet frame on the wire: 64 bytes, preamble and inter-frame gap.
const shortest = 84

// refuse takes away the difference of counters that grew faster than the wire of their port carries frames, or twice as
// fast as it carries bytes: a counter is read during its round of commands, so that its interval is below twice that of
// the clocks. Without clocks or a speed nothing is refused.
func (f *Fabric) refuse() {
	frames, bytes := wireCounters()
	f.ports(func(p *Port) {
		if p.On.Over <= 0 || p.Speed() <= 0 {
			return
		}
		carried := unit.InTime(p.Speed(), p.On.Over)
		f.refuseAbove(p, frames, uint64(carried/shortest), "frame")
		f.refuseAbove(p, bytes, 2*uint64(carried), "byte")
	})
}

// wireCounters lists the counters of frames and of bytes that cross the wire of a port.
func wireCounters() (frames, bytes []meter) {
	frames = []meter{allRxPFC, allTxPFC, rxPause, txPause, crc, inErrors, cnpSent}
	bytes = []meter{allRxBytes, allTxBytes}
	for k := range counters.Priorities {
		frames = append(frames, rxPFC(k), txPFC(k), rxPackets(k), txPackets(k))
		bytes = append(bytes, rxBytes(k), txBytes(k))
	}
	return frames, bytes
}

func (f *Fabric) refuseAbove(p *Port, all []meter, most uint64, what string) {
	for _, x := range p.parts {
		for _, m := range all {
			if c := m.of(x.grew); x.was != nil && c.Is && c.V > most {
				f.note("%s:%d: %v: %s grew by %s in %v, and %v carries at most %s; the counter is not used", x.file,
					m.of(x.now).Line, p, m.name, unit.ShowCount(c.V), p.On.Over, p.Speed(), unit.Plural(most, what))
				c.Is = false
			}
		}
	}
}

// underWay is the number of pauses by which the two ends of a link may differ because frames are on the cable.
const underWay = 8

// apart reports whether both ends of the link counted pauses, and one of them more than twice as many as the other.
// That is more than snapshots of two rounds and frames on the cable explain.
func (p *Pause) apart() bool {
	few := min(p.Sent.Grew, p.Got.Grew)
	return p.Sent.Two && p.Got.Two && few > 0 && p.Frames() > 2*few+underWay
}

// dispute lowers a finding to possible if it rests on pauses that the two ends of a link count differently.
func (f *Fabric) dispute(x *Finding) {
	for i := range f.Pauses {
		p := &f.Pauses[i]
		rests := func(e Evidence) bool { return p.Sent.shown(e) || p.Got.shown(e) }
		if p.apart() && slices.ContainsFunc(x.Evidence, rests) {
			x.Sure = Possible
			x.Says += fmt.Sprintf("; the counters disagree: %v sent %s, %v received %s", p.From,
				unit.Plural(p.Sent.Grew, "pause"), p.To, unit.ShowCount(p.Got.Grew))
		}
	}
}

// shown reports whether an evidence is the reading.
func (r Reading) shown(e Evidence) bool {
	return r.Is && e.Counter == r.Name && e.Device == r.Port.On.Name && e.Port == r.Port.Name
}

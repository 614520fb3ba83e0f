package fabric

import (
	"testing"

	"railyard/unit"
)

// TestScheduledRatesDiffer sends a packet of 17 cells over one cable of 100 Gbit/s and one of 400, in either order.
// At a fabric node no gap may open between cells. A packet that leaves faster than it arrives therefore starts
// later, so that its last cell leaves when it has arrived. In either order the packet takes 17 cells at 100 Gbit/s
// and one at 400.
func TestScheduledRatesDiffer(t *testing.T) {
	const prop = 150 * unit.Nanosecond
	for _, packet := range []struct {
		payload int64
		cells   unit.Time
	}{{4000, 17}, {100, 1}, {418, 2}, {419, 3}} { // 62 bytes of headers; 240 of a packet in a cell
		for _, to := range []int{0, 1} {
			d := chassisSize{2, 1, 1, 1, 400 * unit.Gbps, 400 * unit.Gbps, prop, 100 * unit.Gbps}
			c := newChassis(t, d, scheduledDefaults(), nil)
			c.send(0, 1-to, to, d.hosts, 24, packet.payload, 4096, 1)
			c.run(unit.Second)
			// A cell has 256 bytes and a message 16, at 80 and 20 ps a byte; the NICs add 20 bytes of preamble and
			// gap.
			hosts := 2 * (unit.Time(packet.payload+62+20)*20 + prop)
			messages := 2*16*(80+20) + 4*prop
			cells := 256*(80*packet.cells+20) + 2*prop
			if want := hosts + messages + cells; c.last[to] != want {
				t.Errorf("%d bytes to %d are there after %v, want %v", packet.payload, to, c.last[to], want)
			}
		}
	}
}

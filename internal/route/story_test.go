package route

import (
	"testing"

	"railyard/internal/rng"
	"railyard/internal/story"
	"railyard/param"
	"railyard/unit"
)

// What each policy does with equal packets of one flow, described next to each other.
func TestStories(t *testing.T) {
	t.Run("flowlet-moves", flowletMoves)
	t.Run("one-flow-every-policy", oneFlow)
}

// send accounts a packet of 4 KB to a port of 100 Gbit/s.
func send(p *Port, now unit.Time) {
	p.TxBytes += 4200
	p.BusyUntil = max(p.BusyUntil, now) + unit.Serialize(4200, p.Rate)
}

func flowletMoves(t *testing.T) {
	page := story.Open(`A flow that moves to another port after a silence, and not before.
		A flowlet ends after 5 us of silence, and the next one moves when the port is above 30 % of its rate,
		100 Gbit/s, over about 20 us. Another flow fills the port that the hash gave it. A busy flow stays
		where it is: moving it would reorder its packets. (Vanini et al., NSDI 2017; seed, chapter 12)`)
	v := param.Values{"flowlet_gap": 5 * unit.Microsecond, "utilisation": 30.,
		"interval": 20 * unit.Microsecond}
	c := Flowlet.Make(v, Site{Seed: 1})
	ports, group := []Port{{Rate: 100 * unit.Gbps}, {Rate: 100 * unit.Gbps}}, []int32{0, 1}
	now, last, told := unit.Time(0), int32(-1), ""
	for burst, silence := range []unit.Time{2, 2, 8, 2, 8, 60} {
		for range 3 {
			at := c.Pick(now, group, 0, 77, ports)
			load := 100 * c.(*flowlet).load(now, at, ports)
			switch {
			case last < 0:
				told = "the hash gives the flow port %d, %.0f %% loaded"
			case at != last:
				told = "after its silence the flow moves to port %d, %.0f %% loaded"
			default:
				told = "the flow stays on port %d, %.0f %% loaded"
			}
			page.Tell(now, told, at, load)
			last = at
			send(&ports[at], now)
			now += 400 * unit.Nanosecond
		}
		silence *= unit.Microsecond
		if burst < 4 { // the other flow sends at its maximum rate
			for b := unit.Time(0); b < silence; b += 340 * unit.Nanosecond {
				send(&ports[0], now+b)
				c.(*flowlet).load(now+b, 0, ports)
			}
			page.Tell(now, "it is silent for %v, the other flow is not", silence)
		} else {
			page.Tell(now, "all is silent for %v", silence)
		}
		now += silence
	}
	page.Tell(now, "moved %d times", c.Moved())
	page.Check(t, "flowlet-moves")
}

func oneFlow(t *testing.T) {
	page := story.Open(`Twelve packets of one flow in a row, by every policy.
		There are four ports of 100 Gbit/s; port 2 has 300 KB waiting and the peer has paused port 3. By
		their hash all take one port, whatever waits there; in turn and at random they take all; the least
		loaded are two. With a source port per packet each has a hash of its own.`)
	for _, name := range Names() {
		p := Lookup(name)
		if Is[Steerer](p) || p.NIC != nil && p.NIC.Hears || name == "oblivious" {
			continue // its ports are those of ECMP, or the NIC chooses them, which is tested in package entropy
		}
		c := p.Make(nil, Site{Seed: 1, Stream: rng.New(1, "story")})
		ports, group := make([]Port, 4), []int32{0, 1, 2, 3}
		for i := range ports {
			ports[i].Rate = 100 * unit.Gbps
		}
		ports[2].Queued, ports[3].Paused = 300_000, 1<<3
		table := NewTable(1)
		table.SetGroup(0, group)
		c.Renew(table)
		var took []int32
		for i := range uint32(12) {
			flow := uint32(9)
			if p.Ports(p.Defaults) > 1 {
				flow += i
			}
			took = append(took, c.Pick(0, group, 0, flow, ports))
		}
		page.Tell(0, "%-12s %v", name, took)
	}
	page.Check(t, "one-flow-every-policy")
}

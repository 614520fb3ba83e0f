package sim

import (
	"testing"

	"railyard/internal/story"
	"railyard/unit"
)

// halfRate is two servers on two leaves connected by two cables. Hashing puts the one message on the cable at Eth3,
// here called the first.
const halfRate = `
name: half rate
seed: 3
fabric:
  kind: graph
  host_link: {rate: 100Gbps, cable: 3m}
  fabric_link: {rate: 100Gbps, cable: 30m}
  graph:
    hosts: [A, B]
    switches: [{name: s1, role: leaf}, {name: s2, role: leaf}]
    links: [{from: A, to: s1}, {from: B, to: s2}, {from: s1, to: s2, count: 2}]
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
workload: {traffic: {flows: [{from: A/gpu-1, to: B/gpu-1, bytes: 15MB}]}}
`

// halfRateEvents are the events of the first cable.
const halfRateEvents = `
events:
  - {link: 's1:Eth3', at: 200us, up: false, converge: 100us}
  - {link: 's1:Eth3', at: 500us, up: true, rate: 50Gbps, converge: 100us}
  - {link: 's1:Eth3', at: 1ms, rate: 100Gbps}
`

// A link fails, recovers at half rate and then fully. The arrival rate in each phase is the link's rate, and the
// end is when these add up to the message.
func TestHalfRate(t *testing.T) {
	page := story.Open(`A link fails, comes back at half rate and recovers, under one message of 15 MB.
		A sends to B over s1 and s2, which two cables of 100 Gbit/s join; hashing puts the message on one of
		them, called the first here. It breaks at 200 us, and routes know that 100 us later; from 500 us on it
		works again, at 50 Gbit/s, which they know 100 us later, too; at 1 ms it has its rate again, which is
		nothing that routes look at.
		Beside what came to B in 50 us stands what the phase allows, its rate times its time; a packet more or
		less is one on its way.`)
	_, whole, _ := runAll(t, halfRate, "output.sample=10us")
	r, s, tab := runAll(t, halfRate+halfRateEvents, "output.sample=10us")
	port := func(name string, from string) int32 {
		for _, p := range tab.Ports {
			if p.Name == name+" → "+from {
				return p.Port
			}
		}
		t.Fatalf("no port %s → %s", name, from)
		return -1
	}
	last, first, second := port("s2:Eth1", "B"), port("s1:Eth3", "s2"), port("s1:Eth2", "s2")
	bytes := func(port int32, from, until unit.Time) (sum int64) {
		for _, row := range tab.Links {
			if row.Port == port && unit.Time(row.Start) >= from && unit.Time(row.Start+row.Length) <= until {
				sum += row.Bytes
			}
		}
		return sum
	}
	const us = unit.Microsecond
	const packet = 4096 + 62 + 20
	for _, phase := range []struct {
		from, until unit.Time
		rate        unit.Rate // 0: undetermined, or no arrivals
		what        string
	}{
		{0, 50 * us, 0, "the first packets are under way"},
		{50 * us, 200 * us, 100 * unit.Gbps, "by the first cable"},
		{200 * us, 250 * us, 0, "it is broken: what s1 sends is lost"},
		{250 * us, 300 * us, 0, "routes do not know yet"},
		{300 * us, 350 * us, 0, "they do: B sees a gap, A goes back"},
		{350 * us, 600 * us, 100 * unit.Gbps, "by the second cable"},
		{600 * us, 650 * us, 0, "routes use the first one again"},
		{650 * us, 1000 * us, 50 * unit.Gbps, "at half rate"},
		{1000 * us, 1200 * us, 100 * unit.Gbps, "whole again"},
	} {
		for from := phase.from; from < phase.until; from += 50 * us {
			until := min(from+50*us, phase.until)
			got, want := bytes(last, from, until), int64(unit.InTime(phase.rate, until-from))
			allows := ""
			if phase.rate > 0 {
				allows = " of " + unit.Bytes(want).String()
				if got > want+packet || got < want-2*packet {
					t.Errorf("%v to %v: %d bytes came, %d fit", from, until, got, want)
				}
			}
			page.Tell(from, "%s: %v%s came to B; %v left by the first cable, %v by the second", phase.what,
				unit.Bytes(got), allows, unit.Bytes(bytes(first, from, until)),
				unit.Bytes(bytes(second, from, until)))
		}
	}
	took, alone := unit.Time(s.StepTime), unit.Time(whole.StepTime)
	page.Tell(took, "the message is there; without the events it was at %v", alone)
	page.Tell(took, "%s", s.Slowest.Why)
	for _, e := range s.LinkEvents {
		page.Tell(took, "the report: %v %s: %s", unit.Time(e.At), e.Link, e.Change)
	}
	page.Check(t, "half-rate")

	// 100 us without routes, and the recovery after them, deliver nothing; 400 us deliver half.
	recovery := took - alone - 100*us - 400*us/2
	if recovery < 0 || recovery > 10*us {
		t.Errorf("it took %v, without events %v: %v beyond 100 us of nothing and 400 us at half rate",
			took, alone, recovery)
	}
	lost := int64(unit.InTime(100*unit.Gbps, 100*us)) / packet
	if s.DropsDown < lost || s.DropsDown > lost+1 {
		t.Errorf("%d packets lost in the broken cable, 100 us of it are %d", s.DropsDown, lost)
	}
	if len(r.routed) != 0 || s.Drops != s.DropsDown {
		t.Errorf("routes avoid %v, %d packets lost, %d of them in the cable", r.routed, s.Drops, s.DropsDown)
	}
}

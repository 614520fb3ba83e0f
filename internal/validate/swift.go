package validate

import (
	"fmt"
	"math"

	"railyard/internal/exec"
	"railyard/unit"
)

// swiftRows compares Swift, with htsim's constants, with the equilibrium of its target delay and its flows' data in
// flight.
func swiftRows() ([]Row, error) {
	alone := must(swiftIncast(1, 1, 0, 0))
	const source = "Kumar et al. 2020, target delay; docs/references.md, swift"
	rows := []Row{within("Swift, a lone flow: share of the line", source, 1, alone.share, 0.01, "%.3f")}
	for _, n := range []int{2, 8, 32, 64} {
		got := must(swiftIncast(n, 1, 0, 0))
		claim := fmt.Sprintf("Swift, %d flows: ", n)
		delay := swiftDelay(n)
		rows = append(rows, within(claim+"mean round trip, us", source, delay*1e6,
			(alone.rtt+got.wait)*1e6, 0.1, "%.2f"))
	}
	many := must(swiftIncast(50, 20, 0, 25*unit.Millisecond))
	return append(rows,
		within("Swift, 1,000 flows below one packet each: share of the line", "Kumar et al. 2020, pacing",
			1, many.share, 0.05, "%.3f"),
		exact("Swift, 1,000 flows: drops", "lossless", 0, many.drops)), nil
}

// swiftDelay is the round trip at which n flows through one switch settle. Each flow has a window of w packets, all
// windows together fill the line for one round trip, and the target delay for w is that round trip.
func swiftDelay(n int) float64 {
	const base, span = 20e-6, 100e-6
	slope := span / (1/math.Sqrt(0.1) - 1/math.Sqrt(100))
	low, high := base, base+base/6.55+span
	for range 60 {
		rtt := (low + high) / 2
		w := rtt * 100e9 / 8 / swiftWire / float64(n)
		flows := min(max(slope/math.Sqrt(w)-slope/math.Sqrt(100), 0), span)
		if base+base/6.55+flows > rtt {
			low = rtt
		} else {
			high = rtt
		}
	}
	return low
}

// swiftWire is a full packet on the wire: headers, preamble and gap.
const swiftWire = 4096 + middleFrame + wireGap

// swiftSteady is the activity of a receiver's port while flows are in equilibrium.
type swiftSteady struct {
	share     float64 // share of the line rate in use
	wait, rtt float64 // mean wait of a packet at the port, and the first sender's last round trip, seconds
	drops     int
}

// swiftIncast makes servers send to one server, with the given number of queue pairs each and tags of the given
// size. It measures 20 ms from a given time on.
func swiftIncast(senders, qps, tag int, from unit.Time) (s swiftSteady, err error) {
	r := must(start(fmt.Sprintf(`
name: swift
fabric: {kind: rail-only, hosts: %d, host_link: {rate: 100Gbps, cable: 300m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: swift, swift: {profile: htsim, csig: %d}}
transport: {qps: %d}
workload: {traffic: {incast: {bytes: 1GB, fan_in: %d}}}
`, senders+1, tag, qps, senders)))
	from = max(from, 5*unit.Millisecond)
	port := r.Port(r.Graph.NICs[0].Links[0], r.Graph.Links[r.Graph.NICs[0].Links[0]].B)
	var began, ended unit.Time
	var sent, packets [2]int64
	var waited [2]unit.Time
	look := func(i int) unit.Time {
		sent[i], packets[i], waited[i] = r.Net.Sent(port), r.Net.Ports[port].TxFrames, r.WaitSum(port)
		return r.Net.Q.Now()
	}
	do(r.Go(func(p exec.Progress) bool {
		switch {
		case p.Now < from:
		case began == 0:
			began = look(0)
		case p.Now >= began+20*unit.Millisecond:
			ended = look(1)
			return false
		}
		return true
	}))
	if ended == 0 {
		return s, fmt.Errorf("%d flows of Swift ended before they were at rest", senders*qps)
	}
	rtt, _ := r.Hosts.Controller(0).Signal(ended, "delay")
	return swiftSteady{
		share: float64(sent[1]-sent[0]) * 8 / 100e9 / (ended - began).Seconds(),
		wait:  (waited[1] - waited[0]).Seconds() / float64(packets[1]-packets[0]),
		rtt:   rtt, drops: int(r.Net.Drops)}, nil
}

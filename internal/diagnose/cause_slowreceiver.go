package diagnose

import "fmt"

// slowReceiver is a NIC that receives more slowly than its link: its receive buffer fills, and it pauses its switch now
// and then. A healthy NIC receives at line rate, so pauses that begin at a NIC are its own fault, with any number of
// senders: congestion of many senders fills the switch's queue and not the NIC. A storm is distinguished there.
var slowReceiver = Cause{Name: "slow-receiver", About: "a NIC takes less than its line rate and pauses its switch", find: findSlowReceivers,
	By: []string{"pauses sent", "pauses received", "µs paused", "µs of pauses sent", "bytes sent", "at the ingress: packets",
		"packets without a receive buffer", "input discards", "PCIe writes stalled", "PCIe reads stalled",
		"packets dropped at the PCIe buffer"}}

func findSlowReceivers(f *Fabric, c *Cause) (out []Finding) {
	for i := range f.Chains {
		ch := &f.Chains[i]
		if !ch.NIC() {
			continue
		}
		for _, x := range ch.First {
			if _, _, endless := x.endless(); endless || !x.foremost() || x.brief() {
				continue
			}
			sure := Proven
			if !x.Sent.Is || !x.Got.Is || x.From.On.Kind != Host {
				sure = Likely
			}
			k := max(ch.Class, 0)
			timed := x.Sent.Is || x.To.read(rxDur(k)).Is
			stalled := x.From.stalled()
			got := x.From.read(rxPackets(k))
			accepted := ch.Class < 0 || timed && (x.given().Is || got.Two && got.Grew >= x.Frames())
			switch {
			case x.contradicted() || x.undecided():
				sure = Possible // the pauses may be old; or it is a storm
			case !accepted && stalled:
				sure = Likely
			case !accepted:
				sure = Possible // it may be a storm
			}
			sends := x.To.String() + " sends it"
			if x.To.Name == "" { // no neighbor is known
				sends = "it is sent"
			}
			d := c.at(x.From, ch.Class, sure, "%v does not accept what %s: pauses of %s start there",
				x.From, sends, classWord(ch.Class))
			if l := x.To.load(x.To.read(txBytes(k))); l >= 0 {
				d.Says += fmt.Sprintf("; it accepted %.0f %% of line rate", 100*l)
			}
			d.show(x.Got, x.Sent, x.To.read(rxDur(k)), x.To.read(txBytes(k)))
			if !x.To.read(rxDur(k)).Is {
				d.showSome(x.From.read(txDur(k)))
			}
			if ch.Class >= 0 && !x.given().Is {
				d.showSome(got)
			}
			d.showSome(x.From.read(noBuffer), x.From.read(inDiscards), x.From.read(stalledWr),
				x.From.read(stalledWrSeconds), x.From.read(stalledRd), x.From.read(stalledRdSeconds),
				x.From.read(overflow))
			if d.reach(ch); stalled {
				d.Says += "; its PCIe lacked credits to write to memory"
			}
			d.Why = "a healthy NIC accepts line rate, so its pauses result from the host (PCIe, memory, IOMMU, too few receive buffers), not from the senders"
			d.Fix = "check the host: PCIe width and speed, ACS and IOMMU, NUMA node of the memory, receive buffers of the NIC (rx_discards, out_of_buffer)"
			d.next(x.From, askNIC, "receive buffer")
			d.next(x.To, askPFC, "are pauses still received?")
			d.harm = share(x.Frames(), f.allPauses())
			out = append(out, d)
		}
	}
	return out
}

// stalled reports whether the PCIe of a NIC held up what it received, by mlx5's bound (Linux kernel documentation, mlx5
// counters): no credits to write for more than 30 % of a second, or packets dropped before it. Stalled reads hold up
// what it sends.
func (p *Port) stalled() bool {
	return p.read(stalledWrSeconds).Some() || p.read(stalledWr).Now > 30 || p.read(overflow).Some()
}

// classWord is a priority in words.
func classWord(k int) string {
	if k < 0 {
		return "all priorities"
	}
	return fmt.Sprintf("priority %d", k)
}

package counters

import (
	"strconv"
	"strings"
)

// Names of per-class counters, in the order of Each, are built once. A port has 176 of them, and a comparison of
// two snapshots of a fabric visits them for all ports several times.
var (
	rxPFCNames, txPFCNames = naming("rx pfc %"), naming("tx pfc %")
	rxDurNames, txDurNames = naming("rx pause duration %"), naming("tx pause duration %")

	queueNames = naming("queue % tx packets", "queue % tx bytes", "queue % dropped packets",
		"queue % dropped bytes", "queue % marked", "queue % depth", "queue % peak",
		"queue % storms detected", "queue % storms restored", "queue % watchdog drops")
	groupNames = naming("group % rx packets", "group % rx bytes", "group % shared", "group % shared peak",
		"group % headroom", "group % headroom peak", "group % dropped packets")
)

// naming is by class the names of its counters, with the class for a %.
func naming(of ...string) (names [Priorities][]string) {
	for i := range names {
		for _, name := range of {
			names[i] = append(names[i], strings.Replace(name, "%", strconv.Itoa(i), 1))
		}
	}
	return names
}

// Each visits a port's counters in a fixed order with their names. A gauge is a current value or a maximum: two of them
// have no difference.
func (p *Port) Each(visit func(name string, c *Count, gauge bool)) {
	list := func(names *[Priorities][]string, all *[Priorities]Count) {
		for i := range all {
			visit(names[i][0], &all[i], false)
		}
	}
	list(&rxPFCNames, &p.RxPFC)
	list(&txPFCNames, &p.TxPFC)
	list(&rxDurNames, &p.RxDur)
	list(&txDurNames, &p.TxDur)
	for i := range p.Queues {
		q, n := &p.Queues[i], queueNames[i]
		visit(n[0], &q.TxPackets, false)
		visit(n[1], &q.TxBytes, false)
		visit(n[2], &q.DropPackets, false)
		visit(n[3], &q.DropBytes, false)
		visit(n[4], &q.Marked, false)
		visit(n[5], &q.Depth, true)
		visit(n[6], &q.Peak, true)
		visit(n[7], &q.Detected, false)
		visit(n[8], &q.Restored, false)
		visit(n[9], &q.Flushed, false)
	}
	for i := range p.Groups {
		g, n := &p.Groups[i], groupNames[i]
		visit(n[0], &g.RxPackets, false)
		visit(n[1], &g.RxBytes, false)
		visit(n[2], &g.Shared, true)
		visit(n[3], &g.SharedPeak, true)
		visit(n[4], &g.Headroom, true)
		visit(n[5], &g.HeadroomPeak, true)
		visit(n[6], &g.DropPackets, false)
	}
	p.eachWhole(func(name string, c *Count) { visit(name, c, false) })
	p.RoCE.each(func(name string, c *Count) { visit(name, c, false) })
	visit("pci writes stalled", &p.PCI.StalledWr, true)
	visit("pci reads stalled", &p.PCI.StalledRd, true)
	visit("pci writes stalled, seconds", &p.PCI.StalledWrSeconds, false)
	visit("pci reads stalled, seconds", &p.PCI.StalledRdSeconds, false)
	visit("pci buffer overflow", &p.PCI.Overflow, false)
}

// eachWhole visits the counters of all classes together.
func (p *Port) eachWhole(visit func(name string, c *Count)) {
	visit("rx pfc, all", &p.RxPFCAll)
	visit("tx pfc, all", &p.TxPFCAll)
	visit("rx pause", &p.RxPause)
	visit("tx pause", &p.TxPause)
	visit("rx packets", &p.RxPackets)
	visit("rx bytes", &p.RxBytes)
	visit("tx packets", &p.TxPackets)
	visit("tx bytes", &p.TxBytes)
	visit("in errors", &p.InErrors)
	visit("crc errors", &p.CRC)
	visit("symbol errors", &p.Symbol)
	visit("uncorrected by fec", &p.Uncorrected)
	visit("out errors", &p.OutErrors)
	visit("in discards", &p.InDiscards)
	visit("out discards", &p.OutDiscards)
	visit("giants", &p.Giants)
	visit("no route", &p.NoRoute)
	visit("flaps", &p.Flaps)
}

func (r *RoCE) each(visit func(name string, c *Count)) {
	visit("np_ecn_marked_roce_packets", &r.MarkedGot)
	visit("np_cnp_sent", &r.CNPSent)
	visit("rp_cnp_handled", &r.CNPHandled)
	visit("rp_cnp_ignored", &r.CNPIgnored)
	visit("out_of_sequence", &r.OutOfSequence)
	visit("packet_seq_err", &r.SeqErr)
	visit("local_ack_timeout_err", &r.Timeouts)
	visit("rnr_nak_retry_err", &r.RNR)
	visit("duplicate_request", &r.Duplicates)
	visit("implied_nak_seq_err", &r.ImpliedNAK)
	visit("out_of_buffer", &r.OutOfBuffer)
	visit("roce_retransmitted", &r.Retransmitted)
}

// Uncount takes away all counters of a port but gauges.
func (p *Port) Uncount() {
	p.Each(func(_ string, c *Count, gauge bool) {
		if !gauge {
			*c = Count{}
		}
	})
}

package counters

import "strconv"

// Each visits a port's counters in a fixed order with their names. A gauge says how much
// there is now, or was at most: two of them have no difference.
func (p *Port) Each(visit func(name string, c *Count, gauge bool)) {
	list := func(name string, all *[Priorities]Count) {
		for i := range all {
			visit(name+" "+strconv.Itoa(i), &all[i], false)
		}
	}
	list("rx pfc", &p.RxPFC)
	list("tx pfc", &p.TxPFC)
	list("rx pause duration", &p.RxDur)
	list("tx pause duration", &p.TxDur)
	for i := range p.Queues {
		q, n := &p.Queues[i], "queue "+strconv.Itoa(i)+" "
		visit(n+"tx packets", &q.TxPackets, false)
		visit(n+"tx bytes", &q.TxBytes, false)
		visit(n+"dropped packets", &q.DropPackets, false)
		visit(n+"dropped bytes", &q.DropBytes, false)
		visit(n+"marked", &q.Marked, false)
		visit(n+"depth", &q.Depth, true)
		visit(n+"peak", &q.Peak, true)
		visit(n+"storms detected", &q.Detected, false)
		visit(n+"storms restored", &q.Restored, false)
		visit(n+"watchdog drops", &q.Flushed, false)
	}
	for i := range p.Groups {
		g, n := &p.Groups[i], "group "+strconv.Itoa(i)+" "
		visit(n+"rx packets", &g.RxPackets, false)
		visit(n+"rx bytes", &g.RxBytes, false)
		visit(n+"shared", &g.Shared, true)
		visit(n+"shared peak", &g.SharedPeak, true)
		visit(n+"headroom", &g.Headroom, true)
		visit(n+"headroom peak", &g.HeadroomPeak, true)
		visit(n+"dropped packets", &g.DropPackets, false)
	}
	p.eachWhole(func(name string, c *Count) { visit(name, c, false) })
	p.RoCE.each(func(name string, c *Count) { visit(name, c, false) })
}

// eachWhole visits what is counted for all classes together.
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

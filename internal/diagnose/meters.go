package diagnose

import (
	"fmt"

	"railyard/internal/counters"
)

// The counters that causes use, with their descriptions.

func rxPFC(k int) meter {
	return meter{name: fmt.Sprintf("pauses received, priority %d", k),
		of: func(p *counters.Port) *counters.Count { return &p.RxPFC[k] }}
}

func txPFC(k int) meter {
	return meter{name: fmt.Sprintf("pauses sent, priority %d", k),
		of: func(p *counters.Port) *counters.Count { return &p.TxPFC[k] }}
}

func rxDur(k int) meter {
	return meter{name: fmt.Sprintf("µs paused, priority %d", k),
		of: func(p *counters.Port) *counters.Count { return &p.RxDur[k] }}
}

func txDur(k int) meter {
	return meter{name: fmt.Sprintf("µs of pauses sent, priority %d", k),
		of: func(p *counters.Port) *counters.Count { return &p.TxDur[k] }}
}

func queued(k int, what string, of func(*counters.Queue) *counters.Count) meter {
	return meter{name: fmt.Sprintf("queue %d: %s", k, what),
		of: func(p *counters.Port) *counters.Count { return of(&p.Queues[k]) }}
}

func txPackets(k int) meter {
	return queued(k, "packets sent", func(q *counters.Queue) *counters.Count { return &q.TxPackets })
}

func txBytes(k int) meter {
	return queued(k, "bytes sent", func(q *counters.Queue) *counters.Count { return &q.TxBytes })
}

func dropped(k int) meter {
	return queued(k, "packets dropped", func(q *counters.Queue) *counters.Count { return &q.DropPackets })
}

func marked(k int) meter {
	return queued(k, "packets marked", func(q *counters.Queue) *counters.Count { return &q.Marked })
}

func peak(k int) meter {
	return queued(k, "peak bytes queued", func(q *counters.Queue) *counters.Count { return &q.Peak }).gauge("B")
}

func detected(k int) meter {
	return queued(k, "storms detected", func(q *counters.Queue) *counters.Count { return &q.Detected })
}

func flushed(k int) meter {
	return queued(k, "packets dropped by the watchdog", func(q *counters.Queue) *counters.Count { return &q.Flushed })
}

func group(k int, what string, of func(*counters.Group) *counters.Count) meter {
	return meter{name: fmt.Sprintf("class %d at the ingress: %s", k, what),
		of: func(p *counters.Port) *counters.Count { return of(&p.Groups[k]) }}
}

func rxBytes(k int) meter {
	return group(k, "bytes", func(g *counters.Group) *counters.Count { return &g.RxBytes })
}

func rxPackets(k int) meter {
	return group(k, "packets", func(g *counters.Group) *counters.Count { return &g.RxPackets })
}

func refused(k int) meter {
	return group(k, "packets dropped", func(g *counters.Group) *counters.Count { return &g.DropPackets })
}

func sharedPeak(k int) meter {
	return group(k, "peak bytes in the shared buffer",
		func(g *counters.Group) *counters.Count { return &g.SharedPeak }).gauge("B")
}

func headroomPeak(k int) meter {
	return group(k, "peak bytes in the headroom",
		func(g *counters.Group) *counters.Count { return &g.HeadroomPeak }).gauge("B")
}

// gauge returns the meter of a current value or a maximum, which has a unit and no difference.
func (m meter) gauge(unit string) meter {
	m.unit = unit
	return m
}

func whole(name string, of func(*counters.Port) *counters.Count) meter {
	return meter{name: name, of: of}
}

var (
	crc          = whole("CRC errors", func(p *counters.Port) *counters.Count { return &p.CRC })
	symbols      = whole("symbol errors", func(p *counters.Port) *counters.Count { return &p.Symbol })
	uncorrected  = whole("errors not corrected by FEC", func(p *counters.Port) *counters.Count { return &p.Uncorrected })
	inErrors     = whole("input errors", func(p *counters.Port) *counters.Count { return &p.InErrors })
	inDiscards   = whole("input discards", func(p *counters.Port) *counters.Count { return &p.InDiscards })
	outDiscards  = whole("output discards", func(p *counters.Port) *counters.Count { return &p.OutDiscards })
	outErrors    = whole("output errors", func(p *counters.Port) *counters.Count { return &p.OutErrors })
	giants       = whole("frames longer than the MTU", func(p *counters.Port) *counters.Count { return &p.Giants })
	flaps        = whole("link failures", func(p *counters.Port) *counters.Count { return &p.Flaps })
	allTxBytes   = whole("bytes sent", func(p *counters.Port) *counters.Count { return &p.TxBytes })
	allRxBytes   = whole("bytes received", func(p *counters.Port) *counters.Count { return &p.RxBytes })
	allTxPackets = whole("packets sent", func(p *counters.Port) *counters.Count { return &p.TxPackets })
	allRxPackets = whole("packets received", func(p *counters.Port) *counters.Count { return &p.RxPackets })
	allRxPFC     = whole("pauses received", func(p *counters.Port) *counters.Count { return &p.RxPFCAll })
	allTxPFC     = whole("pauses sent", func(p *counters.Port) *counters.Count { return &p.TxPFCAll })
	rxPause      = whole("802.3x pauses received", func(p *counters.Port) *counters.Count { return &p.RxPause })
	txPause      = whole("802.3x pauses sent", func(p *counters.Port) *counters.Count { return &p.TxPause })
	cnpSent      = whole("CNPs sent", func(p *counters.Port) *counters.Count { return &p.RoCE.CNPSent })
	outOfOrder   = whole("packets out of sequence",
		func(p *counters.Port) *counters.Count { return &p.RoCE.OutOfSequence })
	seqErr    = whole("sequence errors reported", func(p *counters.Port) *counters.Count { return &p.RoCE.SeqErr })
	timeouts  = whole("ACK timeouts", func(p *counters.Port) *counters.Count { return &p.RoCE.Timeouts })
	stalledWr = whole("PCIe writes stalled in the last second",
		func(p *counters.Port) *counters.Count { return &p.PCI.StalledWr }).gauge("%")
	stalledRd = whole("PCIe reads stalled in the last second",
		func(p *counters.Port) *counters.Count { return &p.PCI.StalledRd }).gauge("%")
	stalledWrSeconds = whole("seconds of PCIe writes stalled above 30 %",
		func(p *counters.Port) *counters.Count { return &p.PCI.StalledWrSeconds })
	stalledRdSeconds = whole("seconds of PCIe reads stalled above 30 %",
		func(p *counters.Port) *counters.Count { return &p.PCI.StalledRdSeconds })
	overflow = whole("packets dropped at the PCIe buffer",
		func(p *counters.Port) *counters.Count { return &p.PCI.Overflow })
	noBuffer = whole("packets without a receive buffer",
		func(p *counters.Port) *counters.Count { return &p.RoCE.OutOfBuffer })
)

// sent returns how many bytes a port sent: all, or the sum of its queues.
func (p *Port) sent() Reading { return p.sum(allTxBytes, txBytes) }

// got returns how many bytes it got.
func (p *Port) got() Reading { return p.sum(allRxBytes, rxBytes) }

// sentPackets and gotPackets are the same in packets.
func (p *Port) sentPackets() Reading { return p.sum(allTxPackets, txPackets) }

func (p *Port) gotPackets() Reading { return p.sum(allRxPackets, rxPackets) }

// sum is a counter of the whole port, else the sum over its classes.
func (p *Port) sum(all meter, of func(int) meter) Reading {
	if r := p.read(all); r.Is {
		return r
	}
	total := Reading{Port: p, Name: all.name}
	for k := range counters.Priorities {
		if r := p.read(of(k)); r.Is {
			total.Is, total.Two, total.File, total.Line = true, r.Two, r.File, r.Line
			total.Was, total.Now, total.Grew = total.Was+r.Was, total.Now+r.Now, total.Grew+r.Grew
		}
	}
	return total
}

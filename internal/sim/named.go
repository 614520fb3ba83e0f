package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/fabric"
	"railyard/internal/field"
	"railyard/internal/result"
	"railyard/roce"
)

// Named identifies a packet: its queue pair, as numbered in qps.parquet and on the page, and its PSN. If the PSN is
// not known beforehand, the number of earlier packets of the queue pair replaces it, or a search.
type Named struct {
	QP     int32
	PSN    uint32
	Behind bool // PSN counts from the queue pair's first packet on

	By          string // one of searches; "": the packet is named
	First, Last uint32 // packets of the queue pair among which By searches, counted from 0; Last 0: all
}

// searches are the packets that a run finds: among those that arrive, the one that waits longest in queues of switches,
// of all, of those with a mark, or of those whose class is paused at a port when they reach it.
var searches = []string{"longest-wait", "marked", "paused"}

// String returns the form that ParseNamed reads.
func (n Named) String() string {
	switch {
	case n.By != "" && n.Last > 0:
		return fmt.Sprintf("%d/%s:%d-%d", n.QP, n.By, n.First, n.Last)
	case n.By != "":
		return fmt.Sprintf("%d/%s", n.QP, n.By)
	case n.Behind:
		return fmt.Sprintf("%d/+%d", n.QP, n.PSN)
	}
	return fmt.Sprintf("%d/%d", n.QP, n.PSN)
}

// ParseNamed reads QP/PSN, QP/+N for the packet after N others of the queue pair, or QP/SEARCH with :FIRST-LAST for
// some of its packets.
func ParseNamed(s string) (n Named, err error) {
	qp, psn, ok := strings.Cut(s, "/")
	q, err1 := strconv.ParseUint(qp, 10, 31)
	n.QP = int32(q)
	by, of, some := strings.Cut(psn, ":")
	var p, to uint64
	var err2, err3 error
	switch {
	case slices.Contains(searches, by) && some:
		first, last, _ := strings.Cut(of, "-")
		n.By = by
		p, err2 = strconv.ParseUint(first, 10, 24)
		to, err3 = strconv.ParseUint(last, 10, 24)
		n.First, n.Last = uint32(p), uint32(to)
		ok = ok && to >= p && to > 0
	case slices.Contains(searches, by):
		n.By = by
	default:
		psn, n.Behind = strings.CutPrefix(psn, "+")
		p, err2 = strconv.ParseUint(psn, 10, 24)
		n.PSN = uint32(p)
	}
	if !ok || err1 != nil || err2 != nil || err3 != nil {
		return Named{}, field.New("", "found %s, expected a queue pair and a PSN such as 0/1614795, 0/+17 for the packet after the first 17, or 0/longest-wait, 0/marked, 0/paused for the one that waits longest", field.Quote(s))
	}
	return n, nil
}

// search traces each packet of a queue pair until it arrives, and keeps the one that fits best.
type search struct {
	name Named
	to   *result.Followed
	at   map[uint32]*traced // under way or lost, by PSN
	wait int64              // of the packet kept
}

// of returns the trace of a data packet; one starts where the packet leaves its NIC.
func (s *search) of(p *fabric.Packet, first uint32, starts bool) *traced {
	n := (p.PSN - first) & roce.PSNMask
	if n < s.name.First || s.name.Last > 0 && n > s.name.Last {
		return nil
	}
	x := s.at[p.PSN]
	if x == nil && starts {
		x = &traced{name: s.name, of: s, known: true, to: &result.Followed{QP: p.QP, PSN: p.PSN}}
		s.at[p.PSN] = x
	}
	return x
}

// take ends the trace of a packet that has arrived, and keeps it if no earlier one fits better.
func (s *search) take(x *traced) {
	delete(s.at, x.to.PSN)
	wait, fits := int64(0), s.name.By == searches[0]
	for _, c := range x.to.Copies {
		for _, h := range c.Hops[1:] {
			wait += h.Left - h.Ready
			fits = fits || s.name.By == searches[1] && h.Marked || s.name.By == searches[2] && h.Paused
		}
	}
	if fits && (len(s.to.Copies) == 0 || wait > s.wait) {
		x.to.Asked = s.to.Asked
		*s.to, s.wait = *x.to, wait
	}
}

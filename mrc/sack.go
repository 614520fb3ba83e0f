package mrc

import (
	"math/bits"

	"railyard/cc"
	"railyard/rc"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// psn24 returns the number nearest to a known one with the 24 bits of a packet.
func psn24(near, wire uint32) uint32 { return near + uint32(int32((wire-near)<<8)>>8) }

// sack processes a SACK: arrivals, the path of the packet, and the congestion state.
func (s *Sender) sack(now unit.Time, p *transport.Packet) {
	expect := psn24(s.una, p.Expect)
	if int32(expect-s.una) > int32(s.next-s.una) {
		s.n.malformed++
		return
	}
	rtt, hosts := s.roundTrip(now, p)
	s.peer.early.now = now
	bytes, news := s.cumulative(expect)
	more, also := s.selective(p)
	bytes += more
	s.advance()
	if r := uint32(p.Bits[1]); s.m.Dynamic && r > 0 {
		s.span = min(r, uint32(s.m.Window))
	}
	s.verdict(now, p)
	if news || also {
		s.retry.news()
	}
	if bytes > 0 || p.Verdict == uint8(roce.VerdictSkipOnce) {
		s.acknowledged(now, cc.Ack{Bytes: bytes, RTT: rtt, Far: hosts, FarWithin: hosts > 0,
			Marked: p.Verdict == uint8(roce.VerdictSkipOnce)})
	}
	if p.Penalty > 0 {
		s.peer.penalty, s.peer.until = min(p.Penalty, 127), now+s.peer.roundTrip()
		s.n.penalties++
	}
	s.complete()
	s.look(now)
}

// roundTrip processes the send time of the packet whose stamp an answer echoes; 0: it has none. Stamps wrap every
// 8.39 ms on the wire; the departure time gives the number of wraps.
func (s *Sender) roundTrip(now unit.Time, p *transport.Packet) (rtt, hosts unit.Time) {
	sent := s.heard(now, p)
	if p.Waited > 0 {
		return s.withHosts(now, sent, p)
	}
	if p.Sent <= 0 || p.Sent >= now {
		return 0, 0
	}
	if rtt = now - p.Sent; sent > 0 && now-sent > rtt {
		rtt += (now - sent - rtt) / stampWrap * stampWrap
	}
	s.peer.measured(rtt)
	return rtt, 0
}

// withHosts is roundTrip for NICs that are processes, which delay packets until they are scheduled. That delay is
// part of the round trip, and timeouts and windows must cover it. It is not a queue of the network. The far process
// excludes it from the echoed stamp, together with its delay for further packets. The stamp thus gives the
// network's time, as close to the shortest round trip as possible; further wraps belong to the processes.
func (s *Sender) withHosts(now, sent unit.Time, p *transport.Packet) (rtt, hosts unit.Time) {
	came := now - p.Waited
	if p.Sent <= 0 || p.Sent >= came {
		return 0, 0
	}
	network, least := came-p.Sent, s.peer.rtt.least
	if sent > 0 && (least == 0 || now-sent < least) {
		least = now - sent
	}
	for network+stampWrap/2 < least {
		network += stampWrap
	}
	rtt = network + p.Waited
	if sent > 0 {
		rtt = max(rtt, now-sent)
	}
	s.peer.measured(rtt)
	return rtt, rtt - network
}

// stampWrap is the period of stamps: 16 bits of them.
const stampWrap = stampSlack << 16

// cumulative marks all packets before a PSN as arrived. It returns their new bytes, and whether any packet is new,
// because its payload may be empty.
func (s *Sender) cumulative(expect uint32) (bytes unit.Bytes, news bool) {
	for psn := s.una; int32(expect-psn) > 0; psn += 64 {
		word := s.slots.opens(psn) & (1<<(expect-psn) - 1) // all 64 bits if that many precede expect
		for ; word != 0; word &= word - 1 {
			bytes, news = bytes+s.came(psn+uint32(bits.TrailingZeros64(word))), true
		}
	}
	return bytes, news
}

// selective takes the bitmap.
func (s *Sender) selective(p *transport.Packet) (bytes unit.Bytes, news bool) {
	if s.una == s.next {
		return 0, false
	}
	base := psn24(s.una, p.Base)
	for word := p.Bits[0] & s.slots.opens(base); word != 0; word &= word - 1 {
		if psn := base + uint32(bits.TrailingZeros64(word)); psn-s.una < s.next-s.una {
			bytes, news = bytes+s.came(psn), true
		}
	}
	return bytes, news
}

// came records the first report of a packet's arrival and returns its payload.
func (s *Sender) came(psn uint32) unit.Bytes {
	x := s.slots.at(psn)
	if x.tries > 0 && s.peer.early.now-x.sent < s.peer.rtt.least {
		s.peer.early.mistaken()
	}
	s.leave(psn, x)
	return unit.Bytes(x.payload)
}

// advance moves una over acknowledged packets.
func (s *Sender) advance() {
	for s.una != s.next {
		n := uint32(bits.TrailingZeros64(s.slots.opens(s.una)))
		if s.una += min(n, s.next-s.una); n < 64 {
			return
		}
	}
}

// verdict processes the receiver's verdict on a path, and the result of a probe.
func (s *Sender) verdict(now unit.Time, p *transport.Packet) {
	if p.Verdict == uint8(roce.VerdictNone) && p.Kind != transport.Answer {
		return // nothing
	}
	i, ok := s.peer.evs.find(p.EchoEV)
	if !ok {
		return
	}
	switch v := roce.Verdict(p.Verdict); {
	case v == roce.VerdictAlwaysSkip:
		s.n.always++
		s.peer.condemn(now, i)
	case p.Kind == transport.Answer:
		s.peer.evs.restore(i, v == roce.VerdictSkipOnce)
	case v == roce.VerdictSkipOnce:
		s.n.skipOnce++
		s.peer.evs.skip(i)
	}
}

// trimmed reports whether a NACK refers to a packet whose payload a switch trimmed.
func trimmed(p *transport.Packet) bool {
	why := roce.NackReason(p.Code)
	return why == roce.NackTrimmed || why == roce.NackTrimmedLastHop
}

// nack processes a NACK: one packet must be retransmitted, or the connection fails.
func (s *Sender) nack(now unit.Time, p *transport.Packet) {
	why := roce.NackReason(p.Code)
	if why == roce.NackUnexpected {
		s.n.nacks[reasonOf(why)]++
		s.die(now, rc.RemoteOperationError)
		return
	}
	psn, reason := psn24(s.una, p.PSN), reasonOf(why)
	if psn-s.una >= s.next-s.una || reason < 0 {
		s.n.malformed++
		return
	}
	s.n.nacks[reason]++
	s.heard(now, p)
	x := s.slots.at(psn)
	if !x.underWay() || p.Sent > 0 && x.sent-p.Sent > stampSlack {
		return // the packet is known to have arrived or to be lost, or another copy was refused
	}
	switch why {
	case roce.NackTrimmed:
		if i, ok := s.peer.evs.find(p.EchoEV); ok {
			s.peer.evs.skip(i)
		}
		s.lose(psn)
		s.retry.news()
		s.lossOf(now, cc.LossTrimmed)
	case roce.NackTrimmedLastHop:
		s.lose(psn)
		s.retry.news()
		s.lossOf(now, cc.LossTrimmedLast)
		s.peer.alone(now)
	case roce.NackOutOfWindow: // the packet is retransmitted after its timeout, which counts as a retry
		x.refused = true
	default:
		s.turnedAway(now, psn, x)
	}
}

// alone delays the next transmission by a round trip if the port to the receiver trimmed the only packet in flight.
// A window of one packet is the smallest. With more senders than that queue holds packets, senders of trimmed
// packets would send more often than senders of queued ones, because headers overtake data. The link would then
// carry mostly headers.
func (p *Peer) alone(now unit.Time) {
	if p.inFlight == 0 && p.pace.Window > 0 && p.pace.Window <= p.pace.MTU {
		p.pace.NextAt = max(p.pace.NextAt, now+p.roundTrip())
	}
}

// turnedAway makes a packet for which the receiver has no room, or no receive, wait. No RNR NAK sets the delay: a
// round trip, doubled each time up to common RNR timers. A peer that answers is alive, so these retransmissions are
// not counted, as with an RNR retry of 7.
func (s *Sender) turnedAway(now unit.Time, psn uint32, x *slot) {
	if s.away.psn != psn {
		s.away.n = 0
	}
	if s.away.psn = psn; s.away.until == 0 {
		rtt := max(s.peer.roundTrip(), leastPause)
		s.away.until = now + min(rtt<<min(s.away.n, 20), max(rtt, usualPause))
		s.away.n++
	}
	tries := max(x.tries, 1)
	s.lose(psn)
	x.tries = tries
	s.retry.news()
}

// Of IBTA's RNR timers (table 45) the shortest, and the one of code 12, which programs usually set.
const (
	leastPause = 10 * unit.Microsecond
	usualPause = 640 * unit.Microsecond
)

// stampSlack is the maximum difference of two readings of one stamp: a unit of the wire format.
const stampSlack = roce.MRCStampUnit * unit.Nanosecond

// reasons are the NACK reasons with their own counter.
var reasons = [...]roce.NackReason{roce.NackTrimmed, roce.NackTrimmedLastHop, roce.NackNoBitmap,
	roce.NackNoBuffer, roce.NackNoResource, roce.NackOutOfWindow, roce.NackUnexpected}

func reasonOf(r roce.NackReason) int {
	for i, x := range reasons {
		if x == r {
			return i
		}
	}
	return -1
}

package sim

import (
	"fmt"

	"railyard/internal/fabric"
	"railyard/internal/host"
	"railyard/rc"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// frame identifies a frame in flight, by fields that no switch changes.
type frame struct {
	qp, psn, msn uint32
	opcode       roce.Opcode
	synd         roce.Syndrome
	again        bool
	head         head
}

// head are the additional fields of frame for transports other than RC.
type head struct {
	kind         transport.Kind
	expect, base uint32
	bits         [2]uint64
	sent         unit.Time
}

// frame returns the identity of the frame for which Tap is called.
func (f *Follower) frame(p *fabric.Packet) frame {
	x := frame{qp: uint32(p.QP), psn: p.PSN, msn: p.Len, opcode: p.Opcode, synd: p.Synd,
		again: p.Flags&fabric.FlagAgain != 0}
	if _, protocol := host.Ends(p.Opcode); protocol {
		h := f.run.Net.CarriedHeaders()
		x.head = head{h.Kind, h.Expect, h.Base, h.Bits, h.Sent}
	}
	return x
}

// refers returns how a frame refers to the data packet of a PSN, and the frame's kind in words. Data refer to
// themselves.
func (f *Follower) refers(p *fabric.Packet, psn uint32) (how transport.Reference, data bool, kind string) {
	if _, protocol := host.Ends(p.Opcode); protocol {
		h := f.run.Net.CarriedHeaders()
		if h.Kind == transport.Data {
			return namesIf(h.PSN&roce.PSNMask == psn), true, h.Kind.String()
		}
		refers := f.run.Plan.Services[f.run.Hosts.ServiceOf(p.QP)].Carried.Refers
		if refers == nil {
			refers = transport.Refers
		}
		return refers(h, psn), false, h.Kind.String()
	}
	if p.Opcode != roce.Acknowledge {
		return namesIf(p.PSN == psn), true, p.Opcode.String()
	}
	in := rc.Packet{Opcode: p.Opcode, Syndrome: p.Synd, PSN: p.PSN, MSN: p.Len}
	if how = answers(&in, psn); how == transport.Covers && !p.Synd.IsGood() {
		about, _ := missing(&in)
		return how, false, fmt.Sprintf("ACK by a NAK of PSN %d", about)
	}
	if p.Synd.IsGood() {
		return how, false, roce.Ack.String()
	}
	return how, false, p.Synd.String()
}

// answers returns how an answer of RC refers to the request of a PSN (package rc). An ACK covers all up to its PSN,
// and every other answer all before it.
func answers(p *rc.Packet, psn uint32) transport.Reference {
	if about, ok := p.About(); ok && about == psn && p.Syndrome == roce.AckNamed {
		return transport.Names
	}
	if d := roce.PSNDiff(psn, p.PSN); d < 0 || d == 0 && p.Syndrome.IsAck() {
		return transport.Covers
	}
	switch {
	case p.Syndrome == roce.NakGap && (p.PSN+p.MSN>>8)&roce.PSNMask == psn: // the last that is here
		return transport.Covers
	case p.Syndrome.IsGood():
		return transport.None
	}
	first, n := missing(p)
	return namesIf((psn-first)&roce.PSNMask < uint32(n))
}

// missing returns the run of packets of a NAK: those that it lists, or the expected one.
func missing(p *rc.Packet) (first uint32, n int) {
	if p.Syndrome.Names() {
		return p.Missing()
	}
	return p.PSN, 1
}

func namesIf(is bool) transport.Reference {
	if is {
		return transport.Names
	}
	return transport.None
}

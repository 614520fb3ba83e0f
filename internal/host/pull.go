package host

import (
	"railyard/internal/fabric"
	"railyard/roce"
)

// rxPulled takes data, or the headers of it, of connections some of whose receivers pull (NDP): what comes
// makes room for one packet more, in its turn. A sender says of the packet behind which it has nothing
// more to send that this is so (FlagEcho; BECN on the wire). When everything up to there is in, what is
// still to be pulled would come to nothing, and gives way to others.
func (h *Hosts) rxPulled(port int32, p *fabric.Packet) {
	c := p.QP
	r := &h.receivers[c]
	if !h.cfg.Services[r.service].Credit.Pulls {
		h.rxData(port, p)
		return
	}
	if whole := p.Flags&fabric.FlagTrimmed == 0; whole {
		if last := p.Flags&fabric.FlagEcho != 0; last {
			r.final, r.ends = p.PSN, true
		} else if r.ends && roce.PSNDiff(p.PSN, r.final) > 0 {
			r.ends = false // there was more
		}
	}
	h.rxData(port, p) // which may move packets
	r = &h.receivers[c]
	if r.ends {
		if _, _, expect := r.qp.Sequence(); roce.PSNDiff(expect, r.final) > 0 {
			h.nics[h.senders[c].dst].granter.Drop(r.flow)
			return
		}
	}
	h.Needs(c, port, h.cfg.RC.Wire())
}

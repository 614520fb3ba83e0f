package scenario

import (
	"math/bits"
	"slices"

	"railyard/internal/field"
	"railyard/internal/swconf"
	"railyard/internal/topo"
	"railyard/rc"
	"railyard/unit"
)

func (p *resolver) transport() error {
	t := &p.File.Transport
	p.QPs = t.QPs
	p.RC = rc.Config{MTU: t.MTU, AlwaysReady: true, WriteOnly: t.Write == "only",
		AckEvery: t.AckEvery, Timeout: rc.LocalAckTimeout(t.Timeout),
		Retries: t.Retries, Window: t.Window, NakAfter: t.NakAfter}
	if n, ok := p.LBValues["ack_every"].(int); ok && n > 0 {
		p.RC.AckEvery = min(p.RC.AckEvery, n)
	}
	if t.Recovery == "selective" {
		p.RC.Recovery = rc.Selective
		p.RC.Named = p.LB.NIC != nil && p.LB.NIC.Hears
		for _, s := range p.Services { // marks are reported per packet
			p.RC.Named = p.RC.Named || s.CC.Marks
		}
	}
	if err := p.RC.Validate(); err != nil {
		return field.Under("transport", err)
	}
	if room := p.smallestMTU() - p.headers(); p.Default().Carried == nil && unit.Bytes(t.MTU) > room {
		return field.New("transport.mtu", "%d bytes and up to %d of headers (WRITE Only with immediate) do not fit the switches' mtu of %v; accepted: at most %d",
			t.MTU, p.headers(), p.smallestMTU(), 1<<(bits.Len64(uint64(max(room, 1)))-1))
	}
	if p.Mixes() {
		p.note("spraying reorders packets and go-back-N treats every gap as loss, which at a message's end only the time-out of %v finds; transport.recovery selective with write only places packets in any order", p.RC.Timeout)
	}
	return nil
}

// headers returns what RoCEv2 adds at most to a path MTU of payload.
func (p *Plan) headers() unit.Bytes { return swconf.Headers + p.MoreIP() }

// Mixes reports whether packets of one flow may overtake one another at receivers that treat reordering as loss.
func (p *Plan) Mixes() bool {
	return p.RC.Recovery == rc.GoBackN && p.Default().Carried == nil && p.Overtakes()
}

// Overtakes reports whether packets of one queue pair may overtake one another.
func (p *Plan) Overtakes() bool {
	if p.Tunnel != nil || p.doc != nil && p.doc.tunnels() { // the far edge passes packets on in order
		return false
	}
	bundles := func(n topo.NIC) bool { return p.NICs.Bond == "spray" && len(n.Links) > 1 }
	return p.LB.Reorders(p.LBValues) || slices.ContainsFunc(p.Graph.NICs, bundles)
}

// Reorders reports whether the memory of NICs for packets that overtook others may limit the run.
func (p *Plan) Reorders() bool {
	o, local := &p.NICs.Reorder, p.NICs.Reorder.Placement == rc.ThroughNIC
	limits := o.Bytes > 0 || o.Entries > 0 || o.Placement != rc.ByAddress
	keeps := p.Default().Carried == nil && p.RC.Recovery != rc.GoBackN && (local || !p.RC.WriteOnly)
	return limits && keeps && p.Overtakes()
}

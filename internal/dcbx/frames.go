package dcbx

import (
	"fmt"

	"railyard/internal/swconf"
	"railyard/roce"
	"railyard/unit"
)

// Times of frames: a port sends one immediately, and another a second after its operational state has changed
// (802.1AB's fast transmission).
const (
	first  = 0
	second = unit.Second
	ttl    = 121 // seconds, four intervals of 30 and one
)

// feature flags of CEE.
const (
	ceeEnable  = 0x80
	ceeWilling = 0x40
	ceeError   = 0x20
)

// ends returns the sender and receiver of one direction.
func (r *Result) ends(fromA bool) (me, far *Station) {
	if fromA {
		return &r.A, &r.B
	}
	return &r.B, &r.A
}

// hello is the first frame: the initial configuration.
func (r *Result) hello(fromA bool) {
	me, far := r.ends(fromA)
	if !me.LLDP {
		return
	}
	at := unit.Time(first)
	if !fromA {
		at += 10 * unit.Microsecond
	}
	v := me.Version
	if v == Auto && far.LLDP && far.Version == CEE && !fromA {
		v = CEE // CEE: the port has received the neighbor's frame
	} else if v == Auto {
		v = IEEE
	}
	r.send(fromA, at, v, me.Enable, false, 0, fmt.Sprintf("%s: PFC %s by configuration, %s", me.Name,
		swconf.Priorities(me.Enable), willing(me)))
}

func willing(s *Station) string {
	if s.Willing {
		return "willing"
	}
	return "not willing"
}

// answer is the frame that follows a change caused by the neighbour's frame. CEE always acknowledges.
func (r *Result) answer(fromA bool) {
	me, _ := r.ends(fromA)
	oper, why := r.OperA, r.WhyA
	if !fromA {
		oper, why = r.OperB, r.WhyB
	}
	changed := oper != me.Enable || me.Version == Auto && r.Version == CEE && fromA
	if r.Version == None || !changed && r.Version != CEE {
		return
	}
	at := unit.Time(second)
	if !fromA {
		at += 10 * unit.Microsecond
	}
	r.send(fromA, at, r.Version, oper, oper == 0 && me.Enable != 0, 1,
		fmt.Sprintf("%s: PFC %s in operation (%s)", me.Name, swconf.Priorities(oper), why))
}

// send builds an LLDP frame.
func (r *Result) send(fromA bool, at unit.Time, v Version, enable uint8, bad bool, ack uint32, comment string) {
	me, _ := r.ends(fromA)
	l := roce.LLDP{ChassisSubtype: 4, ChassisID: me.MAC[:], PortSubtype: 5, PortID: []byte(clip(me.Port)),
		TTL: ttl, SystemName: []byte(clip(me.System))}
	switch v {
	case IEEE:
		l.Has = roce.HasETS | roce.HasRecommendation | roce.HasPFC
		l.ETS, l.Recommended = me.ETS, me.ETS
		l.ETS.Willing = me.Willing
		l.Recommended.Willing, l.Recommended.MaxTCs = false, 0
		l.PFC = roce.PFCConfig{Willing: me.Willing, Cap: 8, Enable: enable}
		if len(me.Apps) > 0 {
			l.Has |= roce.HasApps
			l.Apps = me.Apps
		}
	case CEE:
		l.Has = roce.HasCEE
		l.CEE = r.cee(me, enable, bad, ack)
	}
	f := roce.Frame{Kind: roce.KindLLDP, Ethernet: roce.Ethernet{Dst: roce.LLDPAddress, Src: me.MAC,
		Type: roce.TypeLLDP}}
	f.LLDP = l.Append(nil)
	b := f.Append(nil)
	for len(b) < 60 { // the least an Ethernet frame has, without FCS
		b = append(b, 0)
	}
	r.Frames = append(r.Frames, Frame{At: at, FromA: fromA, Bytes: b, Comment: comment})
}

func (r *Result) cee(me *Station, enable uint8, bad bool, ack uint32) roce.CEE {
	flags := uint8(ceeEnable)
	if me.Willing {
		flags |= ceeWilling
	}
	c := roce.CEE{Seq: 1, Ack: ack, PGFlags: flags, PGClasses: 8, PFCFlags: flags, PFCEnable: enable,
		PFCCap: 8, Features: 1<<2 | 1<<3}
	if bad {
		c.PFCFlags |= ceeError
	}
	for i := range c.PGID {
		c.PGID[i] = me.ETS.Class[i]
		if me.ETS.Selection[i] == 0 {
			c.PGID[i] = 15 // strict
		}
	}
	c.PGPercent = me.ETS.Percent
	return c
}

// maxName bounds a name in a TLV (802.1AB: 255 bytes).
const maxName = 255

func clip(s string) string { return s[:min(len(s), maxName)] }

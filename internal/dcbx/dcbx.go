// Package dcbx simulates the DCBX exchange of two neighbours from their configurations. It computes the LLDP frames
// that they send, the resulting PFC of each port, and whether the neighbours agree. IEEE 802.1Q (annex D and clause
// 38) and the older CEE form, DCBX 1.01, that some Nexus models support (source document, "LLDP with DCBX").
package dcbx

import (
	"fmt"

	"railyard/internal/swconf"
	"railyard/roce"
	"railyard/unit"
)

// Version is a form of DCBX.
type Version uint8

// Versions. A port in Auto sends IEEE and falls back to CEE if the neighbour supports only that.
const (
	None Version = iota
	IEEE
	CEE
	Auto
)

func (v Version) String() string { return [...]string{"none", "ieee", "cee", "auto"}[v] }

// Station is the initial state of one end of a cable.
type Station struct {
	Name    string // leaf-1 Ethernet1/3
	System  string
	Port    string
	MAC     roce.MAC
	LLDP    bool
	Version Version
	Mode    swconf.PFCMode
	Willing bool
	Enable  uint8 // PFC priorities by configuration
	ETS     roce.ETS
	Apps    []roce.AppPriority
}

// FromPort is a configured switch port as a station. index makes its MAC address
// unique.
func FromPort(c *swconf.Config, p *swconf.Port, dataDSCP, cnpDSCP, index int) Station {
	s := Station{Name: c.Name() + " " + p.Name, System: c.Name(), Port: p.Name, MAC: mac(0x10, index),
		LLDP:    c.LLDP.V && !p.LLDPOff.V,
		Version: IEEE, Mode: p.PFC.V} // switches announce, they are not willing
	switch {
	case c.OS == swconf.SONiC || c.OS == swconf.FRR:
		s.Version = None // Version None: LLDP daemons carry no DCBX
	case p.DCBX.V == "cee":
		s.Version = CEE
	case p.DCBX.V == "auto" || c.OS == swconf.NXOS && !p.DCBX.Is():
		s.Version = Auto
	case p.DCBX.V == "none" || c.OS == swconf.EOS && !p.DCBX.Is():
		s.Version = None
	}
	q := p.QoS
	if q == nil {
		return s
	}
	if p.PFC.V != swconf.PFCOff {
		s.Enable = p.Paused()
	}
	s.ETS = ets(q)
	data, cnp := q.DSCP[dataDSCP&63], q.DSCP[cnpDSCP&63]
	if data.Is() {
		s.Apps = append(s.Apps, roce.AppPriority{Priority: data.V, Sel: 3, Protocol: roce.Port},
			roce.AppPriority{Priority: data.V, Sel: 5, Protocol: uint16(dataDSCP)})
	}
	if cnp.Is() {
		s.Apps = append(s.Apps, roce.AppPriority{Priority: cnp.V, Sel: 5, Protocol: uint16(cnpDSCP)})
	}
	return s
}

// NIC is a server's port: DCBX in firmware, willing to do as the switch does.
func NIC(name, port string, index int, willing bool, enable uint8) Station {
	s := Station{Name: name + " " + port, System: name, Port: port, MAC: mac(0x20, index), LLDP: true,
		Version: Auto, Mode: swconf.PFCAuto, Willing: willing, Enable: enable}
	s.ETS.MaxTCs = 0 // 0 means eight
	s.ETS.Percent[0] = 100
	for i := range s.ETS.Selection {
		s.ETS.Selection[i] = 2
	}
	return s
}

// mac is a locally administered address.
func mac(kind byte, index int) roce.MAC {
	return roce.MAC{0x02, kind, byte(index >> 24), byte(index >> 16), byte(index >> 8), byte(index)}
}

// ets returns the class of each priority and the shares of the bandwidth. Queues are traffic classes of their
// number, and shares add up to 100 as the standard requires: the rest is assigned to class 0.
func ets(q *swconf.QoS) (e roce.ETS) {
	sum := 0
	for i := range q.Queues {
		k := &q.Queues[i]
		e.Class[i] = uint8(i)
		if k.Strict.V {
			continue // selection 0: strict
		}
		e.Selection[i] = 2
		share := min(max(k.Share.V, 0), 100-sum)
		e.Percent[i] = uint8(share)
		sum += share
	}
	e.Percent[0] += uint8(100 - sum)
	return e
}

// Frame is one LLDP frame of an exchange.
type Frame struct {
	At      unit.Time
	FromA   bool
	Bytes   []byte // without FCS
	Comment string
}

// Result is the result of an exchange.
type Result struct {
	A, B       Station
	Version    Version // common version
	OperA      uint8   // PFC priorities in operation
	OperB      uint8
	WhyA, WhyB string
	Problems   []string
	Frames     []Frame
}

// OK reports whether both ends do the same and nothing is wrong.
func (r *Result) OK() bool { return len(r.Problems) == 0 }

// Exchange plays the exchange.
func Exchange(a, b Station) *Result {
	r := &Result{A: a, B: b, Version: common(a, b)}
	r.hello(true)
	r.hello(false)
	r.OperA, r.WhyA = operate(a, b, r.Version)
	r.OperB, r.WhyB = operate(b, a, r.Version)
	r.answer(true)
	r.answer(false)
	r.judge()
	return r
}

// hears reports whether DCBX of b reaches a.
func hears(a, b Station) bool { return a.LLDP && b.LLDP && b.Version != None && a.Version != None }

// common is the version both ends use.
func common(a, b Station) Version {
	switch {
	case !hears(a, b):
		return None
	case a.Version == Auto && b.Version == Auto:
		return IEEE
	case a.Version == Auto:
		return b.Version
	case b.Version == Auto, a.Version == b.Version:
		return a.Version
	}
	return None
}

// operate is the PFC state of one end. A symmetric parameter: a willing end adopts the neighbour's value if the
// neighbour is not willing. If both are willing, the end with the lower MAC address keeps its own (802.1Q 38.4.2).
// CEE turns the feature off when neither is willing and they differ (DCBX 1.01, 3.1.4).
func operate(s, peer Station, v Version) (uint8, string) {
	switch {
	case s.Mode == swconf.PFCOff:
		return 0, "PFC is off"
	case s.Mode == swconf.PFCOn:
		return s.Enable, "forced on"
	case v == None:
		return 0, "no DCBX from the neighbour"
	case s.Willing && !peer.Willing:
		return peer.Enable, "willing, takes the neighbour's"
	case s.Willing && lower(peer.MAC, s.MAC):
		return peer.Enable, "both willing, the lower MAC address decides"
	case !s.Willing && !peer.Willing && v == CEE && s.Enable != peer.Enable:
		return 0, "not compatible, CEE turns PFC off"
	}
	return s.Enable, "its own"
}

func lower(a, b roce.MAC) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// judge lists the errors.
func (r *Result) judge() {
	say := func(format string, args ...any) { r.Problems = append(r.Problems, fmt.Sprintf(format, args...)) }
	for _, s := range []struct{ me, far Station }{{r.A, r.B}, {r.B, r.A}} {
		if s.me.Mode != swconf.PFCAuto || s.me.Enable == 0 {
			continue
		}
		switch {
		case !s.me.LLDP:
			say("%s negotiates PFC with LLDP off", s.me.Name)
		case s.me.Version == None:
			say("%s negotiates PFC and sends no DCBX", s.me.Name)
		case !s.far.LLDP:
			say("%s receives no LLDP from %s", s.me.Name, s.far.Name)
		case s.far.Version == None:
			say("%s receives no DCBX from %s", s.me.Name, s.far.Name)
		case r.Version == None:
			say("%s speaks %v, %s speaks %v", s.me.Name, s.me.Version, s.far.Name, s.far.Version)
		}
	}
	if r.OperA != r.OperB {
		say("%s pauses priorities %s, %s pauses %s", r.A.Name, swconf.Priorities(r.OperA), r.B.Name,
			swconf.Priorities(r.OperB))
	} else if want := r.A.Enable | r.B.Enable; want != 0 && r.OperA == 0 {
		say("PFC is configured for priorities %s and works on neither end", swconf.Priorities(want))
	}
}

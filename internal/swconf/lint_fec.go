package swconf

import (
	"strings"

	"railyard/unit"
)

// fecOf maps the names in configurations to codes: NX-OS's fec, EOS's error-correction encoding, SONiC's PORT.fec,
// NVUE's link fec, Junos's ether-options fec, ifupdown's link-fec and ethtool --set-fec. Reed-Solomon has several
// codes, and a link's speed and lanes select one (IEEE 802.3 clauses 91, 108, 119, 134), so two ends configured for
// it agree. Names not listed, such as auto, set no code.
var fecOf = map[string]string{
	"rs": "RS-FEC", "rs-fec": "RS-FEC", "rs-cons16": "RS-FEC", "rs-ieee": "RS-FEC", "reed-solomon": "RS-FEC",
	"fec91": "RS-FEC", "fec119": "RS-FEC",
	"fc": "FC-FEC", "fc-fec": "FC-FEC", "fire-code": "FC-FEC", "baser": "FC-FEC", "fec74": "FC-FEC",
	"llrs": "LL-RS-FEC",
	"off":  "no FEC", "none": "no FEC",
}

// codeOf returns the configured code, "" if none is set.
func codeOf(s Said[string]) string {
	if !s.Is() {
		return ""
	}
	return fecOf[strings.ToLower(s.V)]
}

// needsRS reports a port of 400 Gbit/s or more without RS-FEC, which is part of its physical coding (IEEE 802.3 clauses
// 119 and 172).
func needsRS(p *Port) bool {
	x := codeOf(p.FEC)
	return x != "" && !strings.Contains(x, "RS") && p.Speed.V >= 400*unit.Gbps && !p.Down.V
}

// fecDiffers finds links whose ends have different codes, and ports that need RS-FEC.
func (l *linter) fecDiffers() {
	for _, c := range l.Configs {
		for _, p := range c.Ports {
			if needsRS(p) {
				x := codeOf(p.FEC)
				l.advise(p.FEC.At, "RS-FEC", "%s runs at %v, and is set to %s (%s)", p.Name, p.Speed.V.Show(), x,
					p.FEC.V)
			}
		}
	}
	l.cables(func(a, b *end) {
		if a.port == nil || b.port == nil || a.port.Down.V || b.port.Down.V || needsRS(a.port) || needsRS(b.port) {
			return
		}
		x, y := codeOf(a.port.FEC), codeOf(b.port.FEC)
		if x != "" && y != "" && x != y {
			l.say(a.port.FEC.At, "the same code at both ends; RS-FEC where lanes run at 50 Gbit/s or more",
				"%s is set to %s (%s), its neighbor %s to %s (%s)", a.port.Name, x, a.port.FEC.V, a.far(), y,
				b.port.FEC.V)
		}
	})
}

// negoDiffers finds links of which one end negotiates and the other has negotiation disabled.
func (l *linter) negoDiffers() {
	l.cables(func(a, b *end) {
		if a.port == nil || b.port == nil || !a.port.Nego.Is() || !b.port.Nego.Is() ||
			a.port.Nego.V == b.port.Nego.V {
			return
		}
		does := map[bool]string{true: "negotiates speed and FEC", false: "does not negotiate"}
		l.say(a.port.Nego.At, "the same at both ends", "%s %s, its neighbour %s %s", a.port.Name,
			does[a.port.Nego.V], a.far(), does[b.port.Nego.V])
	})
}

// hostFEC finds NICs with another code than the ports to which they may be connected.
func (l *linter) hostFEC() {
	l.hosts(func(x *hosted, n *HostNIC) {
		code := codeOf(n.FEC)
		if code == "" {
			return
		}
		s, where := x.wrong(func(s side) bool {
			other := s.code(x.cabled)
			return other != "" && other != code
		})
		if where != "" {
			x.fault(n, n.FEC.At, "the same code at both ends", "is set to %s (%s), and %s %s", code, n.FEC.V,
				where, s.code(x.cabled))
		}
	})
}

// code returns the code of the port or, without a link to it, the common one of all ports that set any.
func (s side) code(cabled bool) (code string) {
	if cabled {
		if s.port == nil {
			return ""
		}
		return codeOf(s.port.FEC)
	}
	for _, p := range s.c.Ports {
		switch c := codeOf(p.FEC); {
		case c == "" || p.Down.V || c == code:
		case code != "":
			return ""
		default:
			code = c
		}
	}
	return code
}

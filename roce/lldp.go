package roce

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// LLDPAddress is the nearest-bridge multicast address of LLDP.
var LLDPAddress = MAC{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e}

// LLDP is the announcement of a neighbour (IEEE 802.1AB clause 8), as far as a RoCE fabric needs it. It has its
// identity and its DCBX parameters, in the IEEE form (802.1Q annex D.2.8 to D.2.11) and in the older CEE form. Has
// is the set of TLVs that are present. Byte slices lie in the decoded input.
type LLDP struct {
	ChassisSubtype uint8 // 4: MAC address
	ChassisID      []byte
	PortSubtype    uint8 // 5: interface name
	PortID         []byte
	TTL            uint16 // seconds
	PortDesc       []byte
	SystemName     []byte
	Has            DCBX
	ETS            ETS // configuration
	Recommended    ETS // recommendation
	PFC            PFCConfig
	Apps           []AppPriority // Decode reuses its capacity
	CEE            CEE
}

// DCBX is the set of DCBX parts of an LLDP frame.
type DCBX uint8

// Parts.
const (
	HasETS DCBX = 1 << iota
	HasRecommendation
	HasPFC
	HasApps
	HasCEE
)

// ETS is enhanced transmission selection: which traffic class each priority
// belongs to, and each class's share in per cent and selection algorithm.
type ETS struct {
	Willing   bool // configuration only
	CreditBS  bool // configuration only: credit-based shaper supported
	MaxTCs    uint8
	Class     [8]uint8 // by priority, 0 to 7
	Percent   [8]uint8 // by class, adding up to 100
	Selection [8]uint8 // by class: 0 strict, 1 credit-based, 2 ETS, 255 vendor
}

// PFCConfig is the priority flow control configuration.
type PFCConfig struct {
	Willing bool
	MBC     bool  // MACsec bypass capability
	Cap     uint8 // number of classes with PFC at the same time, 0 to 15
	Enable  uint8 // bit p enables priority p
}

// AppPriority maps a protocol to a priority. Sel 1: EtherType, 2: TCP or SCTP
// port, 3: UDP port, 4: any of these ports, 5: DSCP.
type AppPriority struct {
	Priority uint8
	Sel      uint8
	Protocol uint16
}

// CEE is DCBX version 1.01, from before IEEE standardized it. Feature flags are 0x80 enable, 0x40 willing, 0x20
// error.
type CEE struct {
	Seq, Ack  uint32
	PGFlags   uint8
	PGID      [8]uint8 // by priority; 15 is strict
	PGPercent [8]uint8
	PGClasses uint8
	PFCFlags  uint8
	PFCEnable uint8
	PFCCap    uint8
	AppFlags  uint8
	Apps      []CEEApp
	Features  uint8 // bit 2: priority groups, 3: PFC, 4: applications
}

// CEEApp maps an EtherType (Sel 0) or a port (Sel 1) to a set of priorities.
type CEEApp struct {
	Protocol uint16
	Sel      uint8
	Map      uint8
}

// Feature types of CEE sub-TLVs.
const (
	ceeControl = 1
	ceePG      = 2
	ceePFC     = 3
	ceeApp     = 4
)

const (
	tlvEnd      = 0
	tlvChassis  = 1
	tlvPort     = 2
	tlvTTL      = 3
	tlvPortDesc = 4
	tlvSysName  = 5
	tlvOrg      = 127

	ouiIEEE = 0x0080c2
	ouiCEE  = 0x001b21

	ieeeETS         = 9
	ieeeRecommended = 10
	ieeePFC         = 11
	ieeeApp         = 12
)

// nextTLV removes the first TLV from b: seven bits of type, nine of length.
func nextTLV(b []byte) (typ uint8, value, rest []byte, err error) {
	if len(b) < 2 {
		return 0, nil, nil, ErrTruncated
	}
	h := binary.BigEndian.Uint16(b)
	n := int(h & 0x1ff)
	if len(b) < 2+n {
		return 0, nil, nil, ErrTruncated
	}
	return uint8(h >> 9), b[2 : 2+n], b[2+n:], nil
}

// Decode reads the TLVs of an LLDP frame (Frame.LLDP). Unknown TLVs are ignored; the three mandatory ones must be
// first (802.1AB 8.2).
func (l *LLDP) Decode(b []byte) error {
	*l = LLDP{Apps: l.Apps[:0], CEE: CEE{Apps: l.CEE.Apps[:0]}}
	for i := 1; ; i++ {
		typ, v, rest, err := nextTLV(b)
		if err != nil {
			return err
		}
		b = rest
		if i <= 3 && int(typ) != i {
			return ErrTLV
		}
		switch typ {
		case tlvEnd:
			return nil
		case tlvChassis, tlvPort:
			if len(v) < 2 {
				return ErrTLV
			}
			if typ == tlvChassis {
				l.ChassisSubtype, l.ChassisID = v[0], v[1:]
			} else {
				l.PortSubtype, l.PortID = v[0], v[1:]
			}
		case tlvTTL:
			if len(v) < 2 {
				return ErrTLV
			}
			l.TTL = binary.BigEndian.Uint16(v)
		case tlvPortDesc:
			l.PortDesc = v
		case tlvSysName:
			l.SystemName = v
		case tlvOrg:
			if err := l.organisation(v); err != nil {
				return err
			}
		}
	}
}

func (l *LLDP) organisation(v []byte) error {
	if len(v) < 4 {
		return ErrTLV
	}
	oui, sub := uint32(v[0])<<16|uint32(v[1])<<8|uint32(v[2]), v[3]
	v = v[4:]
	switch {
	case oui == ouiIEEE && (sub == ieeeETS || sub == ieeeRecommended):
		if len(v) < 21 {
			return ErrTLV
		}
		e := ETS{}
		if sub == ieeeETS {
			e.Willing, e.CreditBS, e.MaxTCs = v[0]&0x80 != 0, v[0]&0x40 != 0, v[0]&7
		}
		nibbles(&e.Class, v[1:])
		copy(e.Percent[:], v[5:])
		copy(e.Selection[:], v[13:])
		if sub == ieeeETS {
			l.ETS, l.Has = e, l.Has|HasETS
		} else {
			l.Recommended, l.Has = e, l.Has|HasRecommendation
		}
	case oui == ouiIEEE && sub == ieeePFC:
		if len(v) < 2 {
			return ErrTLV
		}
		l.PFC = PFCConfig{v[0]&0x80 != 0, v[0]&0x40 != 0, v[0] & 15, v[1]}
		l.Has |= HasPFC
	case oui == ouiIEEE && sub == ieeeApp:
		if len(v) < 1 || (len(v)-1)%3 != 0 {
			return ErrTLV
		}
		for v = v[1:]; len(v) > 0; v = v[3:] {
			l.Apps = append(l.Apps, AppPriority{v[0] >> 5, v[0] & 7, binary.BigEndian.Uint16(v[1:])})
		}
		l.Has |= HasApps
	case oui == ouiCEE && sub == 2:
		l.Has |= HasCEE
		return l.CEE.decode(v)
	}
	return nil
}

// nibbles reads eight four-bit numbers, priority 0 first.
func nibbles(to *[8]uint8, b []byte) {
	for i := range to {
		to[i] = b[i/2] >> (4 * (1 - i%2)) & 15
	}
}

func appendNibbles(b []byte, from *[8]uint8) []byte {
	for i := 0; i < 8; i += 2 {
		b = append(b, from[i]<<4|from[i+1]&15)
	}
	return b
}

func (c *CEE) decode(b []byte) error {
	for len(b) > 0 {
		typ, v, rest, err := nextTLV(b)
		if err != nil {
			return err
		}
		b = rest
		if typ == ceeControl {
			if len(v) < 10 {
				return ErrTLV
			}
			c.Seq, c.Ack = binary.BigEndian.Uint32(v[2:]), binary.BigEndian.Uint32(v[6:])
			continue
		}
		if typ > ceeApp || typ == 0 {
			continue
		}
		if len(v) < 4 {
			return ErrTLV
		}
		flags := v[2]
		v = v[4:]
		c.Features |= 1 << typ
		switch typ {
		case ceePG:
			if len(v) < 13 {
				return ErrTLV
			}
			c.PGFlags, c.PGClasses = flags, v[12]
			nibbles(&c.PGID, v)
			copy(c.PGPercent[:], v[4:])
		case ceePFC:
			if len(v) < 2 {
				return ErrTLV
			}
			c.PFCFlags, c.PFCEnable, c.PFCCap = flags, v[0], v[1]
		case ceeApp:
			if len(v)%6 != 0 {
				return ErrTLV
			}
			for c.AppFlags = flags; len(v) > 0; v = v[6:] {
				c.Apps = append(c.Apps, CEEApp{binary.BigEndian.Uint16(v), v[2] & 3, v[5]})
			}
		}
	}
	return nil
}

// appendTLV appends a TLV whose value fill writes. Values longer than 511
// bytes do not fit the format and are cut by the caller's limits.
func appendTLV(b []byte, typ uint8, fill func([]byte) []byte) []byte {
	at := len(b)
	b = fill(append(b, 0, 0))
	binary.BigEndian.PutUint16(b[at:], uint16(typ)<<9|uint16(len(b)-at-2)&0x1ff)
	return b
}

func appendOrg(b []byte, oui uint32, sub uint8, fill func([]byte) []byte) []byte {
	return appendTLV(b, tlvOrg, func(b []byte) []byte {
		return fill(append(b, byte(oui>>16), byte(oui>>8), byte(oui), sub))
	})
}

// Append writes the TLVs: mandatory ones, names, then the DCBX parts in Has.
func (l *LLDP) Append(b []byte) []byte {
	id := func(sub uint8, id []byte) func([]byte) []byte {
		return func(b []byte) []byte { return append(append(b, sub), id...) }
	}
	b = appendTLV(b, tlvChassis, id(l.ChassisSubtype, l.ChassisID))
	b = appendTLV(b, tlvPort, id(l.PortSubtype, l.PortID))
	b = appendTLV(b, tlvTTL, func(b []byte) []byte { return binary.BigEndian.AppendUint16(b, l.TTL) })
	if len(l.PortDesc) > 0 {
		b = appendTLV(b, tlvPortDesc, func(b []byte) []byte { return append(b, l.PortDesc...) })
	}
	if len(l.SystemName) > 0 {
		b = appendTLV(b, tlvSysName, func(b []byte) []byte { return append(b, l.SystemName...) })
	}
	if l.Has&HasETS != 0 {
		b = appendOrg(b, ouiIEEE, ieeeETS, func(b []byte) []byte {
			return l.ETS.append(append(b, byte(bit(l.ETS.Willing, 7)|bit(l.ETS.CreditBS, 6))|l.ETS.MaxTCs&7))
		})
	}
	if l.Has&HasRecommendation != 0 {
		b = appendOrg(b, ouiIEEE, ieeeRecommended, func(b []byte) []byte {
			return l.Recommended.append(append(b, 0))
		})
	}
	if l.Has&HasPFC != 0 {
		b = appendOrg(b, ouiIEEE, ieeePFC, func(b []byte) []byte {
			return append(b, byte(bit(l.PFC.Willing, 7)|bit(l.PFC.MBC, 6))|l.PFC.Cap&15, l.PFC.Enable)
		})
	}
	if l.Has&HasApps != 0 {
		b = appendOrg(b, ouiIEEE, ieeeApp, func(b []byte) []byte {
			b = append(b, 0)
			for _, a := range l.Apps {
				b = binary.BigEndian.AppendUint16(append(b, a.Priority<<5|a.Sel&7), a.Protocol)
			}
			return b
		})
	}
	if l.Has&HasCEE != 0 {
		b = appendOrg(b, ouiCEE, 2, l.CEE.append)
	}
	return append(b, 0, 0)
}

func (e *ETS) append(b []byte) []byte {
	b = appendNibbles(b, &e.Class)
	return append(append(b, e.Percent[:]...), e.Selection[:]...)
}

func (c *CEE) append(b []byte) []byte {
	b = appendTLV(b, ceeControl, func(b []byte) []byte {
		b = binary.BigEndian.AppendUint32(append(b, 0, 0), c.Seq)
		return binary.BigEndian.AppendUint32(b, c.Ack)
	})
	if c.Features>>ceePG&1 != 0 {
		b = appendTLV(b, ceePG, func(b []byte) []byte {
			b = appendNibbles(append(b, 0, 0, c.PGFlags, 0), &c.PGID)
			return append(append(b, c.PGPercent[:]...), c.PGClasses)
		})
	}
	if c.Features>>ceePFC&1 != 0 {
		b = appendTLV(b, ceePFC, func(b []byte) []byte {
			return append(b, 0, 0, c.PFCFlags, 0, c.PFCEnable, c.PFCCap)
		})
	}
	if c.Features>>ceeApp&1 != 0 {
		b = appendTLV(b, ceeApp, func(b []byte) []byte {
			b = append(b, 0, 0, c.AppFlags, 0)
			for _, a := range c.Apps { // the OUI 00-1b-21 follows the selector's two bits
				b = append(binary.BigEndian.AppendUint16(b, a.Protocol), a.Sel&3, 0x1b, 0x21, a.Map)
			}
			return b
		})
	}
	return b
}

// String lists the parts that a RoCE operator compares between two ends.
func (l *LLDP) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "LLDP port %q system %q ttl %d", l.PortID, l.SystemName, l.TTL)
	ets := func(name string, e *ETS) { fmt.Fprintf(&s, " %s classes %v percent %v", name, e.Class, e.Percent) }
	if l.Has&HasETS != 0 {
		ets("ETS", &l.ETS)
	}
	if l.Has&HasRecommendation != 0 {
		ets("ETS recommended", &l.Recommended)
	}
	if l.Has&HasPFC != 0 {
		fmt.Fprintf(&s, " PFC enable %08b", l.PFC.Enable)
	}
	for _, a := range l.Apps {
		fmt.Fprintf(&s, " app sel %d protocol %d prio %d", a.Sel, a.Protocol, a.Priority)
	}
	if l.Has&HasCEE != 0 {
		fmt.Fprintf(&s, " CEE PG %v percent %v PFC %08b apps %d", l.CEE.PGID, l.CEE.PGPercent,
			l.CEE.PFCEnable, len(l.CEE.Apps))
	}
	return s.String()
}

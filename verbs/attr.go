package verbs

import (
	"fmt"
	"net/netip"
	"strings"

	"railyard/entropy"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// QPAttr are a queue pair's attributes. Modify takes the attributes that its mask names.
type QPAttr struct {
	State    State
	CurState State // the state that the caller takes the queue pair to be in

	Access Access // the peer's rights, in addition to the rights of regions

	PathMTU      int    // 256, 512, 1024, 2048 or 4096
	DestQPN      uint32 //
	RQPSN        uint32 // the PSN that the peer starts with
	DestAddr     netip.Addr
	Entropy      int   // number of UDP source ports with DestAddr; 1 per queue pair, more sprays packets over them
	MaxDestReads int   // outstanding READs and atomics that the peer may have
	MinRNRTimer  uint8 // timer code, roce.RNRTimer

	SQPSN      uint32     // the PSN that we start with
	Timeout    int        // local ACK timeout, 4.096 us x 2^n; 0 is never
	RetryCount int        // 0 to 7
	RNRRetry   int        // 0 to 7; 7 is endless
	MaxReads   int        // maximum of outstanding READs and atomics of this end
	InFlight   unit.Bytes // maximum of payload bytes in flight of this end

	SQDNotify bool // with SQD: raise EventSQDrained
	Draining  bool // set by Query, in SQD: data are still in flight
}

// Attr names attributes, as libibverbs' attr_mask does. Other attributes of verbs (P_Key index, port, alternate path)
// do not exist here.
type Attr uint32

// Attributes.
const (
	AttrState        Attr = 1 << iota // State
	AttrCurState                      // CurState
	AttrSQDNotify                     // SQDNotify
	AttrAccess                        // Access
	AttrAddr                          // DestAddr and Entropy: the address vector
	AttrPathMTU                       // PathMTU
	AttrTimeout                       // Timeout
	AttrRetryCount                    // RetryCount
	AttrRNRRetry                      // RNRRetry
	AttrRQPSN                         // RQPSN
	AttrMaxReads                      // MaxReads
	AttrMinRNRTimer                   // MinRNRTimer
	AttrSQPSN                         // SQPSN
	AttrMaxDestReads                  // MaxDestReads
	AttrDestQPN                       // DestQPN
	AttrInFlight                      // InFlight, not libibverbs'
)

var attrNames = [...]string{"State", "CurState", "SQDNotify", "Access", "DestAddr", "PathMTU", "Timeout",
	"RetryCount", "RNRRetry", "RQPSN", "MaxReads", "MinRNRTimer", "SQPSN", "MaxDestReads",
	"DestQPN", "InFlight"}

func (m Attr) String() string {
	var out []string
	for i, name := range attrNames {
		if m&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	if rest := m >> len(attrNames) << len(attrNames); rest != 0 {
		out = append(out, fmt.Sprintf("unknown attributes %#x", uint32(rest)))
	}
	if len(out) == 0 {
		return "no attribute"
	}
	return strings.Join(out, ", ")
}

// set copies the attributes in m that a queue pair keeps.
func (q *QPAttr) set(a *QPAttr, m Attr) {
	for i := range attrNames {
		switch m & (1 << i) {
		case AttrAccess:
			q.Access = a.Access
		case AttrAddr:
			q.DestAddr, q.Entropy = a.DestAddr.Unmap(), max(1, a.Entropy)
		case AttrPathMTU:
			q.PathMTU = a.PathMTU
		case AttrTimeout:
			q.Timeout = a.Timeout
		case AttrRetryCount:
			q.RetryCount = a.RetryCount
		case AttrRNRRetry:
			q.RNRRetry = a.RNRRetry
		case AttrRQPSN:
			q.RQPSN = a.RQPSN
		case AttrMaxReads:
			q.MaxReads = a.MaxReads
		case AttrMinRNRTimer:
			q.MinRNRTimer = a.MinRNRTimer
		case AttrSQPSN:
			q.SQPSN = a.SQPSN
		case AttrMaxDestReads:
			q.MaxDestReads = a.MaxDestReads
		case AttrDestQPN:
			q.DestQPN = a.DestQPN
		case AttrInFlight:
			q.InFlight = a.InFlight
		}
	}
}

// given returns the attributes that are not zero.
func (q *QPAttr) given() (m Attr) {
	for i := range attrNames {
		var one QPAttr
		if one.set(q, 1<<i); one.DestAddr.IsValid() || one != (QPAttr{Entropy: one.Entropy}) {
			m |= 1 << i
		}
	}
	if q.CurState != Reset {
		m |= AttrCurState
	}
	if q.SQDNotify {
		m |= AttrSQDNotify
	}
	return m
}

// into gives the transport the attributes in m.
func (q *QPAttr) into(c *rc.Config, m Attr) {
	for i := range attrNames {
		switch m & (1 << i) {
		case AttrAccess:
			c.Deny = (RemoteWrite | RemoteRead | RemoteAtomic) &^ q.Access
		case AttrPathMTU:
			c.MTU = q.PathMTU
		case AttrTimeout:
			c.Timeout = rc.LocalAckTimeout(q.Timeout)
		case AttrRetryCount:
			c.Retries = q.RetryCount
		case AttrRNRRetry:
			c.RNRRetries = q.RNRRetry
		case AttrMaxReads:
			c.Reads = q.MaxReads
		case AttrMinRNRTimer:
			c.RNRTimer = q.MinRNRTimer
		case AttrMaxDestReads:
			c.ReadsIn = q.MaxDestReads
		}
	}
}

// check refuses impossible values of the attributes in m.
func (q *QPAttr) check(m Attr, is4 bool) error {
	for _, c := range []struct {
		bit            Attr
		name           string
		v, least, most int64
	}{
		{AttrDestQPN, "the destination queue pair", int64(q.DestQPN), 1, roce.PSNMask},
		{AttrRQPSN, "the expected PSN", int64(q.RQPSN), 0, roce.PSNMask},
		{AttrSQPSN, "the first PSN", int64(q.SQPSN), 0, roce.PSNMask},
		{AttrAddr, "the entropy in source ports", int64(q.Entropy), 0, entropy.Most},
		{AttrMaxDestReads, "MaxDestReads", int64(q.MaxDestReads), 0, 128},
		{AttrMaxReads, "MaxReads", int64(q.MaxReads), 0, 128},
		{AttrMinRNRTimer, "MinRNRTimer", int64(q.MinRNRTimer), 0, 31},
		{AttrTimeout, "the timeout", int64(q.Timeout), 0, 31},
		{AttrRetryCount, "RetryCount", int64(q.RetryCount), 0, 7},
		{AttrRNRRetry, "RNRRetry", int64(q.RNRRetry), 0, 7},
		{AttrInFlight, "InFlight in bytes", int64(q.InFlight), 1, 1 << 40},
	} {
		if m&c.bit != 0 && (c.v < c.least || c.v > c.most) {
			return fmt.Errorf("%[4]d is out of range of %[1]s, %[2]d–%[3]d", c.name, c.least, c.most, c.v)
		}
	}
	const rights = LocalWrite | RemoteWrite | RemoteRead | RemoteAtomic
	if m&AttrAccess != 0 && q.Access&^rights != 0 {
		return fmt.Errorf("unknown access rights %#x", uint8(q.Access&^rights))
	}
	if m&AttrAddr != 0 && (!q.DestAddr.IsValid() || q.DestAddr.Unmap().Is4() != is4) {
		return fmt.Errorf("destination address %v is not of the device's family", q.DestAddr)
	}
	if m&AttrPathMTU == 0 {
		return nil
	}
	for _, n := range mtus {
		if q.PathMTU == n {
			return nil
		}
	}
	return fmt.Errorf("the path MTU is 256, 512, 1024, 2048 or 4096, found %d", q.PathMTU)
}

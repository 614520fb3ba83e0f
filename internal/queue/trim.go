package queue

import (
	"railyard/internal/field"
	"railyard/unit"
)

// Trim is packet trimming: the treatment of packets for which a queue that trims (Class.Trim) has no room. The
// switch trims them to their headers, sets a DSCP for trimmed packets and forwards them in that DSCP's queue. The
// receiver thus learns of the loss immediately. A packet no longer than Size, or without payload, is sent whole in
// that queue (SONiC's packet trimming; SAI's DROP_AND_TRIM; docs/references.md, trimming).
type Trim struct {
	Size unit.Bytes `json:"size_bytes" yaml:"size" range:"64B,16KiB" doc:"bytes that are left of a packet, Ethernet header to FCS (default 128B)"`
	DSCP uint8      `json:"dscp" yaml:"dscp" range:"0,63" doc:"DSCP of trimmed packets, whose queue has strict priority (default 48)"`
	// With LastHop a receiver distinguishes its own congestion from the fabric's.
	LastHop uint8 `json:"last_hop_dscp" yaml:"last_hop_dscp" range:"0,63" doc:"DSCP of packets trimmed on their way out to a server (default dscp)"`
	// NDP's switches do so (Handley et al. 2017, section 3.2.2); otherwise the arriving packet is trimmed.
	Either bool `json:"either" yaml:"either" doc:"one time in two the packet before it is trimmed instead, against phase effects (default false)"`
}

// Silent sets the defaults for configurations in which only queues enable trimming: SONiC's packet size, and the class
// of CNPs, which has strict priority.
func (t *Trim) Silent() { *t = Trim{Size: 128, DSCP: 48, LastHop: 48} }

// MinTrim is the minimum length of a trimmed packet: Ethernet's smallest frame, which has room for Ethernet, IPv4,
// UDP, BTH and FCS (58 bytes).
const MinTrim = 64 * unit.Byte

// TrimMask returns the bit set of classes that trim.
func (s *Spec) TrimMask() (m uint8) {
	for i := range s.Queues {
		if s.Queues[i].Trim {
			m |= 1 << i
		}
	}
	return m
}

// trims checks the settings of trimming if a queue trims.
func (s *Spec) trims() error {
	t := &s.Trim
	if s.TrimMask() == 0 {
		return nil
	}
	if t.Size < MinTrim {
		return field.New("trim.size", "%v is less than %v, the smallest frame: Ethernet, IPv4, UDP and BTH take 58 bytes with the FCS", t.Size, MinTrim)
	}
	if t.Size >= s.MTU {
		return field.New("trim.size", "%v cuts nothing off frames of at most %v (mtu)", t.Size, s.MTU)
	}
	for _, d := range []struct {
		name string
		dscp uint8
	}{{"trim.dscp", t.DSCP}, {"trim.last_hop_dscp", t.LastHop}} {
		if d.dscp > 63 {
			return field.New(d.name, "is not a DSCP; they are 0 to 63")
		}
		q := s.DSCP[d.dscp]
		switch k := &s.Queues[q]; {
		case !k.Strict:
			return field.New(d.name, "DSCP %d goes to queue %d, which has no strict priority: trimmed headers would queue after the data that they report", d.dscp, q)
		case k.Lossless:
			return field.New(d.name, "DSCP %d goes to queue %d, which is lossless: headers would pause their senders", d.dscp, q)
		case k.Trim:
			return field.New(d.name, "DSCP %d goes to queue %d, which trims itself: headers cannot be cut again", d.dscp, q)
		}
	}
	return nil
}

// Room returns the maximum bytes of a lossy class of a port: its limit, or its share of an empty buffer.
func (s *Spec) Room(class int) unit.Bytes {
	c := &s.Queues[class]
	if c.Limit > 0 {
		return c.Limit
	}
	return unit.Bytes(c.Alpha * float64(s.Buffer))
}

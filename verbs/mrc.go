package verbs

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"railyard/cc"
	"railyard/rc"
	"railyard/rcudp"
	"railyard/transport"
	"railyard/transport/protocols"
	"railyard/unit"
)

// Transports of queue pairs.
const (
	RC  = "rc"
	MRC = "mrc"
)

// Transports lists them.
func Transports() []string { return []string{RC, MRC} }

// carrier is the protocol of queue pairs other than RC.
var carrier = protocols.All.Lookup(MRC)

// mrcPorts is the number of source ports, entropy values, that a device opens for its queue pairs of MRC.
const mrcPorts = 64

// MRCInfo is the announcement of an MRC end to its peer.
type MRCInfo struct {
	Range      int          `json:"psn_range"`  // number of packets that it tracks after the first missing one
	Immediates int          `json:"immediates"` // WRITEs with immediate that may be in flight to it
	Planes     []netip.Addr `json:"planes,omitempty"`
}

// mrcAttr are the additional attributes of an MRC queue pair.
type mrcAttr struct {
	make    cc.Make
	peer    MRCInfo
	timeout int // timeout as in RC's attribute, until the path is known
}

// multipath checks the transport of a new queue pair: nil for RC.
func (d *Device) multipath(transport string) (*mrcAttr, error) {
	switch transport = cmp.Or(transport, d.cfg.Transport); transport {
	case "", RC:
		return nil, nil
	case MRC:
	default:
		return nil, fmt.Errorf("a queue pair is %s, found %q", strings.Join(Transports(), " or "), transport)
	}
	c, err := cc.Parse(cmp.Or(d.cfg.CC, DefaultCC(transport)))
	if err != nil {
		return nil, err
	}
	if name := c.Name; !slices.Contains(carrier.Controls, name) {
		return nil, fmt.Errorf("MRC runs under %s, not under %s", strings.Join(carrier.Controls, ", "), name)
	}
	m := &mrcAttr{}
	m.make, err = c.Make(d.cfg.Line)
	return m, err
}

// announce returns the announcement to the peer; nil for RC.
func (qp *QP) announce() *MRCInfo {
	if qp.mrc == nil {
		return nil
	}
	return &MRCInfo{Range: carrier.Wire.Tracks(), Immediates: qp.init.MaxRecvWR,
		Planes: qp.pd.dev.cfg.Planes}
}

// learn stores the peer's announcement and the settings of both ends.
func (m *mrcAttr) learn(r *MRCInfo, o *ConnectOptions) {
	if m != nil && r != nil {
		m.peer, m.timeout = *r, o.Timeout
	}
}

// agrees returns why two ends cannot work together.
func (m *MRCInfo) agrees(r *MRCInfo) error {
	switch {
	case m == nil && r == nil:
		return nil
	case r == nil:
		return errors.New("the peer's queue pair is RC, the local one MRC")
	case m == nil:
		return errors.New("the peer's queue pair is MRC, the local one RC")
	case m.Range != r.Range:
		return fmt.Errorf("the peer tracks %d packets, we track %d: MRC needs the same at both ends", r.Range,
			m.Range)
	case max(1, len(m.Planes)) != max(1, len(r.Planes)):
		return fmt.Errorf("the peer has %s, we have %d", unit.Plural(max(1, len(r.Planes)), "plane"),
			max(1, len(m.Planes)))
	case r.Immediates < 1 || r.Immediates > 65535:
		return fmt.Errorf("the peer takes %d WRITEs with immediate at a time; 1 to 65535 can be", r.Immediates)
	}
	return nil
}

// owned returns a queue pair's own source ports; those of MRC belong to the device.
func (qp *QP) owned(ports []uint16) []uint16 {
	if qp.mrc != nil {
		return nil
	}
	return ports
}

// multipath makes MRC carry the queue pair, which has just stepped to RTR or RTS; the device is locked.
func (qp *QP) multipath(e *rcudp.Endpoint, a *QPAttr) error {
	if a.State == RTS {
		qp.conn.BeginMRC(a.SQPSN)
		return nil
	}
	d, c := qp.pd.dev, qp.conn
	if c.Peers = slices.Clone(qp.mrc.peer.Planes); len(c.Peers) > 0 && c.Peers[0] != c.Peer {
		return fmt.Errorf("the peer's first plane is %v, its address %v", c.Peers[0], c.Peer)
	}
	o := rcudp.MRCOptions{CC: qp.mrc.make, MTU: qp.cfg.MTU, Theirs: a.RQPSN,
		Seed: uint64(qp.QPN)<<24 | uint64(c.DestQPN)}
	o.Values = carrier.Wire.Values(transport.Sockets{Ports: len(c.Ports), Planes: max(1, len(d.cfg.Planes)),
		Segments: rcudp.Segments(o.MTU), Immediates: max(1, min(qp.mrc.peer.Immediates, qp.init.MaxRecvWR)),
		Timeout: rc.LocalAckTimeout(qp.mrc.timeout)})
	if err := e.CarryMRC(c, &o); err != nil {
		return fmt.Errorf("mrc: %w", err)
	}
	return nil
}

// Labels reports whether entropy values are sent with a flow label besides the source port.
func (d *Device) Labels() bool { return d.dev.Labels() }

// Counter returns a counter of an MRC queue pair, by the names that package mrc lists.
func (qp *QP) Counter(name string) (n int64, ok bool) {
	qp.do(func(*rcudp.Endpoint) { n, ok = qp.conn.Counter(name) })
	return n, ok
}

package verbs

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"railyard/cc"
	"railyard/entropy"
	"railyard/rc"
	"railyard/rcudp"
	"railyard/roce"
	"railyard/unit"
)

// DefaultLine is the default rate of a port.
const DefaultLine = 100 * unit.Gbps

// DeviceConfig opens a device. Zero values take the defaults in brackets.
type DeviceConfig struct {
	Addr      netip.Addr
	Line      unit.Rate // rate of the port, for congestion control [100 Gbit/s]
	Paced     bool      // never send faster than Line
	Transport string    // transport of queue pairs without one, RC or MRC [RC]
	CC        string    // congestion control, as cc.Parse reads it [dcqcn; nscc for MRC]
	DataDSCP  *uint8    // data DSCP of data and acknowledgements [24]
	CNPDSCP   *uint8    // DSCP of congestion notifications [48]
	NoOffload bool      // no UDP segmentation offload: each packet is one datagram
	// store packets that arrive out of order, as IRN does; Connect negotiates it with the peer
	Selective bool
	Planes    []netip.Addr // ours on each plane, for queue pairs of MRC, Addr first [Addr alone]
	NoLabels  bool         // entropy values of MRC over IPv6 in the source port alone
	WriteOnly bool         // an address in every WRITE packet, for spraying
	// choice among several source ports, as parsed by entropy.Parse [in turn]
	LB       string
	InFlight unit.Bytes
	Tap      func(at time.Time, out bool, src, dst netip.AddrPort, tos uint8, id uint16, data []byte)
	// OnRate sees every change of a queue pair's sending rate, at a time since
	// the device was opened.
	OnRate func(qpn uint32, now unit.Time, r unit.Rate)
}

// Device is a RoCE device: one address of this host and its UDP port 4791.
type Device struct {
	cfg    DeviceConfig
	dev    *rcudp.Device
	make   cc.Make
	choose entropy.Make
	named  bool // acknowledgements are to name the packet that they answer
	far    bool // whether it requests reports of the peer's delay
	events chan AsyncEvent
	closed chan struct{}
	once   sync.Once

	mu   sync.Mutex
	keys map[uint32]bool
	qpns map[uint32]bool
}

// EventType is the kind of an asynchronous event.
type EventType int

// Events.
const (
	EventQPFatal   EventType = iota // a completion was lost, so the queue pair entered ERR
	EventSQDrained                  // a queue pair in SQD has nothing in flight
	EventCQError                    // a completion queue overflowed
	EventQPReqErr                   // the responder received an invalid request and entered ERR
	// the responder received an invalid key, range or right, and entered ERR
	EventQPAccessErr
	EventCommEst // the first packet reached a queue pair in RTR
)

var eventNames = [...]string{"QP_FATAL", "SQ_DRAINED", "CQ_ERR", "QP_REQ_ERR", "QP_ACCESS_ERR", "COMM_EST"}

func (e EventType) String() string {
	if e < 0 || int(e) >= len(eventNames) {
		return fmt.Sprintf("event %d", int(e))
	}
	return "IBV_EVENT_" + eventNames[e]
}

// AsyncEvent is an event outside a completion.
type AsyncEvent struct {
	Type EventType
	QP   *QP
	CQ   *CQ
}

// MTUs of the transport, largest first.
var mtus = [...]int{4096, 2048, 1024, 512, 256}

// OpenDevice binds the device's address.
func OpenDevice(cfg DeviceConfig) (*Device, error) {
	if cfg.Line == 0 {
		cfg.Line = DefaultLine
	}
	if cfg.InFlight == 0 {
		cfg.InFlight = 1 << 20
	}
	d := &Device{cfg: cfg, events: make(chan AsyncEvent, 256), closed: make(chan struct{}),
		keys: map[uint32]bool{}, qpns: map[uint32]bool{0: true, 1: true}}
	if err := d.regulate(); err != nil {
		return nil, err
	}
	dev, err := rcudp.Open(rcudp.Options{Config: rcudp.Config{Addr: cfg.Addr, Carrier: carrier, DataDSCP: cfg.DataDSCP,
		CNPDSCP: cfg.CNPDSCP, Planes: cfg.Planes},
		NoLabels: cfg.NoLabels, NoOffload: cfg.NoOffload, Tap: cfg.Tap})
	if err != nil {
		return nil, err
	}
	d.dev = dev
	return d, nil
}

// Close stops the device; queue pairs complete nothing more.
func (d *Device) Close() error {
	d.once.Do(func() { close(d.closed) })
	return d.dev.Close()
}

// alive refuses work on a closed device.
func (d *Device) alive() error {
	select {
	case <-d.closed:
		return ErrClosed
	default:
		return nil
	}
}

// Events delivers asynchronous events; events beyond 256 unread ones are dropped.
func (d *Device) Events() <-chan AsyncEvent { return d.events }

func (d *Device) event(e AsyncEvent) {
	select {
	case d.events <- e:
	default:
	}
}

// Addr returns the device's address.
func (d *Device) Addr() netip.Addr { return d.dev.Addr }

// Counters returns the port's counters, the datagrams that the kernel dropped for lack of receive buffer, and the
// datagrams that the kernel rejected on sending.
func (d *Device) Counters() (c rcudp.Counters, kernelDrops, unsent int64, why error) {
	return d.dev.Counters()
}

// PortMTU returns the largest path MTU whose packets fit the interface that
// carries the device's address.
func (d *Device) PortMTU() int {
	const headers = roce.IPv6Len + roce.UDPLen + roce.BTHLen + roce.AtomicETHLen + roce.ICRCLen
	frame := 1500
	ifs, _ := net.Interfaces()
	for _, i := range ifs {
		addrs, _ := i.Addrs()
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil &&
				(p.Addr() == d.Addr() || p.Contains(d.Addr()) && i.Flags&net.FlagLoopback != 0) {
				frame = i.MTU
			}
		}
	}
	for _, m := range mtus {
		if m+headers <= frame {
			return m
		}
	}
	return mtus[len(mtus)-1]
}

// random draws a number below limit that taken does not contain.
func random(taken map[uint32]bool, mask uint32) uint32 {
	for {
		var b [4]byte
		if _, err := rand.Read(b[:]); err != nil {
			panic(err) // the system has no randomness: nothing is safe
		}
		if n := binary.NativeEndian.Uint32(b[:]) & mask; n != 0 && !taken[n] {
			return n
		}
	}
}

// AllocPD returns a protection domain: regions and queue pairs of different
// domains do not meet.
func (d *Device) AllocPD() *PD { return &PD{dev: d, mem: rc.NewMemory(1), local: map[uint32]*MR{}} }

// DefaultCC is the default congestion control of a transport's queue pairs.
func DefaultCC(transport string) string {
	if transport == MRC {
		return carrier.CC
	}
	return "dcqcn"
}

// regulate parses the congestion control of queue pairs and their choice of source ports, and derives the contents of
// acknowledgements.
func (d *Device) regulate() error {
	lb := d.cfg.LB
	c, err := cc.Parse(cmp.Or(d.cfg.CC, DefaultCC(RC)))
	if err != nil {
		return err
	}
	if d.make, err = c.Make(d.cfg.Line); err != nil {
		return err
	}
	d.named, d.far = c.Marks, c.FarEnd
	if lb == "" {
		return nil
	}
	p, v, err := entropy.Parse(lb)
	if err != nil {
		return err
	}
	d.choose, d.named = p.New(v), d.named || p.Hears
	return nil
}

// controller creates a queue pair's congestion control, once its path is known; the path's length and switches are
// unknown.
func (d *Device) controller(c *rc.Config) cc.Controller {
	return d.make(cc.Path{Line: d.cfg.Line, MTU: unit.Bytes(c.MTU)})
}

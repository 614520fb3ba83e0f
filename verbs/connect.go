package verbs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"railyard/rc"
	"railyard/rcudp"
	"railyard/roce"
	"railyard/unit"
)

// Info is the message that two ends exchange over TCP before RDMA starts: their queue pair, its first PSN, and the
// memory that the peer may access.
type Info struct {
	QPN   uint32     `json:"qpn"`
	PSN   uint32     `json:"psn"`
	Addr  netip.Addr `json:"addr"`
	MTU   int        `json:"mtu"`
	Reads int        `json:"reads"` // READs and atomics it answers at a time
	Room  int64      `json:"room"`  // payload bytes that may be in flight towards it
	// Window is the number of packets that it stores after a missing one, in package rc's selective repeat. 0 means
	// that the end goes back N.
	Window int  `json:"window,omitempty"`
	Named  bool `json:"named,omitempty"` // whether it requests acknowledgements that name their packet
	// whether it requests acknowledgements that report the peer's delay of that packet
	FarEnd bool   `json:"far_end,omitempty"`
	VA     uint64 `json:"va,omitempty"`
	RKey   uint32 `json:"rkey,omitempty"`
	Length uint64 `json:"len,omitempty"`
	// MRC is the announcement of an MRC end; nil for one of RC.
	MRC *MRCInfo `json:"mrc,omitempty"`
}

// defaultReads is max_qp_rd_atom of most NICs.
const defaultReads = 16

// Info describes the queue pair to its peer; mr may be nil.
func (qp *QP) Info(mr *MR) Info {
	d := qp.pd.dev
	psn := uint32(0)
	qp.do(func(*rcudp.Endpoint) { psn = qp.psn })
	i := Info{QPN: qp.QPN, PSN: psn, Addr: d.Addr(), MTU: d.PortMTU(), Reads: defaultReads,
		Room: int64(d.cfg.InFlight)}
	i.FarEnd, i.MRC = d.far, qp.announce()
	if qp.init.Selective {
		i.Window, i.Named = selectiveWindow, d.named
	}
	if buf := int64(d.dev.ReceiveBuffer()); buf/4 < i.Room {
		i.Room = buf / 4 // the kernel also counts its overhead
	}
	if mr != nil {
		i.VA, i.RKey, i.Length = mr.Addr, mr.RKey, uint64(mr.Length)
	}
	return i
}

// maxInfo is the limit of a peer's bytes before they are parsed: twice the description of 1024 queue pairs.
const maxInfo = 512 << 10

// Exchange sends v as one line of JSON and reads the peer's into w. Both ends must call it. The peer has ten
// seconds.
func Exchange(c net.Conn, v, w any) error {
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	defer c.SetDeadline(time.Time{})
	if err := WriteLine(c, v); err != nil {
		return err
	}
	return ReadLine(c, w)
}

// WriteLine sends v as one line of JSON.
func WriteLine(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// ReadLine reads exactly one line of JSON, at most 512 KiB. Pass a bufio.Reader if lines are long.
func ReadLine(r io.Reader, v any) error {
	br, ok := r.(io.ByteReader)
	if !ok {
		br = oneByOne{r}
	}
	var line []byte
	for len(line) < maxInfo {
		b, err := br.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return errors.New("the peer closed the connection")
		case err != nil:
			return err
		case b != '\n':
			line = append(line, b)
			continue
		}
		if err := json.Unmarshal(line, v); err != nil {
			return fmt.Errorf("the peer sent no connection data: %w", err)
		}
		return nil
	}
	return fmt.Errorf("the peer sent more than %d bytes of connection data", maxInfo)
}

// oneByOne reads bytes without reading ahead.
type oneByOne struct{ io.Reader }

func (r oneByOne) ReadByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(r, b[:])
	return b[0], err
}

// ConnectOptions are the attributes that both ends need not agree on.
type ConnectOptions struct {
	MTU        int // upper limit; 0: the maximum that both ports support
	Timeout    int // [14]: 67 ms
	RetryCount int // [7]
	RNRRetry   int // [7]
	MinRNR     int // [12]: 0.64 ms
	Entropy    int // UDP source ports
	Share      int // number of queue pairs that share the peer's buffer [1]
	Access     Access
	// OnModify, if not nil, is called after each step with its attributes.
	OnModify func(QPAttr)
}

// DefaultConnect returns the attributes that perftest uses.
func DefaultConnect() ConnectOptions {
	return ConnectOptions{Timeout: 14, RetryCount: 7, RNRRetry: 7, MinRNR: 12, Entropy: 1, Share: 1,
		Access: RemoteWrite | RemoteRead | RemoteAtomic}
}

// Connect takes the queue pair from RESET through INIT and RTR to RTS, towards
// the peer that sent r.
func (qp *QP) Connect(r Info, o ConnectOptions) error {
	local := qp.Info(nil)
	if err := local.MRC.agrees(r.MRC); err != nil {
		return err
	}
	mtu := min(local.MTU, r.MTU)
	if o.MTU > 0 {
		mtu = min(mtu, o.MTU)
	}
	// Both ends store out-of-order packets, or both go back N.
	recovery, window := rc.GoBackN, min(local.Window, r.Window)
	if window > 0 {
		recovery = rc.Selective
	}
	if r.Room < 0 || r.Reads < 0 || r.Reads > 128 || r.PSN > roce.PSNMask || r.Window < 0 || window&(window-1) != 0 {
		return fmt.Errorf("the peer's connection data is impossible: %+v", r)
	}
	piece := int(min(readPiece, max(int64(mtu), local.Room/int64(max(1, o.Share)))))
	room := max(int64(mtu), r.Room/int64(max(1, o.Share)))
	for _, a := range []QPAttr{
		{State: Init, Access: o.Access},
		{State: RTR, PathMTU: mtu, DestQPN: r.QPN, RQPSN: r.PSN, DestAddr: r.Addr, MaxDestReads: defaultReads,
			MinRNRTimer: uint8(o.MinRNR), Entropy: o.Entropy},
		{State: RTS, SQPSN: local.PSN, Timeout: o.Timeout, RetryCount: o.RetryCount, RNRRetry: o.RNRRetry,
			MaxReads: min(defaultReads, r.Reads),
			InFlight: min(unit.Bytes(room), qp.pd.dev.cfg.InFlight)},
	} {
		if err := qp.Modify(a); err != nil {
			if a.State != Init { // no partial step
				_ = qp.Modify(QPAttr{State: Reset})
			}
			return err
		}
		if o.OnModify != nil {
			o.OnModify(a)
		}
		if a.State == Init { // READ data must fit this end's buffer; the ends agree on recovery
			qp.do(func(*rcudp.Endpoint) {
				qp.piece, qp.cfg.Recovery, qp.cfg.Window = piece, recovery, window
				qp.cfg.Named = window > 0 && (local.Named || r.Named)
				qp.conn.FarEnd = r.FarEnd
				qp.mrc.learn(r.MRC, &o)
			})
			// For requests the time, for acknowledgements the TTL; for all packets of MRC the time.
			if local.FarEnd || r.FarEnd || qp.mrc != nil {
				qp.pd.dev.dev.StampArrivals()
			}
		}
	}
	return nil
}

package rc

import (
	"errors"
	"fmt"
	"slices"

	"railyard/internal/field"
	"railyard/roce"
	"railyard/unit"
)

// State is the state of a queue pair (IBTA 10.3.1).
type State uint8

// States, in the order a connection is set up.
const (
	Reset State = iota
	Init
	ReadyToReceive
	ReadyToSend
	SendQueueDrain // finish the current message, start no other
	Error
)

var stateNames = [...]string{"RESET", "INIT", "RTR", "RTS", "SQD", "ERR"}

func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// Recovery is the treatment of packets that arrive out of order.
type Recovery uint8

// GoBackN drops them; Selective stores them.
const (
	GoBackN Recovery = iota
	Selective
)

// Status is the outcome of a work request (IBTA 11.6.2).
type Status uint8

// Completion statuses.
const (
	Success Status = iota
	LocalLengthError
	LocalProtectionError
	BadResponse
	Flushed
	RemoteInvalidRequest
	RemoteAccessError
	RemoteOperationError
	RetryExceeded
	RNRRetryExceeded
)

var statusNames = [...]string{"success", "local length error", "local protection error",
	"bad response error", "work request flushed",
	"remote invalid request error", "remote access error", "remote operation error",
	"transport retry counter exceeded", "RNR retry counter exceeded"}

func (s Status) String() string { return statusNames[s] }

// Config is the fixed part of a queue pair's attributes.
type Config struct {
	MTU       int       // path MTU in payload bytes: 256, 512, 1024, 2048 or 4096
	Recovery  Recovery  // the responder's treatment of reordered packets
	WriteOnly bool      // a RETH in every packet (WRITE Only) instead of First/Middle/Last
	AckEvery  int       // the requester requests an ACK in every Nth packet
	Timeout   unit.Time // local ACK timeout, LocalAckTimeout(n); zero never fires
	Retries   int       // timeouts in a row before the QP fails
	Window    int       // Selective: maximum of packets stored after the expected one
	NakAfter  int       // Selective: packets that must overtake a gap before its packets count as lost
	Named     bool      // Selective: acknowledgements name the packet that they answer (doc.go)

	Reads       int    // outstanding READs and atomics, as requester; 0 to 128
	ReadsIn     int    // the same as responder
	Deny        Access // remote access refused regardless of the region
	RNRRetries  int    // tries after "receiver not ready"; 7 is endless
	RNRTimer    uint8  // timer code that our RNR NAKs carry, roce.RNRTimer
	AlwaysReady bool   // receives never run out: the simulator's applications
}

// LocalAckTimeout is 4.096 us x 2^n for n from 1 to 31, zero (never) for n = 0
// (IBTA 9.7.6.1.3).
func LocalAckTimeout(n int) unit.Time {
	if n <= 0 {
		return 0
	}
	return 4096 * unit.Nanosecond << n
}

// Validate refuses attributes no NIC would take, naming the field.
func (c Config) Validate() error {
	switch c.MTU {
	case 256, 512, 1024, 2048, 4096:
	default:
		return field.New("mtu", "must be 256, 512, 1024, 2048 or 4096, found %d", c.MTU)
	}
	if c.AckEvery < 1 || c.AckEvery > 1<<16 {
		return field.New("ack_every", "%d is out of range 1–65536", c.AckEvery)
	}
	if c.Retries < 0 || c.Retries > 7 {
		return field.New("retries", "%d is out of range 0–7", c.Retries)
	}
	if c.Recovery == Selective && (c.Window < 64 || c.Window > 1<<16 || c.Window&(c.Window-1) != 0) {
		return field.New("window", "must be a power of two from 64 to 65536, found %d", c.Window)
	}
	if c.Named && (c.Recovery != Selective || c.Window > maxNamed) {
		return field.New("recovery", "acknowledgements that name packets need selective recovery with a window of at most %d", maxNamed)
	}
	if c.NakAfter < 0 || c.Recovery == Selective && c.NakAfter >= c.Window {
		return field.New("nak_after", "must be at least 0 and below the window, found %d", c.NakAfter)
	}
	if c.Reads < 0 || c.Reads > 128 || c.ReadsIn < 0 || c.ReadsIn > 128 {
		return field.New("reads", "%d is out of range 0–128 and %d", c.Reads, c.ReadsIn)
	}
	if c.RNRRetries < 0 || c.RNRRetries > 7 {
		return field.New("rnr_retry", "%d is out of range 0–7", c.RNRRetries)
	}
	if c.RNRTimer > 31 {
		return field.New("min_rnr_timer", "%d is out of range 0–31", c.RNRTimer)
	}
	return nil
}

// Packet is the decoded headers of one packet of the connection.
type Packet struct {
	Opcode    roce.Opcode
	Syndrome  roce.Syndrome // responses only
	AckReq    bool
	Again     bool // a retransmission; not on the wire, for counters
	List      bool // Config.Named: a request reports the missing packets as lost and asks for their list; BECN
	Solicited bool
	Marked    bool // a request arrived with a congestion mark, or a response reports one: BECN
	PSN       uint32
	Payload   int32  // bytes
	RKey      uint32 // with a RETH or AtomicETH
	Len       uint32 // with a RETH: DMA length of the message
	MSN       uint32 // responses only
	Imm       uint32 // immediate data, or the rkey to invalidate
	VA        uint64 // with a RETH or AtomicETH: remote address
	SwapAdd   uint64 // atomics
	Compare   uint64 // CMP_SWAP
	Orig      uint64 // atomic ACK
	Data      []byte // payload bytes; nil in the simulator
}

// Missing returns the run of packets that a NAK reports lost: its first PSN and its length.
func (p *Packet) Missing() (first uint32, n int) {
	switch p.Syndrome {
	case roce.NakSequence:
		return p.PSN, 1
	case roce.NakMissing, roce.NakTrimmed, roce.NakTrimmedLast: // doc.go
		return (p.PSN + p.MSN>>8) & roce.PSNMask, int(p.MSN & 0xff)
	}
	return 0, 0
}

// Completion is a finished work request.
type Completion struct {
	ID     uint64
	Status Status
	Verb   Verb
	Len    int64
}

// QP is one end of a reliable connection. A QP is not safe for concurrent use.
//
// Thousands of queue pairs do not fit a processor's caches together, so fields are ordered by which code reads
// them. Each packet of a requester reads the first two cache lines of 64 bytes. Each packet at a responder reads
// the first and the third (TestLines).
type QP struct {
	cfg               *Config
	retries, rnrTries uint8
	state             State
	special           uint8         // reasons why mayAdvance must check further
	answerGap         bool          // lost READ data has been requested again
	dying             bool          // responder: a NAK that ends the connection waits for READ data
	goesOn            bool          // the next WRITE ONLY belongs to the same message
	fault             roce.Syndrome // the NAK that ended the connection

	// Requester. Packets [una, next) are in flight, [next, end) posted and
	// unsent; high is one above the highest ever sent.
	una, next, high, end uint64
	progressAt           unit.Time // time at which una last advanced or the first packet since was sent
	cur                  int32     // index in wrs of the request that contains next
	ackEvery             uint32    // packets between two requests for an ACK
	wrs                  []wr
	sel                  *selective // selective recovery; nil otherwise
	done                 []Completion
	rnrUntil             unit.Time // specialRNR: not before

	// Responder.
	expect   uint64 // next PSN in order
	msn      uint32
	nakSent  bool // whether the NAK of this gap was sent: one per gap
	inSend   bool // between the first and the last packet of a SEND
	inWrite  bool // the same of a WRITE
	msgVA    uint64
	msgLeft  int64   // bytes of the current WRITE still to arrive
	region   *region // region of the current WRITE
	Placed   uint64  // payload bytes written in order or out of order, once each
	Received uint64  // data packets accepted, without duplicates and drops
	reorder  reorderState

	mem           *Memory
	out           []response // READ data and the answers queued after it
	Retransmitted uint64     // packets sent again
	Timeouts      uint64     // ACK timeouts that ran out
	sendAt        int        // bytes of the current SEND that are in its receive
	msgLen        int64      // bytes of the current WRITE so far announced
	receives      []Receive
	received      []Received
	executed      []executed // the last READs and atomics, to answer repeats
}

// NewQP returns a queue pair in the RESET state. cfg is shared and must not
// change; mem holds the regions a peer may write to.
func NewQP(cfg *Config, mem *Memory) QP { return QP{cfg: cfg, mem: mem} }

// ErrState is returned for a call the QP's state does not allow.
var ErrState = errors.New("queue pair is in the wrong state")

// Modify moves the QP to the next state. Each transition sets the attributes that it needs: RTR the peer's first
// PSN, RTS the first PSN of this end.
func (q *QP) Modify(to State, psn uint32) error {
	switch {
	case to == Reset:
		*q = QP{cfg: q.cfg, mem: q.mem}
		return nil
	case to == Error && q.state != Reset:
		q.fail(Flushed)
		return nil
	case to == q.state && (to == Init || to == ReadyToSend || to == SendQueueDrain): // attributes only
	case to == Init && q.state == Reset:
	case to == ReadyToReceive && q.state == Init:
		q.expect = base + uint64(psn&roce.PSNMask)
	case to == SendQueueDrain && q.state == ReadyToSend:
		q.special |= specialDrain
	case to == ReadyToSend && q.state == SendQueueDrain:
		q.special &^= specialDrain
	case to == ReadyToSend && q.state == ReadyToReceive:
		q.una = base + uint64(psn&roce.PSNMask)
		q.next, q.high, q.end = q.una, q.una, q.una
		q.ackEvery = uint32(max(1, q.cfg.AckEvery))
		if q.cfg.Recovery == Selective {
			q.sel = &selective{have: q.una, named: q.cfg.Named}
			// A full window without an ACK request would stall until the time-out.
			q.ackEvery = min(q.ackEvery, uint32(q.cfg.Window/2))
		}
	default:
		return fmt.Errorf("%w: %v to %v", ErrState, q.state, to)
	}
	q.state = to
	return nil
}

// base keeps extended sequence numbers away from zero, so that subtracting a
// window never wraps.
const base = 1 << 24

// State returns the QP's state.
func (q *QP) State() State { return q.state }

// fail completes everything posted and enters the error state. The oldest request gets the status; the others are
// flushed (IBTA 10.3.1.7).
func (q *QP) fail(s Status) {
	if q.state == Error {
		return
	}
	q.state = Error
	for i := range q.wrs {
		w := &q.wrs[i]
		q.done = append(q.done, Completion{ID: w.ID, Status: s, Verb: w.Verb})
		s = Flushed
	}
	for _, r := range q.receives {
		q.received = append(q.received, Received{ID: r.ID, Status: Flushed})
	}
	q.wrs, q.cur, q.receives = nil, 0, nil
	q.next, q.una, q.high = q.end, q.end, q.end
	q.free()
	q.sel, q.reorder, q.special = nil, reorderState{window: window{peak: q.reorder.peak}, store: q.reorder.store}, 0
	q.region, q.executed = nil, nil
	// A NAK with the reason is still sent; READ data are not.
	q.out = slices.DeleteFunc(q.out, func(r response) bool { return r.opcode != roce.Acknowledge })
}

// Drained reports whether everything that has begun is acknowledged (IBTA 10.3.1.5). Nothing is unacknowledged, and
// no message, or request of several parts, is partly sent.
func (q *QP) Drained() bool {
	if q.una != q.high || len(q.wrs) == 0 {
		return q.una == q.high
	}
	return q.wrs[0].first == q.una && !q.wrs[0].Continues
}

// Fault returns the NAK with which the responder ended the connection; zero when
// it was not the responder.
func (q *QP) Fault() roce.Syndrome { return q.fault }

// Sequence returns the oldest unacknowledged and the next PSN of the requester
// and the one the responder expects.
func (q *QP) Sequence() (una, next, expect uint32) {
	return uint32(q.una) & roce.PSNMask, uint32(q.next) & roce.PSNMask, uint32(q.expect) & roce.PSNMask
}

// PopCompletion takes the oldest completion.
func (q *QP) PopCompletion() (Completion, bool) {
	if len(q.done) == 0 {
		return Completion{}, false
	}
	c := q.done[0]
	q.done = q.done[:copy(q.done, q.done[1:])]
	return c, true
}

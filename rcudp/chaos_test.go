package rcudp

import (
	"bytes"
	"container/heap"
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"

	"railyard/internal/long"
	"railyard/internal/rng"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// flight is a datagram on a faulty path.
type flight struct {
	at   unit.Time
	seq  int
	to   int
	port uint16
	tos  uint8
	data []byte
}

type flights []flight

func (f flights) Len() int { return len(f) }
func (f flights) Less(i, j int) bool {
	return f[i].at < f[j].at || f[i].at == f[j].at && f[i].seq < f[j].seq
}
func (f flights) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *flights) Push(x any)   { *f = append(*f, x.(flight)) }
func (f *flights) Pop() any {
	x := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	return x
}

// faults are the probabilities, in per mille, of each fault of a datagram on a path.
type faults struct{ loss, twice, damage, late, mark int }

// world is two endpoints joined by a path with a seed. Time is virtual.
type world struct {
	now   unit.Time
	ends  [2]*Endpoint
	conns [2]*Conn
	addrs [2]netip.AddrPort
	air   flights
	seq   int
	r     *rng.Stream
	f     faults
	buf   []byte
	spy   func(from int, d *Datagram) bool // true: lost
}

func newWorld(cfg *rc.Config, r *rng.Stream, f faults, room unit.Bytes, psn [2]uint32,
	mem [2]*rc.Memory) *world {
	w := &world{r: r, f: f, buf: make([]byte, 0, 8192)}
	for i := range w.ends {
		w.addrs[i] = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), uint16(50000+i))
	}
	for i := range w.ends {
		w.ends[i] = NewEndpoint(Config{Addr: w.addrs[i].Addr()})
		c := NewConn(cfg, mem[i], nil, 100*unit.Gbps, room)
		c.QPN, c.DestQPN, c.Peer, c.Ports, c.Paced = uint32(17+i), uint32(17+1-i), w.addrs[1-i].Addr(),
			[]uint16{w.addrs[i].Port()}, true
		if err := w.ends[i].Add(c); err != nil {
			panic(err)
		}
		w.conns[i] = c
		for _, s := range []struct {
			to  rc.State
			psn uint32
		}{{rc.Init, 0}, {rc.ReadyToReceive, psn[1-i]}, {rc.ReadyToSend, psn[i]}} {
			if err := c.Modify(s.to, s.psn); err != nil {
				panic(err)
			}
		}
	}
	return w
}

func (w *world) hit(perMille int) bool { return perMille > 0 && w.r.Intn(1000) < perMille }

// carry sends a datagram of end from over the path.
func (w *world) carry(from int, d *Datagram) {
	if w.spy != nil && w.spy(from, d) || w.hit(w.f.loss) {
		return
	}
	for range 2 {
		f := flight{at: w.now + 2*unit.Microsecond, seq: w.seq, to: 1 - from, port: d.Port, tos: d.TOS,
			data: d.Append(nil)}
		w.seq++
		if w.hit(w.f.late) {
			f.at += unit.Time(w.r.Intn(40)) * unit.Microsecond
		}
		if w.hit(w.f.damage) {
			f.data[w.r.Intn(len(f.data))] ^= 1 << w.r.Intn(8)
		}
		if w.hit(w.f.mark) && f.tos&3 != 0 {
			f.tos |= ce
		}
		heap.Push(&w.air, f)
		if !w.hit(w.f.twice) {
			break
		}
	}
}

// step advances the world to the next event; false if there is none.
func (w *world) step() bool {
	var d Datagram
	for i, e := range w.ends {
		for e.Next(w.now, w.buf, 0, &d) {
			w.carry(i, &d)
		}
	}
	next := unit.Never
	for _, e := range w.ends {
		next = min(next, e.Wake(w.now))
	}
	if len(w.air) > 0 && w.air[0].at <= next {
		f := heap.Pop(&w.air).(flight)
		w.now = max(w.now, f.at)
		w.ends[f.to].Input(w.now, netip.AddrPortFrom(w.addrs[1-f.to].Addr(), f.port), f.tos, 0, f.data)
		return true
	}
	if next == unit.Never {
		return false
	}
	w.now = max(w.now, next)
	for _, e := range w.ends {
		e.Tick(w.now)
	}
	return true
}

// side is one end's application and the expected memory of the other end.
type side struct {
	region, model []byte // the own memory, and the expected memory of the peer
	reads         [][2][]byte
	sends         [][]byte // expected receives, in order
	got           [][]byte
	recvBufs      map[uint64][]byte
	olds          [][2]uint64
	oldBufs       [][]byte
	posted        int
	done          int
	failed        rc.Status
	err           string
}

const (
	regionSize = 1 << 14
	counterAt  = regionSize - 64 // the last 64 bytes are counters
	key        = 0x1234
	base       = 0x7f800000
)

// plan posts n random requests from end i and applies them to the model of the peer's memory.
func plan(r *rng.Stream, c *Conn, mine, peer *side, n, maxLen int) {
	read := false
	for i := range n {
		q := rc.Request{ID: uint64(i), RKey: key, Fence: read}
		size := r.Intn(maxLen)
		data := make([]byte, size)
		for j := range data {
			data[j] = byte(r.Intn(256))
		}
		at := r.Intn(counterAt - size)
		q.VA, q.Len, q.Data = base+uint64(at), int64(size), data
		switch k := r.Intn(8); k {
		case 0, 1:
			copy(peer.model[at:], data)
		case 2:
			q.Verb, q.Imm = rc.WriteImm, uint32(i)
			copy(peer.model[at:], data)
			peer.sends = append(peer.sends, nil)
		case 3, 4:
			q.Verb = rc.Send
			peer.sends = append(peer.sends, data)
		case 5:
			q.Verb = rc.Read
			read = true
			q.Data = make([]byte, size)
			mine.reads = append(mine.reads, [2][]byte{q.Data, bytes.Clone(peer.model[at : at+size])})
		default:
			at = counterAt + 8*r.Intn(8)
			slot := peer.model[at:]
			was := binary.NativeEndian.Uint64(slot)
			q.VA, q.Len, q.Data, q.SwapAdd = base+uint64(at), 8, make([]byte, 8), uint64(r.Intn(1000))
			if q.Verb = rc.FetchAdd; k == 7 {
				q.Verb, q.Compare = rc.CompareSwap, uint64(r.Intn(3))
			}
			switch {
			case k == 6:
				binary.NativeEndian.PutUint64(slot, was+q.SwapAdd)
			case was == q.Compare:
				binary.NativeEndian.PutUint64(slot, q.SwapAdd)
			}
			mine.olds = append(mine.olds, [2]uint64{was})
			mine.oldBufs = append(mine.oldBufs, q.Data)
		}
		if err := c.Post(&q); err != nil {
			panic(err)
		}
		mine.posted++
	}
}

// schedule runs one random schedule. It returns what went wrong, "" for nothing, and the final status of the
// requesters.
func schedule(seed uint64, total *Counters) (string, rc.Status) {
	stream := rng.New(seed, "chaos")
	r := &stream
	cfg := rc.Config{MTU: 256, AckEvery: 1 + r.Intn(16), Timeout: rc.LocalAckTimeout(6), Retries: 7,
		Reads: 1 + r.Intn(6), RNRRetries: 7,
		RNRTimer: 2, Window: 64 << r.Intn(2)}
	cfg.ReadsIn = cfg.Reads
	if seed%2 == 1 {
		cfg.Recovery, cfg.NakAfter = rc.Selective, r.Intn(4)
	}
	cfg.WriteOnly = seed%4 > 1
	f := faults{r.Intn(80), r.Intn(60), r.Intn(40), r.Intn(300), 50}
	if seed%16 < 2 {
		f = faults{}
	}
	var sides [2]*side
	var mem [2]*rc.Memory
	for i := range sides {
		sides[i] = &side{region: make([]byte, regionSize), model: make([]byte, regionSize),
			recvBufs: map[uint64][]byte{}}
		mem[i] = rc.NewMemory(1)
		if err := mem[i].RegisterBuffer(key, base, sides[i].region,
			rc.LocalWrite|rc.RemoteWrite|rc.RemoteRead|rc.RemoteAtomic); err != nil {
			return err.Error(), 0
		}
	}
	// Room for a few packets, or for more than the protocol's own window.
	room := unit.Bytes(256) << r.Intn(9)
	w := newWorld(&cfg, r, f, room, [2]uint32{roce.PSNMask - uint32(r.Intn(200)), uint32(r.Intn(1 << 24))},
		mem)
	bad := seed%10 == 9 // the last request of end 0 has a wrong key
	for i, c := range w.conns {
		s := sides[i]
		c.OnComplete = func(d rc.Completion) {
			switch {
			case d.Status != rc.Success && s.failed == 0:
				s.failed = d.Status
			case d.ID != uint64(s.done):
				s.err = fmt.Sprintf("completion %d, want %d", d.ID, s.done)
			}
			s.done++
		}
		c.OnReceive = func(d rc.Received) {
			if d.Status == rc.Success {
				b := s.recvBufs[d.ID][:d.Len]
				if d.Write {
					b = nil
				}
				s.got = append(s.got, b)
			}
		}
		if i == 0 || !bad {
			plan(r, c, s, sides[1-i], 1+r.Intn(12), 1+r.Intn(3000))
		}
	}
	if bad {
		if err := w.conns[0].Post(&rc.Request{ID: uint64(sides[0].posted), VA: base, RKey: key + 1, Len: 100,
			Data: make([]byte, 100)}); err != nil {
			return err.Error(), 0
		}
		sides[0].posted++
	}
	receives := [2]uint64{}
	for steps := 0; ; steps++ {
		if steps > 500_000 {
			return "does not end", 0
		}
		for i, c := range w.conns { // receives are posted late
			if len(sides[i].sends) > int(receives[i]) && w.r.Intn(8) == 0 && c.QP.State() != rc.Error {
				b := make([]byte, 3000)
				sides[i].recvBufs[receives[i]] = b
				if err := c.QP.PostReceive(rc.Receive{ID: receives[i],
					Data: [][]byte{b[:1000], b[1000:1001], b[1001:]}}); err != nil {
					return err.Error(), 0
				}
				receives[i]++
			}
		}
		if !w.step() {
			break
		}
	}
	for _, e := range w.ends {
		c := &e.Count
		total.Again += c.Again
		total.BadICRC += c.BadICRC
		total.Duplicates += c.Duplicates
		total.OutOfOrder += c.OutOfOrder
		total.NotReady += c.NotReady
		total.NaksIn += c.NaksIn
		total.Timeouts += c.Timeouts
		total.CNPs += c.CNPs
		total.Refused += c.Refused
		total.Received += c.Received
	}
	return judge(sides, bad)
}

// judge compares the arrived data with the expected data.
func judge(sides [2]*side, bad bool) (string, rc.Status) {
	failed := max(sides[0].failed, sides[1].failed)
	for i, s := range sides {
		switch {
		case s.err != "":
			return s.err, failed
		case s.done != s.posted:
			return fmt.Sprintf("end %d: %d of %d requests completed", i, s.done, s.posted), failed
		}
		for j := range s.got {
			if !bytes.Equal(s.got[j], s.sends[j]) {
				return fmt.Sprintf("end %d: receive %d differs", i, j), failed
			}
		}
		if failed != rc.Success {
			continue // data after the failure may be missing but not wrong
		}
		if len(s.got) != len(s.sends) {
			return fmt.Sprintf("end %d: %d of %d receives", i, len(s.got), len(s.sends)), failed
		}
		if !bytes.Equal(s.region, s.model) {
			return fmt.Sprintf("end %d: memory differs", i), failed
		}
		for j, rd := range s.reads {
			if !bytes.Equal(rd[0], rd[1]) {
				return fmt.Sprintf("end %d: READ %d differs", i, j), failed
			}
		}
		for j, b := range s.oldBufs {
			if got := binary.NativeEndian.Uint64(b); got != s.olds[j][0] {
				return fmt.Sprintf("end %d: atomic %d saw %d, want %d: run twice or out of order", i, j, got,
					s.olds[j][0]), failed
			}
		}
	}
	if bad && failed == rc.Success {
		return "a wrong key was accepted", failed
	}
	return "", failed
}

// 2,000 schedules (long: 10,000) of loss, repetition, reordering, damage and delay, with every verb both ways and
// both recoveries. Every byte arrives once and in order, or the request ends with the expected error.
func TestSchedules(t *testing.T) {
	n := uint64(long.N(2_000, 10_000))
	if testing.Short() {
		n = 500
	}
	ends := map[rc.Status]int{}
	var c Counters
	for seed := range n {
		wrong, status := schedule(seed, &c)
		ends[status]++
		allowed := status == rc.Success || seed%10 == 9 && status == rc.RemoteAccessError ||
			status == rc.RetryExceeded
		if wrong != "" || !allowed || seed%16 < 2 && seed%10 != 9 && status != rc.Success {
			t.Fatalf("seed %d: %s (%v)", seed, wrong, status)
		}
	}
	t.Logf("ends: %v, counters %+v", ends, c)
	if min(c.Again, c.BadICRC, c.Duplicates, c.OutOfOrder, c.NotReady, c.NaksIn, c.Timeouts, c.CNPs,
		c.Refused) < int64(n/20) {
		t.Errorf("a fault hardly happened: %+v", c)
	}
	if ends[rc.RetryExceeded] > int(n/50) {
		t.Errorf("%d of %d schedules ran out of retries", ends[rc.RetryExceeded], n)
	}
}

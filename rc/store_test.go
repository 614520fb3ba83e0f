package rc

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// stores drives one sender's WRITEs to a responder with a store and to one without. Order and copies are random.
type stores struct {
	cfg   Config
	a     QP
	b, c  QP
	store Store
	sent  []Packet
	ends  []uint64 // ends of messages: one above their last packet, by packets sent
}

func newStores(t *rapid.T, limit int64) *stores {
	x := &stores{store: Store{Placement: Placement(rapid.IntRange(0, 2).Draw(t, "placement")), Bytes: limit}}
	x.cfg = Config{MTU: 256, Recovery: Selective, WriteOnly: rapid.Bool().Draw(t, "write only"), AckEvery: 4,
		Window: 256, NakAfter: 255, Timeout: LocalAckTimeout(8), Retries: 7, AlwaysReady: true}
	mem := NewMemory(1)
	key := mem.Register(0x1000, 1<<21, LocalWrite|RemoteWrite)
	x.a, x.b, x.c = NewQP(&x.cfg, NewMemory(1)), NewQP(&x.cfg, mem), NewQP(&x.cfg, mem)
	for _, q := range []*QP{&x.a, &x.b, &x.c} {
		for _, s := range []State{Init, ReadyToReceive, ReadyToSend} {
			if err := q.Modify(s, 0xffffff-9); err != nil {
				t.Fatal(err)
			}
		}
	}
	x.b.KeepIn(&x.store)
	for range rapid.IntRange(1, 8).Draw(t, "messages") {
		n := rapid.Int64Range(1, 40).Draw(t, "packets")
		if err := x.a.Post(&Request{VA: 0x1000, RKey: key, Len: 256*n - 7}); err != nil {
			t.Fatal(err)
		}
		x.ends = append(x.ends, uint64(n))
		if k := len(x.ends); k > 1 {
			x.ends[k-1] += x.ends[k-2]
		}
	}
	for p := (Packet{}); len(x.sent) < 200 && x.a.Next(0, &p); {
		x.sent = append(x.sent, p)
	}
	return x
}

// starts returns the first packet of the message of packet i.
func (x *stores) starts(i int) (first int) {
	for _, end := range x.ends {
		if uint64(i) < end {
			break
		}
		first = int(end)
	}
	return first
}

// needs returns the payload that a NIC must store by the definition of its placement. Its inputs are which packets
// have arrived and how many of them are in order.
func (x *stores) needs(came []bool, inOrder int) (bytes int64) {
	for i := inOrder; i < len(came); i++ {
		p := &x.sent[i]
		alone := p.Opcode.HasRETH() && p.Opcode.Ends()
		var keep bool
		switch x.store.Placement {
		case ByAddress:
			keep = !p.Opcode.HasRETH() && !came[x.starts(i)]
		case InOrder:
			keep = !alone
		case ThroughNIC:
			keep = true
		}
		if came[i] && keep {
			bytes += int64(p.Payload)
		}
	}
	return bytes
}

// A store without limit holds what its placement defines, changes no answer, and is empty at the end.
func TestStoreKeeps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newStores(t, 0)
		came, left, inOrder := make([]bool, len(x.sent)), len(x.sent), 0
		far := rapid.IntRange(1, 200).Draw(t, "overtake by")
		var a, b Answer
		for left > 0 {
			i := inOrder + rapid.IntRange(0, min(far, len(x.sent)-inOrder)-1).Draw(t, "next")
			p, q := x.sent[i], x.sent[i]
			x.b.Data(&p, &a)
			x.c.Data(&q, &b)
			if !reflect.DeepEqual(a, b) {
				t.Fatalf("packet %d is answered with %+v, without a store with %+v", i, a, b)
			}
			if !came[i] {
				came[i], left = true, left-1
			}
			for inOrder < len(came) && came[inOrder] {
				inOrder++
			}
			if want := x.needs(came, inOrder); x.store.Used != want {
				t.Fatalf("placement %d keeps %d bytes after packet %d, want %d", x.store.Placement, x.store.Used, i, want)
			}
		}
		if x.store.Used != 0 || x.store.Held != 0 || x.store.Refused != 0 {
			t.Fatalf("in the end the store is %+v", x.store)
		}
	})
}

// A full store drops packets, and none is lost for good: a retransmitted packet is accepted.
func TestStoreIsFull(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := 256 * rapid.Int64Range(1, 20).Draw(t, "limit")
		x := newStores(t, limit)
		for range 100 {
			for _, i := range rapid.Permutation(x.indices()).Draw(t, "order") {
				var a Answer
				p := x.sent[i]
				far := x.store.Placement != ByAddress && 256*int64(x.c.expect+uint64(i)-x.b.expect) > limit
				x.b.Data(&p, &a)
				if named := a.Reply && a.Packet.Syndrome.Names(); named != (a.Verdict == NoRoom) {
					t.Fatalf("%v is answered with %v", a.Verdict, a.Packet.Syndrome)
				}
				if x.store.Used > limit || a.Verdict == NoRoom && !far && x.store.Used+int64(p.Payload) <= limit {
					t.Fatalf("%v with %d of %d bytes used", a.Verdict, x.store.Used, limit)
				}
			}
			if x.b.expect-x.c.expect == uint64(len(x.sent)) {
				break
			}
		}
		if n := x.b.expect - x.c.expect; n != uint64(len(x.sent)) || x.store.Used != 0 {
			t.Fatalf("%d of %d packets are there, %d bytes are kept", n, len(x.sent), x.store.Used)
		}
	})
}

func (x *stores) indices() (all []int) {
	for i := range x.sent {
		all = append(all, i)
	}
	return all
}

// A queue pair that fails releases its stored packets.
func TestStoreOfAFailedQueuePair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newStores(t, 0)
		var a Answer
		for i := 1; i < len(x.sent); i += 2 {
			p := x.sent[i]
			x.b.Data(&p, &a)
		}
		if x.b.Modify(Error, 0); x.store.Used != 0 || x.store.Held != 0 {
			t.Fatalf("a failed queue pair keeps %d bytes", x.store.Used)
		}
	})
}

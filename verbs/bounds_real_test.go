package verbs

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// attempt is one request against a region of the peer's memory, with its expected outcome.
type attempt struct {
	op     Opcode
	rights Access
	size   int   // size of the region
	at     int64 // where it begins, from the region's first byte
	n      int   // bytes
	local  int   // local source or destination
	key    bool  // the region's own key
}

// outcome returns the status that the rules require (IBTA 10.6.3.4, 9.7.4.1). The local range is first, because
// otherwise nothing leaves; then come key, rights and range of the peer's region. A request of zero bytes needs no
// permission of the peer.
func (x *attempt) outcome(here int) Status {
	switch {
	case x.local < 0 || x.local+x.n > here:
		return StatusLocProtErr
	case x.n == 0:
		return StatusSuccess
	case !x.key, x.op == Write && x.rights&RemoteWrite == 0, x.op == Read && x.rights&RemoteRead == 0,
		x.at < 0, x.at+int64(x.n) > int64(x.size):
		return StatusRemAccessErr
	}
	return StatusSuccess
}

// someAttempt returns a random attempt, mostly near the edges.
func someAttempt(r *rand.Rand, here int) attempt {
	x := attempt{op: []Opcode{Write, Read}[r.IntN(2)], size: 1 + r.IntN(9000), key: r.IntN(8) > 0}
	x.rights = []Access{RemoteRead, LocalWrite | RemoteWrite,
		LocalWrite | RemoteWrite | RemoteRead}[r.IntN(3)]
	x.n = []int{0, 1, r.IntN(x.size + 1), x.size, x.size + 1}[r.IntN(5)]
	edge := int64(x.size - x.n)
	x.at = []int64{0, -1, 1, edge, edge - 1, edge + 1, 1 << 40, -1 << 40}[r.IntN(8)]
	x.local = []int{0, r.IntN(here), here - x.n, here - x.n + 1, -1}[r.IntN(5)]
	return x
}

// A request for a peer's memory gets exactly the peer's region, with its rights. Bytes outside it never change,
// whatever the status.
func TestRealBoundsOfRegions(t *testing.T) {
	const around = 64
	seen := map[Status]int{}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 13))
		a, b := newNode(t, nil), newNode(t, nil)
		pairUp(t, a, b, patient())
		here, there := a.buf[:20_000], b.buf[:20_000]
		mr, err := a.pd.RegMR(here, LocalWrite)
		if err != nil {
			t.Fatal(err)
		}
		for range 8 { // until one of them ends the connection
			x := someAttempt(r, len(here))
			for i := range here {
				here[i], there[i] = byte(r.Uint32()), byte(r.Uint32())
			}
			hereWas, thereWas := bytes.Clone(here), bytes.Clone(there)
			mine := there[around : around+x.size]
			region, err := b.pd.RegMR(mine, x.rights)
			if err != nil {
				t.Fatal(err)
			}
			wr := SendWR{Opcode: x.op, RemoteAddr: region.Addr + uint64(x.at), RKey: region.RKey,
				SGList: []SGE{mr.SGE(x.local, x.n)}}
			if !x.key {
				wr.RKey ^= 1
			}
			want := x.outcome(len(here))
			a.post(t, wr)
			got := a.wait(t, 1)[0]
			a.sync()
			b.sync()
			if got.Status != want {
				t.Fatalf("seed %d: %+v: %v, want %v", seed, x, got.Status, want)
			}
			seen[want]++
			if want == StatusSuccess && x.n > 0 {
				from, to := here[x.local:x.local+x.n], there[around+x.at:around+x.at+int64(x.n)]
				if !bytes.Equal(from, to) {
					t.Fatalf("seed %d: %+v: other bytes", seed, x)
				}
				if x.op == Write {
					copy(thereWas[around+x.at:], from)
				} else {
					copy(hereWas[x.local:], to)
				}
			}
			if !bytes.Equal(here, hereWas) || !bytes.Equal(there, thereWas) {
				t.Fatalf("seed %d: %+v: memory beside the request has changed", seed, x)
			}
			if err := region.Dereg(); err != nil {
				t.Fatal(err)
			}
			if want != StatusSuccess {
				if a.qp.State() != Err {
					t.Fatalf("seed %d: %v, and the queue pair is in %v", seed, want, a.qp.State())
				}
				break
			}
		}
	}
	for _, s := range []Status{StatusSuccess, StatusLocProtErr, StatusRemAccessErr} {
		if seen[s] < 5 {
			t.Errorf("%v came up %d times", s, seen[s])
		}
	}
}

// A region that was invalidated cannot be invalidated again or used by its old key, and its memory is unchanged.
func TestRealRegionThatIsGone(t *testing.T) {
	a, b := newNode(t, nil), newNode(t, nil)
	pairUp(t, a, b, patient())
	region, err := b.pd.RegMR(b.buf[:4096], LocalWrite|RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	if region.PD() != b.pd || region.Length != 4096 {
		t.Errorf("%+v", region)
	}
	if err := region.Dereg(); err != nil {
		t.Fatal(err)
	}
	if region.Dereg() == nil {
		t.Error("ended twice")
	}
	a.post(t, SendWR{Opcode: Write, SGList: []SGE{a.mr.SGE(0, 1)}, RemoteAddr: region.Addr,
		RKey: region.RKey})
	if w := a.wait(t, 1); w[0].Status != StatusRemAccessErr {
		t.Errorf("%v", w[0].Status)
	}
	if _, err := b.pd.RegMR(nil, RemoteRead); err == nil {
		t.Error("a region without bytes")
	}
}

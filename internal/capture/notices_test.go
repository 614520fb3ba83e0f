package capture

import (
	"bufio"
	"bytes"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"railyard/roce"
	"railyard/unit"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// film is a classic pcap file, written packet by packet at given times.
type film struct {
	t    *testing.T
	buf  bytes.Buffer
	w    *pcapgo.Writer
	snap int // captured bytes of each packet; 0: all
}

func newFilm(t *testing.T, snap int) *film {
	f := &film{t: t, snap: snap}
	f.w = pcapgo.NewWriterNanos(&f.buf)
	if err := f.w.WriteFileHeader(65535, layers.LinkTypeEthernet); err != nil {
		t.Fatal(err)
	}
	return f
}

// put adds a packet to a queue pair.
func (f *film) put(at unit.Time, from, to string, qp uint32, ecn uint8, h roce.Header, body int) {
	p := roce.Frame{Kind: roce.KindRoCEv2, BTH: h, Body: make([]byte, body)}
	p.BTH.DestQP, p.BTH.PKey = qp, 0xffff
	p.IP.Src, p.IP.Dst, p.IP.TTL, p.IP.TOS = netip.MustParseAddr(from), netip.MustParseAddr(to), 64, ecn
	p.UDP.SrcPort = 50000
	p.Complete()
	raw := p.Append(nil)
	ci := gopacket.CaptureInfo{Timestamp: time.Unix(1000, int64(at/unit.Nanosecond)), CaptureLength: len(raw),
		Length: len(raw)}
	if f.snap > 0 && len(raw) > f.snap {
		raw = raw[:f.snap]
		ci.CaptureLength = f.snap
	}
	if err := f.w.WritePacket(ci, raw); err != nil {
		f.t.Fatal(err)
	}
}

func (f *film) notices() *Notices {
	f.t.Helper()
	r, err := NewReader(bufio.NewReader(&f.buf))
	if err != nil {
		f.t.Fatal(err)
	}
	n, err := Note(r, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

// play has two queue pairs between the same hosts, one of which is marked. Its CNP goes to a queue pair with an
// uninformative number, and acknowledgements identify that one. The CNP of a third one cannot be assigned.
func (f *film) play() {
	const a, b = "10.0.0.1", "10.0.0.2"
	us := unit.Microsecond
	write := roce.Header{Opcode: roce.WriteMiddle}
	data := func(at unit.Time, qp, psn uint32, ecn uint8) {
		write.PSN = psn
		f.put(at, a, b, qp, ecn, write, 1024)
	}
	data(0, 17, 5000, 2)
	data(1*us, 18, 9_000_000, 2)
	f.put(2*us, b, a, 40, 2, roce.Header{Opcode: roce.Acknowledge, PSN: 9_000_000, Syndrome: roce.Ack}, 0)
	f.put(3*us, b, a, 41, 3, roce.Header{Opcode: roce.Acknowledge, PSN: 5000, Syndrome: roce.Ack}, 0)
	data(10*us, 18, 9_000_001, 3)
	data(11*us, 17, 5001, 2)
	f.put(12500*unit.Nanosecond, b, a, 40, 0, roce.Header{Opcode: roce.CNP, BECN: true}, roce.CNPPadLen)
	data(13*us, 18, 9_000_002, 3)
	f.put(14*us, b, a, 99, 0, roce.Header{Opcode: roce.CNP, BECN: true}, roce.CNPPadLen)
}

func TestNote(t *testing.T) {
	for _, snap := range []int{0, 128, 64} {
		f := newFilm(t, snap)
		f.play()
		n := f.notices()
		want := []Marked{{Name: "10.0.0.1 > 10.0.0.2 QP 0x000012", CNP: []unit.Time{12500 * unit.Nanosecond},
			CE: []unit.Time{10 * unit.Microsecond, 13 * unit.Microsecond}}}
		if !reflect.DeepEqual(n.Pairs, want) || n.Strange != 1 || n.Marks != 2 || n.CNPs != 2 ||
			n.Packets != 9 || n.Coarse {
			t.Errorf("%d bytes kept: %+v", snap, n)
		}
	}
	// The BTH is missing, so no packet is informative.
	f := newFilm(t, 44)
	f.play()
	if n := f.notices(); n.Packets != 9 || n.RoCE != 0 || len(n.Pairs) > 0 {
		t.Errorf("44 bytes kept: %+v", n)
	}
}

// The result for a file that ends inside a packet, and for one that is no capture.
func TestNoteDamaged(t *testing.T) {
	f := newFilm(t, 0)
	f.play()
	f.buf.Truncate(f.buf.Len() - 5)
	n := f.notices()
	if n.Packets != 8 || !strings.Contains(n.Damaged, "ends within packet 9") || len(n.Pairs) != 1 {
		t.Errorf("%+v", n)
	}
	if _, err := NewReader(bufio.NewReader(strings.NewReader("name: x\n"))); err == nil {
		t.Error("a scenario is taken for a capture")
	}
}

package capture

import (
	"bufio"
	"bytes"
	"net/netip"
	"testing"
	"time"

	"railyard/roce"
)

// A socket's datagram is captured with its header: over IPv4 its identification, over IPv6 the flow label, in which
// MRC has half of the entropy value.
func TestDatagram(t *testing.T) {
	for _, a := range []string{"10.0.0.1", "2001:db8::1"} {
		var buf bytes.Buffer
		w, err := NewWriter(&buf, "test", "port")
		if err != nil {
			t.Fatal(err)
		}
		var m roce.MRC
		h := roce.Header{Opcode: roce.MRCProbe, PKey: roce.DefaultPKey}
		addr := netip.MustParseAddr(a)
		from, to := netip.AddrPortFrom(addr, 0xc123), netip.AddrPortFrom(addr, roce.Port)
		w.Datagram(time.Unix(1, 0), true, from, to, 98, 0x4567, roce.AppendICRC(m.Append(&h, nil), 0))
		if _, err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(bufio.NewReader(&buf))
		if err != nil {
			t.Fatal(err)
		}
		var p Packet
		if err := r.Next(&p); err != nil || p.Err != nil {
			t.Fatal(err, p.Err)
		}
		f := &p.Frame
		if ev := roce.EVOf(&f.IP, &f.UDP); f.IP.Version == 6 && ev != 0x4567c123 || f.IP.Version == 4 &&
			(f.IP.ID != 0x4567 || ev != 0xc123) || f.IP.TOS != 98 {
			t.Errorf("%s: EV %#x, %v", a, uint32(ev), f)
		}
	}
}

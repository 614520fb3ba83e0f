package rcudp_test

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"railyard/internal/story"
	"railyard/rc"
	"railyard/rcudp"
	"railyard/roce"
	"railyard/unit"
)

// grown lists the counters that differ, by their names in reports.
func grown(before, after rcudp.Counters) (names []string) {
	a, b := reflect.ValueOf(before), reflect.ValueOf(after)
	for i := range a.NumField() {
		name := a.Type().Field(i).Tag.Get("json")
		if b.Field(i).Int() > a.Field(i).Int() && name != "received" {
			names = append(names, name)
		}
	}
	return names
}

// An endpoint counts an invalid datagram, and the queue pair does not receive it. Only whole datagrams with a valid
// ICRC are delivered.
func TestStories(t *testing.T) {
	page := story.Open(`
		What an endpoint does with datagrams that are not as they should be.
		A has sent one WRITE of 16 bytes. B gets it in spoilt copies first, one a microsecond: it counts them and
		says nothing. The ICRC covers the UDP port, too. Then it gets the packet itself, marked CE, twice; the
		second CNP is not due before 50 us. (IBTA 9.6, annex A17.9; rcudp/doc.go)`)
	addrs := [2]netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")}
	cfg := rc.Config{MTU: 1024, AckEvery: 1, Timeout: rc.LocalAckTimeout(14), Retries: 7}
	regions := rc.NewMemory(1)
	memory := make([]byte, 64)
	if err := regions.RegisterBuffer(9, 0, memory, rc.LocalWrite|rc.RemoteWrite); err != nil {
		t.Fatal(err)
	}
	var ends [2]*rcudp.Endpoint
	var conns [2]*rcudp.Conn
	for i := range ends {
		ends[i] = rcudp.NewEndpoint(rcudp.Config{Addr: addrs[i]})
		c := rcudp.NewConn(&cfg, regions, nil, 100*unit.Gbps, unit.MiB)
		c.QPN, c.DestQPN, c.Peer, c.Ports = uint32(17+i), uint32(18-i), addrs[1-i], []uint16{49152}
		if err := ends[i].Add(c); err != nil {
			t.Fatal(err)
		}
		for _, s := range []rc.State{rc.Init, rc.ReadyToReceive, rc.ReadyToSend} {
			if err := c.Modify(s, 100); err != nil {
				t.Fatal(err)
			}
		}
		conns[i] = c
	}
	if err := conns[0].Post(&rc.Request{ID: 1, RKey: 9, Len: 16,
		Data: []byte("sixteen bytes...")}); err != nil {
		t.Fatal(err)
	}
	var d rcudp.Datagram
	if !ends[0].Next(0, make([]byte, 0, 256), 0, &d) {
		t.Fatal("nothing to send")
	}
	wire, from := d.Append(nil), netip.AddrPortFrom(addrs[0], d.Port)
	const whole, ce = 24<<2 | 2, 3
	held := string(memory)
	for i, c := range []struct {
		what  string
		spoil func(b []byte) []byte
		src   netip.AddrPort
		tos   uint8
	}{
		{"eight bytes of it", func(b []byte) []byte { return b[:8] }, from, whole},
		{"it with transport header version 1", func(b []byte) []byte { b[1] |= 1; return b }, from, whole},
		{"it with an opcode of unreliable datagrams", func(b []byte) []byte {
			b[0] = 0x64
			return b
		}, from, whole},
		{"it for queue pair 99, which is nobody's", func(b []byte) []byte {
			b[7] = 99
			return b
		}, from, whole},
		{"it from 10.0.0.7", slices.Clone[[]byte], netip.MustParseAddrPort("10.0.0.7:49152"), whole},
		{"it in another partition", func(b []byte) []byte { b[2], b[3] = 0x12, 0x34; return b }, from, whole},
		{"it with a bit of the payload turned over", func(b []byte) []byte {
			b[30] ^= 4
			return b
		}, from, whole},
		{"it from another UDP port", slices.Clone[[]byte], netip.AddrPortFrom(addrs[0], 50000), whole},
		{"it as it was sent, marked CE on the way", slices.Clone[[]byte], from, 24<<2 | ce},
		{"it once more", slices.Clone[[]byte], from, 24<<2 | ce},
	} {
		now := unit.Time(i+1) * unit.Microsecond
		before := ends[1].Count
		ends[1].Input(now, c.src, c.tos, 0, c.spoil(slices.Clone(wire)))
		page.Tell(now, "B gets %s: %s", c.what, strings.Join(grown(before, ends[1].Count), ", "))
		for ends[1].Next(now, make([]byte, 0, 256), 0, &d) {
			var h roce.Header
			if _, err := h.Decode(d.Append(nil)); err != nil {
				t.Fatal(err)
			}
			page.Tell(now, "    B answers %v, DSCP %d", &h, d.TOS>>2)
		}
		if held != string(memory) {
			held = string(memory)
			page.Tell(now, "    B's memory holds %q", strings.TrimRight(held, "\x00"))
		}
	}
	page.Check(t, "datagrams-refused")
}

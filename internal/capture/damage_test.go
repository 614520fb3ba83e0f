package capture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"railyard/roce"

	"pgregory.net/rapid"
)

// taped is a good capture of a few messages, with the number of bytes after each packet.
func taped(t *testing.T) (whole []byte, ends []int) {
	c := newTape(t)
	for psn := range uint32(6) {
		c.put(false, roce.Header{Opcode: roce.WriteOnly, PSN: psn, VA: 0x1000, RKey: 1, Len: 64},
			make([]byte, 64), 2, nil)
		c.put(true, roce.Header{Opcode: roce.Acknowledge, PSN: psn, Syndrome: roce.Ack, MSN: psn + 1}, nil, 2,
			nil)
		if err := c.w.ng.Flush(); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, c.buf.Len())
	}
	return bytes.Clone(c.buf.Bytes()), ends
}

// Every prefix of a good capture describes its complete packets, each with a valid ICRC, and is reported as damaged
// if a packet is truncated. A prefix before the first packet is no capture.
func TestEveryPrefix(t *testing.T) {
	whole, ends := taped(t)
	for n := range len(whole) + 1 {
		r, err := NewReader(bufio.NewReader(bytes.NewReader(whole[:n])))
		if err != nil {
			if n >= ends[0] {
				t.Fatalf("%d bytes with a packet in them: %v", n, err)
			}
			continue
		}
		tl := NewTeller(100, func(Event) {})
		err = tl.Tell(r, nil)
		messages := int64(0)
		for _, e := range ends {
			if n >= e {
				messages++
			}
		}
		s := &tl.Story
		if s.Packets < 2*messages || s.Packets > 2*messages+1 || s.ICRCGood != s.Packets ||
			s.Broken+s.Other != 0 {
			t.Fatalf("%d of %d bytes hold %d messages: %+v", n, len(whole), messages, s)
		}
		if slices.Contains(ends, n) && (s.Damaged != "" || err != nil) {
			t.Fatalf("%d bytes end between packets: damaged %q, %v", n, s.Damaged, err)
		}
		if s.Packets == 0 && n > 0 && s.Damaged != "" && err == nil {
			t.Fatalf("%d bytes: nothing is read and nothing is said", n)
		}
	}
}

// A file that ends inside a packet or block is reported as truncated, in either format.
func TestEveryCutIsSaid(t *testing.T) {
	for _, name := range []string{"lo.pcap", "mrc.pcapng"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		// of a packet in a pcap
		length := func(at int) int { return 16 + int(binary.LittleEndian.Uint32(b[at+8:])) }
		ends, at := map[int]bool{24: true}, 24
		if filepath.Ext(name) == ".pcapng" {
			length = func(at int) int { return int(binary.LittleEndian.Uint32(b[at+4:])) } // of a block
			ends, at = map[int]bool{}, 0
		}
		for at < len(b) {
			at += length(at)
			ends[at] = true
		}
		for n := 1; n <= min(len(b), 6000); n++ {
			said := ""
			if r, err := NewReader(bufio.NewReader(bytes.NewReader(b[:n]))); err != nil {
				said = err.Error()
			} else {
				tl := NewTeller(0, func(Event) {})
				_ = tl.Tell(r, nil) // its error is the story's Damaged
				said = tl.Story.Damaged
			}
			if (said == "") != ends[n] {
				t.Fatalf("%s: %d bytes, between packets: %v, said: %q", name, n, ends[n], said)
			}
		}
	}
}

// Damage in the middle of another program's capture is reported, or the damaged packets are. No packet with a
// supposedly valid ICRC is invented.
func TestFlippedBits(t *testing.T) {
	for _, name := range []string{"lo.pcap", "real.pcap"} {
		whole, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		count := func(b []byte) *Story {
			r, err := NewReader(bufio.NewReader(bytes.NewReader(b)))
			if err != nil {
				return &Story{}
			}
			tl := NewTeller(1000, func(Event) {})
			_ = tl.Tell(r, nil)
			return &tl.Story
		}
		good := count(whole).ICRCGood
		for i := 24; i < len(whole); i += 7 { // after the file's header
			b := bytes.Clone(whole)
			b[i] ^= 1 << (i % 8)
			if s := count(b); s.ICRCGood > good {
				t.Fatalf("%s with a bit of byte %d flipped has %d good ICRCs, %d before", name, i,
					s.ICRCGood, good)
			}
		}
	}
}

// What is no capture is refused in words.
func TestNoCapture(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "shorter than a file header",
		"abc":                          "shorter than a file header",
		"this is a text\n":             "not a pcap or pcapng file",
		"\x0a\x0d\x0d\x0a":             "no pcapng that can be read",
		"\x0a\x0d\x0d\x0a\xff\xff\xff": "no pcapng that can be read",
	} {
		if _, err := NewReader(bufio.NewReader(strings.NewReader(text))); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	path := filepath.Join(t.TempDir(), "x.pcap")
	if _, err := Open(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(path, []byte("not a capture at all"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "x.pcap: not a pcap") {
		t.Errorf("%v", err)
	}
}

// Frames read back as they were written: bytes, time to the nanosecond, order.
func TestFramesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var buf bytes.Buffer
		w, err := NewWriter(&buf, "test", "a", "b")
		if err != nil {
			t.Fatal(err)
		}
		type frame struct {
			at  int64
			raw []byte
		}
		var in []frame
		for range rapid.IntRange(0, 20).Draw(t, "frames") {
			f := frame{rapid.Int64Range(0, 4e18).Draw(t, "ns"),
				rapid.SliceOfN(rapid.Byte(), 14, 200).Draw(t, "bytes")}
			in = append(in, f)
			w.Frame(time.Unix(0, f.at), rapid.IntRange(0, 1).Draw(t, "port"),
				rapid.Bool().Draw(t, "out"), f.raw,
				rapid.SampledFrom([]string{"", "dropped"}).Draw(t, "comment"))
		}
		if n, err := w.Close(); err != nil || n != int64(len(in)) {
			t.Fatalf("%d of %d frames written: %v", n, len(in), err)
		}
		r, err := NewReader(bufio.NewReader(&buf))
		if err != nil {
			t.Fatal(err)
		}
		var p Packet
		for i, f := range in {
			if err := r.Next(&p); err != nil {
				t.Fatal(err)
			}
			if p.Number != int64(i)+1 || p.At.UnixNano() != f.at || !bytes.Equal(p.Raw, f.raw) || p.Cut {
				t.Fatalf("frame %d: %d at %d, want %d", i, p.Number, p.At.UnixNano(), f.at)
			}
		}
		if err := r.Next(&p); err != io.EOF {
			t.Fatalf("behind the last: %v", err)
		}
	})
}

// A go-back-N sender whose packets are lost at random, captured after the loss. The description counts exactly the
// missing and the retransmitted packets, also across a wrap of PSNs.
func TestCountsOfGoBackN(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := newTape(t)
		first := rapid.SampledFrom([]uint32{0, 7, roce.PSNMask - 3, roce.PSNMask}).Draw(rt, "first PSN")
		n := rapid.IntRange(2, 30).Draw(rt, "packets")
		put := func(i int) {
			c.put(false, roce.Header{Opcode: roce.WriteOnly, PSN: (first + uint32(i)) & roce.PSNMask,
				VA: 0x1000, RKey: 1,
				Len: 32}, make([]byte, 32), 2, nil)
		}
		ack := func(i int, s roce.Syndrome) {
			c.put(true, roce.Header{Opcode: roce.Acknowledge, PSN: (first + uint32(i)) & roce.PSNMask,
				Syndrome: s}, nil, 2, nil)
		}
		put(0) // the first one arrives, from which the first PSN is known
		seen, gaps, again := 0, 0, 0
		for next := 1; next < n; {
			upto := min(n, next+rapid.IntRange(1, 6).Draw(rt, "window"))
			lost := -1
			for i := next; i < upto; i++ {
				if lost < 0 && rapid.IntRange(0, 4).Draw(rt, "luck") == 0 {
					lost = i
					continue
				}
				if put(i); i <= seen {
					again++
				} else {
					gaps += i - seen - 1
					seen = i
				}
			}
			if lost >= 0 {
				ack(lost, roce.NakSequence)
				next = lost
			} else {
				next = upto
			}
		}
		ack(n-1, roce.Ack)
		_, s := c.story()
		f := s.Flows[0]
		if f.Missing != int64(gaps) || f.Again != int64(again) || f.Unfinished != 0 {
			rt.Fatalf("%d missing, %d again, %d unfinished; %d and %d were", f.Missing, f.Again,
				f.Unfinished, gaps, again)
		}
		if f.Packets != f.Again-f.Late+f.Messages || s.ICRCBad != 0 {
			rt.Fatalf("%+v", f)
		}
	})
}

// A capture file gets its name only when it is complete. An existing one stays unless overwriting is requested, and
// no other file is left.
func TestCaptureFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.pcapng")
	entries := func() string {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range list {
			names = append(names, e.Name())
		}
		return strings.Join(names, " ")
	}
	for i := range 2 {
		f, err := Create(path, i > 0, "test", "port")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); (err == nil) != (i > 0) {
			t.Fatalf("capture %d before it is complete: %v", i, err)
		}
		f.Datagram(time.Unix(1, 0), true, netip.MustParseAddrPort("10.0.0.1:50000"),
			netip.MustParseAddrPort("10.0.0.2:4791"), 2, 7, []byte("no RoCE"))
		if n, err := f.Close(); n != 1 || err != nil {
			t.Fatalf("%d frames, %v", n, err)
		}
		if entries() != "x.pcapng" {
			t.Fatalf("the folder has %s", entries())
		}
	}
	if _, err := Create(path, false, "test", "port"); err == nil ||
		!strings.Contains(err.Error(), "--force") {
		t.Errorf("%v", err)
	}
	if _, err := Create(dir, true, "test", "port"); err == nil {
		t.Error("a folder is replaced")
	}
	if _, err := Create(filepath.Join(dir, "none", "x"), false, "test", "port"); err == nil {
		t.Error("a capture is made in a folder that is not there")
	}
	if _, err := NewWriter(io.Discard, "test"); err == nil {
		t.Error("a capture has no interface")
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	tl := NewTeller(10, func(e Event) { t.Log(e.Text) })
	if err := tl.Tell(r, nil); err != nil || tl.Story.Broken != 1 || r.Share() != 1 {
		t.Errorf("%+v, %v, %g read", tl.Story, err, r.Share())
	}
}

// Repeated events are reported once with their number; beyond the limit events are only counted.
func TestRepeatsAndLimit(t *testing.T) {
	var got []string
	tl := NewTeller(2, func(e Event) {
		got = append(got, fmt.Sprintf("%s x%d until %g", e.Text, e.Times, e.Until))
	})
	for i, text := range []string{"a", "a", "a", "b", "c", "c", "d"} {
		tl.say(Event{Micros: float64(i), Who: "x", Text: text})
	}
	tl.finish()
	if s := strings.Join(got, ", "); s != "a x3 until 2, b x0 until 0" || tl.Story.Omitted != 2 {
		t.Errorf("%s; %d omitted", s, tl.Story.Omitted)
	}
}

package capture

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"railyard/internal/input"
	"railyard/roce"
	"railyard/unit"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// Packet is one captured packet.
type Packet struct {
	Number int64 // from 1, as in tshark
	At     time.Time
	Cut    bool // the capture kept less than the wire carried
	Frame  roce.Frame
	Err    error       // why Frame is incomplete; roce.ErrNotRoCE for other traffic
	TCP    *layers.TCP // TCP header of other traffic; nil: not TCP
	Raw    []byte
	Port   string // the interface's name, in captures of several
	Point  int    // the interface's number in the file

	Comment string // comment of the capturing program; read with Reader.Comments
}

// source is the common interface of both readers of pcapgo.
type source interface {
	ZeroCopyReadPacketData() ([]byte, gopacket.CaptureInfo, error)
}

// Reader reads pcap and pcapng files of Ethernet, Linux cooked or raw IP.
type Reader struct {
	Comments bool // whether comments of packets are read too
	Heads    bool // truncated packets count as complete if their headers are

	src   source
	links func(iface int) layers.LinkType
	names func(iface int) string
	n     int64
	file  io.Closer
	size  int64
	taken *counter // bytes read of the file
	room  []byte   // buffer to complete them in,
	used  int      // bytes of room that the last packet used
}

// counter counts the bytes read from a file.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// Share returns how much of a file has been read, 0 to 1.
func (r *Reader) Share() float64 {
	if r.size == 0 {
		return 0
	}
	return min(1, float64(r.taken.n)/float64(r.size))
}

// Open starts to read a capture file.
func Open(path string) (*Reader, error) {
	f, size, err := input.Stream(path, 0)
	if err != nil {
		return nil, err
	}
	c := &counter{r: f}
	r, err := NewReader(bufio.NewReaderSize(c, 1<<20))
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r.file, r.taken, r.size = f, c, size
	return r, nil
}

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

// NewReader distinguishes pcapng from pcap by its first bytes.
func NewReader(in *bufio.Reader) (*Reader, error) {
	magic, err := in.Peek(4)
	if err != nil {
		return nil, errors.New("not a pcap or pcapng file: shorter than a file header")
	}
	r := &Reader{}
	if string(magic) == "\x0a\x0d\x0d\x0a" {
		ng, err := pcapgo.NewNgReader(in, pcapgo.NgReaderOptions{WantMixedLinkType: true})
		if err != nil {
			return nil, fmt.Errorf("no pcapng that can be read: %w", err)
		}
		r.src = ng
		r.links = func(i int) layers.LinkType {
			intf, err := ng.Interface(i)
			if err != nil {
				return layers.LinkTypeNull
			}
			return intf.LinkType
		}
		r.names = func(i int) string {
			intf, err := ng.Interface(i)
			if err != nil || ng.NInterfaces() < 2 {
				return ""
			}
			return intf.Name
		}
		return r, nil
	}
	p, err := pcapgo.NewReader(in)
	if err != nil {
		if strings.Contains(err.Error(), "magic") {
			return nil, errors.New("not a pcap or pcapng file")
		}
		return nil, fmt.Errorf("not a pcap or pcapng file: %w", err)
	}
	r.src = zeroCopy{p}
	r.links = func(int) layers.LinkType { return p.LinkType() }
	r.names = func(int) string { return "" }
	return r, nil
}

// zeroCopy gives the pcap reader the method of the pcapng reader.
type zeroCopy struct{ *pcapgo.Reader }

// ZeroCopyReadPacketData reads a packet; a file that ends after a packet's header ends unexpectedly.
func (z zeroCopy) ZeroCopyReadPacketData() ([]byte, gopacket.CaptureInfo, error) {
	data, ci, err := z.Reader.ZeroCopyReadPacketData()
	if errors.Is(err, io.EOF) && ci.CaptureLength > 0 {
		err = io.ErrUnexpectedEOF
	}
	return data, ci, err
}

// Header sizes of Linux cooked captures.
const (
	cookedLen  = 16
	cooked2Len = 20
)

// Next reads a packet; its bytes are valid until the next call. io.EOF ends the capture. Another error means that
// the file is damaged from here on.
func (r *Reader) Next(p *Packet) (err error) {
	defer func() { // a damaged file must not cause a panic here
		if x := recover(); x != nil {
			err = r.broken(fmt.Errorf("%v", x))
		}
	}()
	data, ci, comment, err := r.read()
	if err != nil {
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return io.EOF
		}
		return r.broken(err)
	}
	r.n++
	*p = Packet{Number: r.n, At: ci.Timestamp, Cut: ci.CaptureLength < ci.Length, Raw: data,
		Port: r.names(ci.InterfaceIndex), Point: ci.InterfaceIndex, Comment: comment}
	if p.Cut && r.Heads {
		r.whole(p, r.links(ci.InterfaceIndex))
		return nil
	}
	p.decode(data, r.links(ci.InterfaceIndex))
	return nil
}

// broken describes where a file is truncated or damaged.
func (r *Reader) broken(err error) error {
	switch {
	case !errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("is damaged after packet %d: %w", r.n, err)
	case r.size > 0:
		return fmt.Errorf("ends within packet %d, at byte %s: truncated", r.n+1, unit.ShowCount(r.size))
	}
	return fmt.Errorf("ends within packet %d: truncated", r.n+1)
}

// largest is the largest IP packet.
const largest = 1 << 16

// whole decodes a truncated packet, with zeros for the missing part. It counts as complete if its BTH is.
func (r *Reader) whole(p *Packet, link layers.LinkType) {
	if r.room == nil {
		r.room = make([]byte, largest+256)
	}
	n := copy(r.room, p.Raw)
	clear(r.room[n:max(n, r.used)])
	r.used = n
	p.decode(r.room, link)
	f := &p.Frame
	if p.Err != nil {
		return
	}
	end := len(r.room) - len(f.Trail) - roce.ICRCLen - len(f.Body) // of the headers
	if bth := end - f.HeadLen() + roce.BTHLen; n < bth {
		p.Err = roce.ErrTruncated
	}
}

// decode reads a packet after a header of its link's kind.
func (p *Packet) decode(data []byte, link layers.LinkType) {
	p.TCP = nil
	defer func() {
		if p.Err == roce.ErrNotRoCE && p.Frame.IP.Proto == uint8(layers.IPProtocolTCP) {
			p.TCP = tcpOf(data, link)
		}
	}()
	switch link {
	case layers.LinkTypeEthernet:
		p.Err = p.Frame.Decode(data)
	case layers.LinkTypeRaw, layers.LinkTypeIPv4, layers.LinkTypeIPv6, 12, 14:
		p.Err = p.Frame.DecodeIP(data)
	case layers.LinkTypeLinuxSLL:
		p.Err = cooked(&p.Frame, data, cookedLen, 14)
	case 276: // Linux cooked, version 2
		p.Err = cooked(&p.Frame, data, cooked2Len, 0)
	default:
		p.Err = roce.ErrNotRoCE
	}
}

// read reads a packet, and its comment if requested.
func (r *Reader) read() (data []byte, ci gopacket.CaptureInfo, comment string, err error) {
	ng, ok := r.src.(*pcapgo.NgReader)
	if !r.Comments || !ok {
		data, ci, err = r.src.ZeroCopyReadPacketData()
		return data, ci, "", err
	}
	data, ci, options, err := ng.ZeroCopyReadPacketDataWithOptions()
	return data, ci, strings.Join(options.Comments, "; "), err
}

// cooked reads an IP packet after a Linux cooked header with its EtherType at offset typ.
func cooked(f *roce.Frame, b []byte, head, typ int) error {
	if len(b) < head {
		return roce.ErrTruncated
	}
	switch uint16(b[typ])<<8 | uint16(b[typ+1]) {
	case roce.TypeIPv4, roce.TypeIPv6:
		return f.DecodeIP(b[head:])
	}
	return roce.ErrNotRoCE
}

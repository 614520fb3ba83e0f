package capture

import (
	"bufio"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"railyard/roce"
	"railyard/unit"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// Writer writes Ethernet frames with nanosecond time stamps as pcapng. It is safe for concurrent use.
type Writer struct {
	mu     sync.Mutex
	ng     *pcapgo.NgWriter
	buf    []byte
	frames int64
	err    error
}

// NewWriter starts a capture whose interfaces have the given names.
func NewWriter(w io.Writer, app string, names ...string) (*Writer, error) {
	if len(names) == 0 {
		return nil, fmt.Errorf("a capture needs an interface")
	}
	opt := pcapgo.NgWriterOptions{SectionInfo: pcapgo.NgSectionInfo{Application: app}}
	intf := func(name string) pcapgo.NgInterface {
		return pcapgo.NgInterface{Name: name, LinkType: layers.LinkTypeEthernet, TimestampResolution: 9}
	}
	ng, err := pcapgo.NewNgWriterInterface(w, intf(names[0]), opt)
	if err != nil {
		return nil, err
	}
	for _, n := range names[1:] {
		if _, err := ng.AddInterface(intf(n)); err != nil {
			return nil, err
		}
	}
	return &Writer{ng: ng}, nil
}

// Simulated writes a frame that left an interface at a simulated time.
func (w *Writer) Simulated(at unit.Time, iface int, frame []byte, comment string) {
	w.Frame(time.Unix(0, int64(at/unit.Nanosecond)), iface, true, frame, comment)
}

// Frame writes one Ethernet frame without FCS, with an optional comment.
func (w *Writer) Frame(at time.Time, iface int, out bool, frame []byte, comment string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.write(at, iface, out, frame, comment)
}

func (w *Writer) write(at time.Time, iface int, out bool, frame []byte, comment string) {
	if w.err != nil {
		return
	}
	dir := pcapgo.NgEpbFlagDirectionInbound
	if out {
		dir = pcapgo.NgEpbFlagDirectionOutbound
	}
	o := pcapgo.NgPacketOptions{Flags: &pcapgo.NgEpbFlags{Direction: dir}}
	if comment != "" {
		o.Comments = []string{comment}
	}
	w.frames++
	w.err = w.ng.WritePacketWithOptions(gopacket.CaptureInfo{Timestamp: at, CaptureLength: len(frame),
		Length: len(frame), InterfaceIndex: iface}, frame, o)
}

// Datagram writes a UDP datagram of a socket with the headers that the kernel adds; MAC addresses are derived from
// the IP addresses. id is IPv4's identification, over IPv6 the low half of the flow label.
func (w *Writer) Datagram(at time.Time, out bool, src, dst netip.AddrPort, tos uint8, id uint16, data []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	eth := roce.Ethernet{Src: macOf(src.Addr()), Dst: macOf(dst.Addr())}
	ip := roce.IP{TOS: tos, ID: id, Flow: uint32(id), Frag: 0x4000, TTL: 64, Src: src.Addr(), Dst: dst.Addr()}
	w.buf = roce.AppendUDP(w.buf[:0], &eth, &ip, src.Port(), dst.Port(), data)
	w.write(at, 0, out, w.buf, "")
}

// macOf makes a locally administered MAC address of an IP address.
func macOf(a netip.Addr) roce.MAC {
	b := a.As16()
	return roce.MAC{2, 0, b[12], b[13], b[14], b[15]}
}

// Close flushes and returns how many frames were written, and the first error.
func (w *Writer) Close() (frames int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.ng.Flush(); w.err == nil {
		w.err = err
	}
	return w.frames, w.err
}

// File is a Writer into a file that appears under its name once it is complete.
type File struct {
	*Writer
	path string
	tmp  *os.File
	buf  *bufio.Writer
}

// Create starts a capture file. An existing one is refused unless force is set.
func Create(path string, force bool, app string, names ...string) (*File, error) {
	if st, err := os.Stat(path); err == nil && (!force || !st.Mode().IsRegular()) {
		return nil, fmt.Errorf("%s exists; --force replaces a file", path)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return nil, err
	}
	f := &File{path: path, tmp: tmp, buf: bufio.NewWriterSize(tmp, 1<<20)}
	if f.Writer, err = NewWriter(f.buf, app, names...); err != nil {
		tmp.Close()
		os.Remove(tmp.Name())
		return nil, err
	}
	return f, nil
}

// Close completes the file and renames it to its name.
func (f *File) Close() (frames int64, err error) {
	frames, err = f.Writer.Close()
	for _, step := range []func() error{f.buf.Flush, func() error { return f.tmp.Chmod(0o644) }, f.tmp.Close} {
		if e := step(); err == nil {
			err = e
		}
	}
	if err == nil {
		err = os.Rename(f.tmp.Name(), f.path)
	}
	if err != nil {
		os.Remove(f.tmp.Name())
	}
	return frames, err
}

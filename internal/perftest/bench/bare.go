package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"railyard/internal/field"
	"railyard/internal/ranks"
)

// cpuTime returns processes' processor time, ns.
type cpuTime struct{ user, system float64 }

func (c cpuTime) total() float64         { return c.user + c.system }
func (c cpuTime) plus(o cpuTime) cpuTime { return cpuTime{c.user + o.user, c.system + o.system} }
func (c cpuTime) less(o cpuTime) cpuTime { return cpuTime{c.user - o.user, c.system - o.system} }

// ownCPU returns the processor time of this process so far.
func ownCPU() cpuTime {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return cpuTime{}
	}
	return cpuTime{float64(u.Utime.Nano()), float64(u.Stime.Nano())}
}

// childCPU returns the processor time of a finished child, with its start (some ms).
func childCPU(c *exec.Cmd) cpuTime {
	p := c.ProcessState
	return cpuTime{float64(p.UserTime()), float64(p.SystemTime())}
}

// Peers of the bare measurements, other processes of this program.
const (
	peerUDP  = "udp4"   // sends every datagram back
	peerTCP  = "tcp4"   // echoes data, 4 KiB at a time
	peerSink = "stream" // reads a stream
)

// Serve is the other end of a bare measurement, by its kind; it prints its address.
func Serve(w io.Writer, kind string) error {
	switch kind {
	case peerUDP:
		return echo(w)
	case peerTCP, peerSink:
	default:
		return field.New("--peer", "unknown value %s; accepted: %s, %s, %s", field.Quote(kind), peerUDP, peerTCP, peerSink)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	fmt.Fprintln(w, l.Addr())
	c, err := l.Accept()
	if err != nil {
		return err
	}
	defer c.Close()
	if kind == peerSink {
		b := make([]byte, streamPiece)
		for {
			if _, err := c.Read(b); err != nil {
				return nil
			}
		}
	}
	b := make([]byte, barePing)
	for {
		if _, err := io.ReadFull(c, b); err != nil {
			return nil
		}
		if _, err := c.Write(b); err != nil {
			return err
		}
	}
}

// Sizes of the bare measurements.
const (
	barePing    = 4 << 10
	streamPiece = 1 << 20
)

// echo sends every datagram back, as the other end of the bare ping-pong.
func echo(w io.Writer) error {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	fmt.Fprintln(w, c.LocalAddr())
	b := make([]byte, 1<<16)
	for {
		n, from, err := c.ReadFromUDPAddrPort(b)
		if err != nil {
			return err
		}
		if _, err := c.WriteToUDPAddrPort(b[:n], from); err != nil {
			return err
		}
	}
}

// barePingPong sends 4 KiB there and back; half of the median is the latency, us.
func barePingPong(ctx context.Context, network string, d time.Duration) (float64, error) {
	server, line, err := ranks.Start(ctx, nil, "rdma", "bench", "--peer", network)
	if err != nil {
		return 0, err
	}
	defer ranks.Stop(server)
	conn, err := net.Dial(network, line)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	b := make([]byte, barePing)
	var us []float64
	for began := time.Now(); time.Since(began) < d && ctx.Err() == nil; {
		start := time.Now()
		if err := conn.SetReadDeadline(start.Add(time.Second)); err != nil {
			return 0, err
		}
		if _, err := conn.Write(b); err != nil {
			return 0, err
		}
		if _, err := io.ReadFull(conn, b); err != nil { // a datagram arrives completely, or is lost
			if network == peerUDP && errors.Is(err, os.ErrDeadlineExceeded) {
				continue
			}
			return 0, err
		}
		us = append(us, float64(time.Since(start).Nanoseconds())/2e3)
	}
	return median(us), ctx.Err()
}

// bareStream writes 1 MiB at a time into a TCP connection to another process. It returns the bytes and the
// processor time of both ends.
func bareStream(ctx context.Context, d time.Duration) (bytes float64, used cpuTime, err error) {
	server, line, err := ranks.Start(ctx, nil, "rdma", "bench", "--peer", peerSink)
	if err != nil {
		return 0, used, err
	}
	defer ranks.Stop(server)
	conn, err := net.Dial("tcp4", line)
	if err != nil {
		return 0, used, err
	}
	defer conn.Close()
	b := make([]byte, streamPiece)
	before := ownCPU()
	for began := time.Now(); time.Since(began) < d && ctx.Err() == nil; {
		n, err := conn.Write(b)
		if err != nil {
			return 0, used, err
		}
		bytes += float64(n)
	}
	used = ownCPU().less(before)
	ranks.Stop(server)
	return bytes, used.plus(childCPU(server)), ctx.Err()
}

// bareCopy copies 1 MiB between buffers that no cache holds: ns per KiB.
func bareCopy(d time.Duration) float64 {
	const room = 256 << 20
	from, to := make([]byte, room), make([]byte, room)
	for i := 0; i < room; i += 4096 { // pages exist from the first touch on
		from[i], to[i] = 1, 1
	}
	before, copied := ownCPU(), 0.0
	for at, began := 0, time.Now(); time.Since(began) < d; at = (at + streamPiece) % room {
		copied += float64(copy(to[at:at+streamPiece], from[at:at+streamPiece]))
	}
	used := ownCPU().less(before).total()
	runtime.KeepAlive(to)
	return used / copied * 1024
}

package sim

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"railyard/internal/fabric"
	"railyard/internal/scenario"
	"railyard/scenarios"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// BenchmarkMail measures the cost of a window of 1 µs for a run in two processes on this host. Each sends the
// letters of a window to the other and waits for the other's letters, as stored in memory, over TCP or NATS.
// us/window is that of the fastest tenth. speedup is that of the run's work, shared evenly, with that cost after
// each window. Encoding of letters is not in it.
func BenchmarkMail(b *testing.B) {
	for _, k := range []int{4, 8, 16} {
		windows, letters, work := letters(k)
		each := letters / windows
		for _, way := range []string{"tcp", "nats"} {
			b.Run(fmt.Sprintf("hosts=%d/%s", k*k*k/4, way), func(b *testing.B) {
				exchange := peered(b, way)
				size := max(1, each/2*int(unsafe.Sizeof(fabric.Letter{})))
				var took []float64
				for b.Loop() {
					began := time.Now()
					exchange(size)
					took = append(took, time.Since(began).Seconds())
				}
				slices.Sort(took)
				cost := took[len(took)/10] // the host has other load, too
				b.ReportMetric(cost*1e6, "us/window")
				b.ReportMetric(float64(each), "letters/window")
				b.ReportMetric(work/float64(windows)*1e6, "us-work/window")
				b.ReportMetric(work/(work/2+cost*float64(windows)), "speedup")
			})
		}
	}
}

// letters runs a permutation on a fat tree: as a whole, for its processor time, and in two parts, for the data that
// they exchange.
func letters(k int) (windows, letters int, seconds float64) {
	d := must(scenario.Parse("permutation", []byte(scenarios.Texts()["fattree128-permutation.yaml"]),
		[]string{fmt.Sprint("fabric.k=", k), "workload.traffic.permutation.bytes=500KB",
			"server.nic_latency=1us"}))
	plan := must(d.Resolve(nil))
	var whole *Run
	runs := 0
	for ; seconds < 0.5; runs++ {
		whole = must(New(plan))
		var before, after syscall.Rusage
		must(0, syscall.Getrusage(syscall.RUSAGE_SELF, &before))
		must(0, whole.Go(nil))
		must(0, syscall.Getrusage(syscall.RUSAGE_SELF, &after))
		seconds += float64(after.Utime.Nano()-before.Utime.Nano()) / 1e9
	}
	r := must(New(plan))
	owner, n, window := r.shares(2)
	p := must(newParts(r, owner, n, window))
	sent := make([]int, n)
	for id, x := range p.of {
		post := p.post(id, owner)
		x.Net.Split(func(node int32) bool { return owner[node] == int32(id) },
			func(l fabric.Letter) { sent[id]++; post(l) })
	}
	must(0, p.run())
	return int((whole.Net.Q.Now() + window - 1) / window), sent[0] + sent[1], seconds / float64(runs)
}

// must returns a result; an error ends the benchmark.
func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// peered starts the other process and returns the function that exchanges a window with it.
func peered(b *testing.B, way string) (exchange func(bytes int)) {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	defer l.Close()
	address, m := l.Addr().String(), io.ReadWriter(nil)
	if way == "nats" {
		s := must(server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, MaxPayload: 8 << 20}))
		go s.Start()
		s.ReadyForConnections(10 * time.Second)
		b.Cleanup(s.Shutdown)
		address, m = s.ClientURL(), onNATS(s.ClientURL(), "here", "there")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestRealMailPeer$")
	cmd.Env = append(os.Environ(), "RAILYARD_MAIL_TO="+address)
	must(0, cmd.Start())
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if way == "tcp" {
		m = must(l.Accept())
	}
	must(io.ReadFull(m, make([]byte, 1))) // the other process listens
	return func(bytes int) {
		go send(m, bytes)
		must(io.CopyN(io.Discard, m, int64(8+bytes)))
	}
}

// send sends the letters of a window after their size.
func send(m io.Writer, bytes int) {
	must(m.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(bytes)), make([]byte, bytes)...)))
}

// TestRealMailPeer is the other process.
func TestRealMailPeer(t *testing.T) {
	to := os.Getenv("RAILYARD_MAIL_TO")
	if to == "" {
		t.Skip("a process of BenchmarkMail")
	}
	var m io.ReadWriter
	if strings.HasPrefix(to, "nats:") {
		m = onNATS(to, "there", "here")
	} else {
		m = must(net.Dial("tcp", to))
	}
	must(m.Write([]byte{0}))
	for head := make([]byte, 8); ; { // until the process is killed
		must(io.ReadFull(m, head))
		bytes := int64(binary.LittleEndian.Uint64(head))
		go send(m, int(bytes))
		must(io.CopyN(io.Discard, m, bytes))
	}
}

// subjects is a connection by two subjects of a NATS server.
type subjects struct {
	*nats.Conn
	in   *nats.Subscription
	out  string
	left []byte // rest of the last message
}

func onNATS(url, in, out string) *subjects {
	c := must(nats.Connect(url))
	s := &subjects{Conn: c, in: must(c.SubscribeSync(in)), out: out}
	must(0, c.Flush())
	return s
}

func (s *subjects) Read(b []byte) (int, error) {
	if len(s.left) == 0 {
		s.left = must(s.in.NextMsg(time.Minute)).Data
	}
	n := copy(b, s.left)
	s.left = s.left[n:]
	return n, nil
}

func (s *subjects) Write(b []byte) (int, error) {
	return len(b), s.Publish(s.out, b)
}

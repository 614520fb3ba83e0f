package jetstream

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"railyard/internal/runner"
	"railyard/internal/study"
	"railyard/internal/study/sweep"
	"railyard/unit"

	"github.com/nats-io/nats.go/jetstream"
)

const tiny = `name: tiny
fabric: {kind: rail-only, hosts: 4, host_link: {rate: 100Gbps, delay: 1us}, fabric_link: {rate: 100Gbps, delay: 1us}}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-3/gpu-1, bytes: 64KiB},
  {from: host-2/gpu-1, to: host-3/gpu-1, bytes: 64KiB}]}}
`

// begun opens a study of 52 trials in a directory.
func begun(t *testing.T, scenario, dir string) *sweep.Study {
	t.Helper()
	s, err := sweep.New(&sweep.File{Scenario: scenario, Seeds: 4, Vary: []sweep.Vary{
		{Key: "transport.ack_every", Values: []string{"1", "2", "4"}},
		{Key: "workload.traffic.flows[0].bytes", Range: "4KiB..32KiB:4:log"}}}, sweep.Options{Dir: dir})
	if err == nil {
		err = s.Open()
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Pool = &study.Pool{Workers: 1, Memory: unit.GB}
	return s
}

// results writes the results of a study and returns them.
func results(t *testing.T, s *sweep.Study) []byte {
	t.Helper()
	if err := s.Write(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(s.Dir, sweep.ParquetName))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func served(t *testing.T, token string) *Server {
	t.Helper()
	server, err := Serve(Listen{Address: "127.0.0.1:0", Token: token, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

// Two workers, one of which ends after a few trials, and a driver that ends and resumes give the bytes of one
// process.
func TestRealWorkers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tiny.yaml")
	if err := os.WriteFile(path, []byte(tiny), 0o600); err != nil {
		t.Fatal(err)
	}
	alone := begun(t, path, filepath.Join(dir, "alone"))
	defer alone.Close()
	if err := alone.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	server := served(t, "secret")
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	work := func(ctx context.Context) *Worker {
		w := &Worker{Access: server.Access, Pool: &study.Pool{Workers: 1, Memory: unit.GB}}
		all.Go(func() {
			if err := w.Run(ctx); !errors.Is(err, runner.ErrInterrupted) {
				t.Errorf("worker: %v", err)
			}
		})
		return w
	}
	short, end := context.WithCancel(ctx)
	defer end()
	s := begun(t, path, filepath.Join(dir, "spread"))
	s.Engine = &Driver{Access: server.Access}
	drive, stop := context.WithCancel(ctx)
	s.Pool.Progress = func(x study.State) {
		switch x.Done {
		case 5:
			end()
		case 20:
			stop()
		}
	}
	work(short)
	left := work(ctx)
	if err := s.Run(drive); !errors.Is(err, runner.ErrInterrupted) {
		t.Errorf("the driver ended with %v", err)
	}
	s.Close()
	s = begun(t, path, filepath.Join(dir, "spread"))
	defer s.Close()
	s.Engine = &Driver{Access: server.Access}
	if err := s.Run(ctx); err != nil || s.Kept < 20 || s.Kept+s.Simulated != 52 || s.Short != 0 {
		t.Errorf("%v, %d kept, %d simulated, %d left out", err, s.Kept, s.Simulated, s.Short)
	}
	cancel()
	all.Wait()
	if !bytes.Equal(results(t, s), results(t, alone)) || left.Trials.Load() == 0 {
		t.Error("the results differ from those of one process")
	}
}

// A trial whose workers repeatedly end is set aside, and the others complete.
func TestRealPoisoned(t *testing.T) {
	old := silence
	silence = 200 * time.Millisecond
	defer func() { silence = old }()
	dir := t.TempDir()
	path := filepath.Join(dir, "tiny.yaml")
	if err := os.WriteFile(path, []byte(tiny), 0o600); err != nil {
		t.Fatal(err)
	}
	server := served(t, "")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s := begun(t, path, filepath.Join(dir, "s"))
	defer s.Close()
	d := &Driver{Access: server.Access}
	s.Engine = d
	var all sync.WaitGroup
	all.Go(func() {
		if err := s.Run(ctx); err != nil {
			t.Errorf("the driver ended with %v", err)
		}
	})
	conn, js, err := server.connect("test")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	study0, _ := identity(s.Dir)
	for { // one trial, which no worker acknowledges
		c, err := js.Consumer(ctx, prefix+study0+trials, workers)
		if err == nil {
			if m, err := c.Next(); err == nil {
				meta, _ := m.Metadata()
				if meta.NumDelivered == tries {
					break
				}
				continue
			}
		}
		pause(ctx, 10*time.Millisecond)
		if ctx.Err() != nil {
			t.Fatal("no trial came three times")
		}
	}
	w := &Worker{Access: server.Access, Pool: &study.Pool{Workers: 2, Memory: unit.GB}}
	own, end := context.WithCancel(ctx)
	var worker sync.WaitGroup
	worker.Go(func() { _ = w.Run(own) })
	all.Wait()
	end()
	worker.Wait()
	if s.Short == 0 || s.Simulated+s.Short != 52 || s.ShortWhy == nil || !strings.Contains(s.ShortWhy.Error(), "3 workers ended") {
		t.Errorf("%d simulated, %d left out: %v", s.Simulated, s.Short, s.ShortWhy)
	}
}

// An unreachable or forbidden server is rejected with the flag and what is accepted.
func TestRealRefused(t *testing.T) {
	server := served(t, "secret")
	for want, a := range map[string]Access{
		"refuses the token; accepted: --token-file": {URL: server.URL, Token: "wrong"},
		"cannot be reached":                         {URL: "nats://127.0.0.1:1"},
	} {
		if _, _, err := a.connect("test"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for address, want := range map[string]string{
		"4222":         "accepted: HOST:PORT",
		"0.0.0.0:0":    "a token is needed",
		"127.0.0.1:-1": "accepted: HOST:PORT",
	} {
		_, err := Serve(Listen{Address: address, Dir: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", address, err, want)
		}
	}
	p := sweep.Performer{}
	if _, err := p.Perform(context.Background(), &sweep.Bundle{}, &sweep.Task{Version: "0.0.1"}); err == nil ||
		!strings.Contains(err.Error(), "the study is of version 0.0.1, this worker of ") {
		t.Error(err)
	}
}

// A trial and a record above the server's maximum message size pass through the object store, which then drops
// them. Objects of a killed process expire there.
func TestRealLarge(t *testing.T) {
	server := served(t, "")
	b, err := server.dial("test")
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	trial := &sweep.Trial{ID: sweep.ID{1}}
	flows := make([]byte, 9<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(flows)
	l := &book{bundle: &sweep.Bundle{Path: "s.yaml"}, records: map[string]*sweep.Record{}, taken: map[string]int{},
		left: map[string]bool{}, text: flows}
	var worker sync.WaitGroup
	worker.Go(func() {
		w := &Worker{broker: b, held: map[string]*sweep.Bundle{}}
		w.perform = func(_ context.Context, _ *sweep.Bundle, t *sweep.Task) (*sweep.Record, error) {
			return &sweep.Record{Trial: t.Trial, Status: sweep.Done, Flows: t.Document}, nil
		}
		for w.Trials.Load() == 0 && ctx.Err() == nil {
			_, _ = w.round(ctx)
		}
	})
	err = newDrive(b, "s", l, func() {}).run(ctx, []*sweep.Trial{trial})
	worker.Wait()
	if r := l.records[trial.ID.String()]; err != nil || r == nil || !bytes.Equal(r.Flows, flows) {
		t.Errorf("%v, the record: %v", err, r != nil)
	}
	store, err := b.(*remote).js.ObjectStore(ctx, objects)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := store.List(ctx); !errors.Is(err, jetstream.ErrNoObjectsFound) {
		t.Errorf("%d objects are left: %v", len(all), err)
	}
	if st, err := store.Status(ctx); err != nil || st.TTL() != week {
		t.Errorf("objects expire after %v: %v", st.TTL(), err)
	}
}

// full is a server whose disk accepts no record.
type full struct{ broker }

func (full) give(context.Context, string, []byte) error { return errors.New("no space") }

// A worker reports once that its records are not stored.
func TestRealUnstored(t *testing.T) {
	server := served(t, "")
	b, err := server.dial("test")
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	ctx := context.Background()
	bundle := &sweep.Bundle{Path: "s.yaml"}
	text, err := json.Marshal(sweep.Task{Trial: sweep.ID{1}.String(), Bundle: bundle.Digest()})
	if err == nil {
		err = b.prepare(ctx, "s", map[string]*sweep.Bundle{bundle.Digest(): bundle})
	}
	for range 2 {
		err = cmp.Or(err, b.put(ctx, "s", text))
	}
	if err = cmp.Or(err, b.flush(ctx)); err != nil {
		t.Fatal(err)
	}
	var said []error
	w := &Worker{broker: full{b}, held: map[string]*sweep.Bundle{}, Warn: func(err error) { said = append(said, err) }}
	simulated := 0
	w.perform = func(_ context.Context, _ *sweep.Bundle, t *sweep.Task) (*sweep.Record, error) {
		simulated++
		return &sweep.Record{Trial: t.Trial}, nil
	}
	if _, err := w.round(ctx); err != nil || simulated < 2 || len(said) != 1 || said[0].Error() != "no space" {
		t.Errorf("%v, %d simulated, warned %v", err, simulated, said)
	}
}

// A study with an external server whose disk is full ends with the reason. With space again it continues to the
// bytes of one process.
func TestRealFullDisk(t *testing.T) {
	old := silence
	silence = 600 * time.Millisecond
	defer func() { silence = old }()
	dir := t.TempDir()
	path, disk := filepath.Join(dir, "tiny.yaml"), filepath.Join(dir, "disk")
	if err := cmp.Or(os.WriteFile(path, []byte(tiny), 0o600), os.Mkdir(disk, 0o700)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("needs root and leave to mount: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", disk).Run() })
	alone := begun(t, path, filepath.Join(dir, "alone"))
	defer alone.Close()
	ctx, cancel := context.WithCancel(context.Background()) // a deadline would be that of each request
	defer cancel()
	defer time.AfterFunc(5*time.Minute, cancel).Stop()
	if err := alone.Run(ctx); err != nil {
		t.Fatal(err)
	}
	fills := filepath.Join(disk, "fills")
	for _, full := range []bool{true, false} {
		server, err := Serve(Listen{Address: "127.0.0.1:0", Dir: disk})
		if err != nil {
			t.Fatal(err)
		}
		own, end := context.WithCancel(ctx)
		var worker sync.WaitGroup
		worker.Go(func() {
			_ = (&Worker{Access: server.Access, Pool: &study.Pool{Workers: 1, Memory: unit.GB}}).Run(own)
		})
		s := begun(t, path, filepath.Join(dir, "full"))
		s.Engine = &Driver{Access: server.Access}
		s.Pool.Progress = func(x study.State) {
			if full && x.Done == 5 {
				_ = os.WriteFile(fills, make([]byte, 4<<20), 0o600) // up to the disk's limit
			}
		}
		switch err := s.Run(ctx); {
		case full && (err == nil || errors.Is(err, runner.ErrInterrupted) ||
			!strings.Contains(err.Error(), "no space left on device")):
			t.Errorf("%v, %d trials left out: %v", err, s.Short, s.ShortWhy)
		case !full && (err != nil || s.Short > 0 || s.Kept < 5 || !bytes.Equal(results(t, s), results(t, alone))):
			t.Errorf("resumed: %v, %d kept, %d left out, or the results differ from those of one process", err, s.Kept, s.Short)
		}
		s.Close()
		end()
		worker.Wait()
		server.Close()
		_ = os.Remove(fills)
	}
}

// proxy is a network between clients and a server. It cuts a connection, by closing it or by silence, once that has
// carried some bytes.
type proxy struct {
	net.Listener
	to   string
	mu   sync.Mutex
	rng  *rand.Rand
	left int // cuts
	cuts [2]int
}

// serve accepts connections until the listener is closed.
func (p *proxy) serve() {
	for {
		near, err := p.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", p.to)
		if err != nil {
			near.Close()
			continue
		}
		p.mu.Lock()
		var room atomic.Int64
		room.Store(int64(8<<10 + p.rng.IntN(32<<10)))
		silent := p.rng.IntN(2)
		p.mu.Unlock()
		var once sync.Once
		carry := func(to, from net.Conn) {
			b := make([]byte, 4096)
			for {
				n, err := from.Read(b)
				if cut := room.Add(-int64(n)) < 0; cut && p.may(&once, silent) {
					if silent == 0 {
						near.Close()
						far.Close()
					}
					return
				}
				if err == nil {
					_, err = to.Write(b[:n])
				}
				if err != nil {
					near.Close()
					far.Close()
					return
				}
			}
		}
		go carry(near, far)
		go carry(far, near)
	}
}

// may reports whether a connection is cut, and counts it once.
func (p *proxy) may(once *sync.Once, silent int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	once.Do(func() {
		if p.left > 0 {
			p.left--
			p.cuts[silent]++
		}
	})
	return p.left > 0
}

// Driver and workers on a network that cuts their connections, by closing or by silence, give the bytes of one
// process.
func TestRealCutNetwork(t *testing.T) {
	old := silence
	silence = 600 * time.Millisecond
	defer func() { silence = old }()
	dir := t.TempDir()
	path := filepath.Join(dir, "tiny.yaml")
	if err := os.WriteFile(path, []byte(tiny), 0o600); err != nil {
		t.Fatal(err)
	}
	alone := begun(t, path, filepath.Join(dir, "alone"))
	defer alone.Close()
	if err := alone.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	server := served(t, "")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	p := &proxy{Listener: listener, left: 8, to: strings.TrimPrefix(server.URL, "nats://"),
		rng: rand.New(rand.NewPCG(1, 1))}
	go p.serve()
	access := Access{URL: "nats://" + listener.Addr().String()}
	ctx, cancel := context.WithCancel(context.Background()) // a deadline would be that of each request
	defer cancel()
	defer time.AfterFunc(5*time.Minute, cancel).Stop()
	own, end := context.WithCancel(ctx)
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			_ = (&Worker{Access: access, Pool: &study.Pool{Workers: 1, Memory: unit.GB}}).Run(own)
		})
	}
	s := begun(t, path, filepath.Join(dir, "cut"))
	s.Engine = &Driver{Access: access}
	if err := s.Run(ctx); err != nil || s.Short > 0 {
		t.Errorf("%v, %d trials left out: %v", err, s.Short, s.ShortWhy)
	}
	defer s.Close()
	end()
	workers.Wait()
	if t.Log("connections ended, silenced:", p.cuts); min(p.cuts[0], p.cuts[1]) == 0 {
		t.Error("a kind of cut did not happen")
	}
	if !bytes.Equal(results(t, s), results(t, alone)) {
		t.Error("the results differ from those of one process")
	}
}

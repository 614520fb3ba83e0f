package perftest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"railyard/internal/lobby"
	"railyard/unit"
	"railyard/verbs"
)

// recvDepth is the number of receives that a server keeps posted per queue pair.
const recvDepth = 256

// Server answers sessions on one device.
type Server struct {
	Dev *verbs.Device
	Log func(format string, args ...any) // nil for silence
	// Transport is the only accepted one, verbs.RC or verbs.MRC; "": the client's choice.
	Transport string

	listener net.Listener
	mu       sync.Mutex
	memory   int64 // of all sessions
	sessions atomic.Int64
}

// maxSessions bounds the resources of a flood of connections.
const maxSessions = 256

// Listen opens the server's TCP port on the device's address.
func (s *Server) Listen(port uint16) error {
	l, err := net.Listen("tcp", netip.AddrPortFrom(s.Dev.Addr(), port).String())
	s.listener = l
	return err
}

// Addr returns the server's listening address.
func (s *Server) Addr() netip.AddrPort { return s.listener.Addr().(*net.TCPAddr).AddrPort() }

// Serve answers sessions until the context ends.
func (s *Server) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { s.listener.Close() })
	defer stop()
	err := lobby.Serve(s.listener, 10*time.Second, func(g *lobby.Guest[Request]) {
		defer g.Close()
		if err := s.admit(ctx, g); err != nil && s.Log != nil {
			s.Log("%v: %v", g.RemoteAddr(), err)
		}
	})
	if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// admit runs a session if there is memory for one.
func (s *Server) admit(ctx context.Context, g *lobby.Guest[Request]) error {
	defer s.sessions.Add(-1)
	if s.sessions.Add(1) <= maxSessions {
		return s.session(ctx, g)
	}
	err := fmt.Errorf("%d sessions are open already", maxSessions)
	_ = verbs.WriteLine(g, &Reply{Error: err.Error()})
	return err
}

// reserve allocates memory for a session. All sessions together may use twice the limit of one.
func (s *Server) reserve(n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memory+n > 2*MaxMemory {
		return errors.New("the server's memory is used by other sessions")
	}
	s.memory += n
	return nil
}

// session serves one client, from its request to its last message.
func (s *Server) session(ctx context.Context, g *lobby.Guest[Request]) error {
	ctx, cancel := context.WithCancel(ctx)
	req := &g.Say
	var memory [][]byte
	reply, run, done, err := s.prepare(ctx, req, &memory)
	var answering sync.WaitGroup
	defer func() {
		cancel()
		answering.Wait()
		if done != nil {
			done()
		}
	}()
	if err != nil {
		reply.Error = err.Error()
	}
	if werr := writeSoon(g, &reply); err == nil {
		err = werr
	}
	if err != nil {
		return err
	}
	if s.Log != nil {
		s.Log("%v: %s, %s, up to %s", g.RemoteAddr(), req.Op, unit.Plural(len(req.QPs), "queue pair"),
			unit.Plural(req.Size, "byte"))
	}
	answering.Go(run)
	// A line from the client ends the session, and so does the end of the connection.
	stop := context.AfterFunc(ctx, func() { g.Close() })
	defer stop()
	for {
		var say last
		if err := verbs.ReadLine(g.In, &say); err != nil {
			return fmt.Errorf("session ended early: %w", err)
		}
		if say.Sum == 0 {
			break
		}
		if say.Sum < 0 || say.Sum > req.Size {
			return fmt.Errorf("the client wants %d bytes of %d summed up", say.Sum, req.Size)
		}
		var out sums
		s.Dev.Counters() // takes the device's lock, after which its writes are visible here
		for _, m := range memory {
			sum := sha256.Sum256(m[:say.Sum])
			out.Memory = append(out.Memory, sum[:])
		}
		s.Dev.Counters() // later writes cannot race with this read
		if err := writeSoon(g, &out); err != nil {
			return err
		}
	}
	var f Final
	f.Counters, f.Drops, _, _ = s.Dev.Counters()
	return writeSoon(g, &f)
}

// writeSoon sends a line to a peer that reads it.
func writeSoon(c net.Conn, v any) error {
	if err := c.SetWriteDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	return verbs.WriteLine(c, v)
}

// large is the memory of a session from which it is returned to the system immediately, because that takes a
// garbage collection.
const large = 16 << 20

// prepare builds the server's side of a session. done undoes it.
func (s *Server) prepare(ctx context.Context, req *Request, memory *[][]byte) (reply Reply, run, done func(),
	err error) {
	if err := req.check(); err != nil {
		return reply, nil, nil, err
	}
	transport := cmp.Or(req.Connect.Transport, verbs.RC)
	if s.Transport != "" && s.Transport != transport {
		return reply, nil, nil, fmt.Errorf("the server serves %s, the client requests %s", s.Transport, transport)
	}
	n := len(req.QPs)
	if err := s.reserve(req.Size * int64(n)); err != nil {
		return reply, nil, nil, err
	}
	pd := s.Dev.AllocPD()
	cq, err := s.Dev.CreateCQ(min(verbs.MaxCQ, n*(recvDepth+64)), nil)
	if err != nil {
		return reply, nil, nil, err
	}
	var qps []*verbs.QP
	var mrs []*verbs.MR
	done = func() {
		for _, q := range qps {
			q.Destroy()
		}
		for _, m := range mrs {
			_ = m.Dereg()
		}
		qps, mrs = nil, nil
		s.mu.Lock()
		s.memory -= req.Size * int64(n)
		s.mu.Unlock()
		if req.Size*int64(n) >= large {
			debug.FreeOSMemory()
		}
	}
	for _, info := range req.QPs {
		buf := make([]byte, req.Size)
		*memory = append(*memory, buf)
		mr, err := pd.RegMR(buf, verbs.LocalWrite|verbs.RemoteWrite|verbs.RemoteRead)
		if err != nil {
			return reply, nil, done, err
		}
		mrs = append(mrs, mr)
		qp, err := pd.CreateQP(verbs.QPInitAttr{SendCQ: cq, RecvCQ: cq, MaxRecvWR: recvDepth, Transport: transport,
			Selective: info.Window > 0})
		if err != nil {
			return reply, nil, done, err
		}
		qps = append(qps, qp)
		if err := qp.Connect(info, req.Connect.options(n)); err != nil {
			return reply, nil, done, err
		}
		reply.QPs = append(reply.QPs, qp.Info(mr))
		if req.Op == OpSend || req.Op == OpLat {
			for range recvDepth {
				if err := postReceive(qp, mr, req.Op); err != nil {
					return reply, nil, done, err
				}
			}
		}
	}
	peers := map[*verbs.QP]peer{}
	for i, q := range qps {
		peers[q] = peer{mrs[i], req.QPs[i]}
	}
	return reply, func() { s.answer(ctx, cq, req.Op, peers) }, done, nil
}

type peer struct {
	mr   *verbs.MR
	info verbs.Info
}

// postReceive posts one receive: for SEND with a buffer, for latency without, because the bytes arrive by WRITE.
func postReceive(qp *verbs.QP, mr *verbs.MR, op Op) error {
	wr := verbs.RecvWR{}
	if op == OpSend {
		wr.SGList = mr.All()
	}
	return qp.PostRecv(&wr)
}

// answer keeps receives posted and, for latency, writes received data back.
func (s *Server) answer(ctx context.Context, cq *verbs.CQ, op Op, peers map[*verbs.QP]peer) {
	wc := make([]verbs.WC, 64)
	for {
		n, err := cq.Wait(ctx, wc)
		if err != nil {
			if !errors.Is(err, context.Canceled) && !errors.Is(err, io.EOF) && s.Log != nil {
				s.Log("%v", err)
			}
			return
		}
		for _, w := range wc[:n] {
			p := peers[w.QP]
			if w.Status != verbs.StatusSuccess || w.Opcode != verbs.WCRecv && w.Opcode != verbs.WCRecvRDMAWithImm {
				continue
			}
			if op == OpLat {
				size := int(w.ImmData)
				if size > p.mr.Length {
					continue
				}
				err = w.QP.PostSend(&verbs.SendWR{Opcode: verbs.WriteWithImm,
					SGList: []verbs.SGE{p.mr.SGE(0, size)}, RemoteAddr: p.info.VA, RKey: p.info.RKey,
					ImmData: w.ImmData})
			}
			if err = errors.Join(err, postReceive(w.QP, p.mr, op)); err != nil && s.Log != nil {
				s.Log("%v", err)
			}
		}
	}
}

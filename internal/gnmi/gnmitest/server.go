package gnmitest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"

	"railyard/internal/counters"
	"railyard/unit"

	pb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Server serves one snapshot after the other. The next follows when LLDP has been requested, which clients request
// last; the last snapshot stays.
type Server struct {
	pb.UnimplementedGNMIServer
	Snapshots      []counters.Snapshot
	Encoding       pb.Encoding
	User, Password string // "": anybody
	GetOnly        bool   // Subscribe is not implemented
	Lacks          string // a prefix of paths that the device does not have
	Late           string // a prefix of paths for which the client's time is up
	Bare           bool   // whether it lacks Capabilities, as collectors do
	Called         string // target that prefixes must name, unless it is *, as collectors request
	Origin         string // origin that paths must contain
	Plain          bool   // whether it supports neither wildcards nor data types
	// Endless makes the messages that it streams without end, by number; nil: it ends
	Endless func(i int) *pb.Notification

	mu sync.Mutex
	at int
}

// Listen serves on a free port until stop is called.
func (s *Server) Listen(opts ...grpc.ServerOption) (addr string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	g := grpc.NewServer(opts...)
	pb.RegisterGNMIServer(g, s)
	go g.Serve(l)
	return l.Addr().String(), g.Stop, nil
}

func (s *Server) allowed(ctx context.Context) error {
	md, _ := metadata.FromIncomingContext(ctx)
	one := func(k string) string { return strings.Join(md.Get(k), "") }
	if s.User != "" && (one("username") != s.User || one("password") != s.Password) {
		return status.Error(codes.Unauthenticated, "who are you?")
	}
	return nil
}

// Capabilities returns the encoding.
func (s *Server) Capabilities(ctx context.Context, _ *pb.CapabilityRequest) (*pb.CapabilityResponse, error) {
	if s.Bare {
		return nil, status.Error(codes.Unimplemented, "method Capabilities not implemented")
	}
	return &pb.CapabilityResponse{SupportedEncodings: []pb.Encoding{s.Encoding}}, s.allowed(ctx)
}

// Get answers all that is below the paths.
func (s *Server) Get(ctx context.Context, r *pb.GetRequest) (*pb.GetResponse, error) {
	if err := s.allowed(ctx); err != nil {
		return nil, err
	}
	if s.Plain && r.Type != pb.GetRequest_ALL {
		return nil, status.Errorf(codes.Unimplemented, "unsupported request type: %v", r.Type)
	}
	n, err := s.answer(r.Prefix, r.Path)
	return &pb.GetResponse{Notification: []*pb.Notification{n}}, err
}

// Subscribe answers once.
func (s *Server) Subscribe(stream pb.GNMI_SubscribeServer) error {
	if s.GetOnly {
		return status.Error(codes.Unimplemented, "no Subscribe here")
	}
	if err := s.allowed(stream.Context()); err != nil {
		return err
	}
	m, err := stream.Recv()
	if err != nil {
		return err
	}
	var paths []*pb.Path
	for _, x := range m.GetSubscribe().GetSubscription() {
		paths = append(paths, x.Path)
	}
	for i := 0; s.Endless != nil; i++ {
		u := pb.SubscribeResponse{Response: &pb.SubscribeResponse_Update{Update: s.Endless(i)}}
		if err := stream.Send(&u); err != nil {
			return err
		}
	}
	n, err := s.answer(m.GetSubscribe().GetPrefix(), paths)
	if err != nil {
		return err
	}
	all := pb.SubscribeResponse{Response: &pb.SubscribeResponse_Update{Update: n}}
	if err := stream.Send(&all); err != nil {
		return err
	}
	done := pb.SubscribeResponse{Response: &pb.SubscribeResponse_SyncResponse{SyncResponse: true}}
	return stream.Send(&done)
}

// answer returns the values of a snapshot below some paths.
func (s *Server) answer(prefix *pb.Path, paths []*pb.Path) (*pb.Notification, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch to := prefix.GetTarget(); {
	case s.Called != "" && prefix == nil:
		return nil, status.Error(codes.InvalidArgument, "request must contain a prefix")
	case to != s.Called && (s.Called == "" || to != "*"):
		return nil, status.Errorf(codes.NotFound, "no such target: %q", to)
	}
	snap := &s.Snapshots[min(s.at, len(s.Snapshots)-1)]
	n := &pb.Notification{Timestamp: snap.At.Seconds*1e9 + snap.At.Nanos}
	for _, p := range paths {
		asked := names(p)
		if s.Plain && wild(p) {
			return nil, status.Errorf(codes.NotFound, "path %s not found", asked)
		}
		if s.Lacks != "" && strings.HasPrefix(asked, s.Lacks) {
			return nil, status.Error(codes.NotFound, "no such path")
		}
		if s.Late != "" && strings.HasPrefix(asked, s.Late) {
			return nil, status.Error(codes.DeadlineExceeded, "context deadline exceeded")
		}
		for _, u := range updates(snap, s.Encoding) {
			if strings.HasPrefix(names(u.Path)+"/", asked+"/") && p.Origin == s.Origin {
				n.Update = append(n.Update, u)
			}
		}
		if strings.HasPrefix(asked, "lldp") {
			s.at++
		}
	}
	return n, nil
}

// wild reports a path of all entries of a list.
func wild(p *pb.Path) bool {
	for _, e := range p.GetElem() {
		for _, key := range e.Key {
			if key == "*" {
				return true
			}
		}
	}
	return false
}

func names(p *pb.Path) string {
	var out []string
	for _, e := range p.GetElem() {
		out = append(out, e.Name)
	}
	return strings.Join(out, "/")
}

// writer makes updates of a snapshot.
type writer struct {
	encoding pb.Encoding
	out      []*pb.Update
}

// put adds a leaf: its path has keys as interface[name=x].
func (w *writer) put(path string, v any) {
	p := &pb.Path{}
	for _, e := range strings.Split(path, "|") {
		name, key, ok := strings.Cut(strings.TrimSuffix(e, "]"), "[")
		x := &pb.PathElem{Name: name}
		if ok {
			k, val, _ := strings.Cut(key, "=")
			x.Key = map[string]string{k: val}
		}
		p.Elem = append(p.Elem, x)
	}
	u := &pb.Update{Path: p}
	switch n, isNumber := v.(uint64); {
	case w.encoding == pb.Encoding_JSON_IETF:
		if isNumber {
			v = fmt.Sprint(n) // 64 bits are strings
		}
		b, _ := json.Marshal(v)
		u.Val = &pb.TypedValue{Value: &pb.TypedValue_JsonIetfVal{JsonIetfVal: b}}
	case isNumber:
		u.Val = &pb.TypedValue{Value: &pb.TypedValue_UintVal{UintVal: n}}
	default:
		u.Val = &pb.TypedValue{Value: &pb.TypedValue_StringVal{StringVal: fmt.Sprint(v)}}
	}
	w.out = append(w.out, u)
}

func (w *writer) count(path string, c counters.Count) {
	if c.Is {
		w.put(path, c.V)
	}
}

// updates returns the values of a snapshot.
func updates(s *counters.Snapshot, e pb.Encoding) []*pb.Update {
	w := &writer{encoding: e}
	w.put("system|state|hostname", s.Device)
	for i := range s.Ports {
		w.port(&s.Ports[i])
	}
	return w.out
}

func (w *writer) port(p *counters.Port) {
	at := "interfaces|interface[name=" + p.Name + "]|"
	if p.Up.Is {
		w.put(at+"state|oper-status", map[bool]string{true: "UP", false: "DOWN"}[p.Up.V])
	}
	if p.MTU.Is {
		w.put(at+"state|mtu", uint64(p.MTU.V))
	}
	if p.Speed.Is {
		w.put(at+"ethernet|state|port-speed", fmt.Sprintf("openconfig-if-ethernet:SPEED_%dGB", p.Speed.V/unit.Gbps))
	}
	for name, c := range map[string]counters.Count{"in-errors": p.InErrors, "in-fcs-errors": p.CRC,
		"in-discards": p.InDiscards, "out-discards": p.OutDiscards, "in-octets": p.RxBytes,
		"out-octets": p.TxBytes} {
		w.count(at+"state|counters|"+name, c)
	}
	if p.Flaps.Is {
		w.put(at+"state|counters|carrier-transitions", 2*p.Flaps.V)
	}
	w.count(at+"ethernet|state|counters|in-oversize-frames", p.Giants)
	qos := "qos|interfaces|interface[interface-id=" + p.Name + "]|"
	for k := range counters.Priorities {
		q := qos + fmt.Sprintf("output|queues|queue[name=%d]|state|", k)
		w.count(q+"transmit-pkts", p.Queues[k].TxPackets)
		w.count(q+"transmit-octets", p.Queues[k].TxBytes)
		w.count(q+"dropped-pkts", p.Queues[k].DropPackets)
		w.count(q+"ecn-marked-pkts", p.Queues[k].Marked)
		w.count(q+"max-queue-len", p.Queues[k].Peak)
		at := qos + fmt.Sprintf("pfc|pfc-priorities|pfc-priority[dot1p=%d]|state|", k)
		if p.Lossless.Is {
			w.put(at+"enable", fmt.Sprint(p.Lossless.V>>k&1 == 1))
		}
		w.count(at+"statistics|pause-frames-rx", p.RxPFC[k])
		w.count(at+"statistics|pause-frames-tx", p.TxPFC[k])
	}
	if p.Peer.Is() {
		at := "lldp|interfaces|interface[name=" + p.Name + "]|neighbors|neighbor[id=1]|state|"
		w.put(at+"system-name", p.Peer.Device)
		w.put(at+"port-id", p.Peer.Port)
	}
}

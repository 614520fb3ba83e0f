package gnmi_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"railyard/internal/counters"
	"railyard/internal/gnmi"
	"railyard/internal/gnmi/gnmitest"
	"railyard/unit"

	pb "github.com/openconfig/gnmi/proto/gnmi"
)

// leaf is a switch with one of everything.
func leaf() counters.Snapshot {
	p := counters.Port{Name: "Ethernet1/1", Up: counters.Say(true), Speed: counters.Say(400 * unit.Gbps),
		MTU: counters.Say[unit.Bytes](9216), PFC: counters.Say(true), Lossless: counters.Say[uint8](1 << 3),
		InErrors: counters.Of(1), CRC: counters.Of(2), InDiscards: counters.Of(3),
		OutDiscards: counters.Of(4),
		RxBytes:     counters.Of(5), TxBytes: counters.Of(1 << 60), Flaps: counters.Of(6),
		Giants: counters.Of(7),
		Peer:   counters.Peer{Device: "host-1", Port: "eth0"}}
	for k := range counters.Priorities {
		n := uint64(100 * k)
		p.RxPFC[k], p.TxPFC[k] = counters.Of(n+1), counters.Of(n+2)
		p.Queues[k] = counters.Queue{TxPackets: counters.Of(n + 3), TxBytes: counters.Of(n + 4),
			DropPackets: counters.Of(n + 5), Marked: counters.Of(n + 6), Peak: counters.Of(n + 7)}
	}
	return counters.Snapshot{Device: "leaf1", Kind: counters.Switch, Format: "gnmi",
		At: counters.Moment{Seconds: 1_700_000_000, Nanos: 5, Is: true}, Ports: []counters.Port{p}}
}

func ask(t *testing.T, s *gnmitest.Server, o gnmi.Options) (*counters.Snapshot, []string, error) {
	t.Helper()
	addr, stop, err := s.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	c, err := gnmi.Dial(addr, o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return c.Snapshot(ctx)
}

// TestRealEverythingComesBack reads all that a switch serves, in each encoding, by Subscribe
// and by Get.
func TestRealEverythingComesBack(t *testing.T) {
	want := leaf()
	for _, s := range []*gnmitest.Server{{Encoding: pb.Encoding_PROTO}, {Encoding: pb.Encoding_JSON_IETF},
		{Encoding: pb.Encoding_JSON_IETF, GetOnly: true}} {
		s.Snapshots = []counters.Snapshot{want}
		got, notes, err := ask(t, s, gnmi.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got.File = ""
		if len(got.Ports) != 1 || got.Ports[0] != want.Ports[0] {
			t.Errorf("%v: want\n%+v\ngot\n%+v", s.Encoding, want.Ports, got.Ports)
		}
		if got.Device != want.Device || got.At != want.At {
			t.Errorf("%v: %s at %v, want %s at %v", s.Encoding, got.Device, got.At, want.Device, want.At)
		}
		if len(notes) != 2 { // COUNTERS_DB, twice
			t.Errorf("%v: notes %q", s.Encoding, notes)
		}
	}
}

// TestRealCollector asks who serves others' counters, as openconfig's own server does: without Capabilities, with
// a
// prefix that names whom, with an origin.
func TestRealCollector(t *testing.T) {
	want := leaf()
	s := &gnmitest.Server{Encoding: pb.Encoding_PROTO, Snapshots: []counters.Snapshot{want}, Bare: true,
		Called: "leaf1", Origin: "openconfig"}
	got, _, err := ask(t, s, gnmi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Ports) != 1 || got.Ports[0] != want.Ports[0] {
		t.Errorf("want\n%+v\ngot\n%+v", want.Ports, got.Ports)
	}
}

// TestRealPlain asks a target that knows neither Subscribe nor wildcards nor types of data, as gnxi's.
func TestRealPlain(t *testing.T) {
	want := leaf()
	s := &gnmitest.Server{Encoding: pb.Encoding_JSON_IETF, Snapshots: []counters.Snapshot{want},
		GetOnly: true, Plain: true}
	got, _, err := ask(t, s, gnmi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Ports) != 1 || got.Ports[0] != want.Ports[0] {
		t.Errorf("want\n%+v\ngot\n%+v", want.Ports, got.Ports)
	}
}

// TestRealSomethingIsMissing says what a device does not have, and does without.
func TestRealSomethingIsMissing(t *testing.T) {
	s := &gnmitest.Server{Encoding: pb.Encoding_PROTO, Snapshots: []counters.Snapshot{leaf()}, Lacks: "qos"}
	got, notes, err := ask(t, s, gnmi.Options{})
	if err != nil || !got.Ports[0].CRC.Is || got.Ports[0].RxPFC[3].Is {
		t.Fatal(err, got)
	}
	if all := strings.Join(notes, "\n"); !strings.Contains(all, "has no /qos/interfaces") {
		t.Error(all)
	}
}

// TestRealSlow keeps what a device said before its time was up, and says what it did not.
func TestRealSlow(t *testing.T) {
	s := &gnmitest.Server{Encoding: pb.Encoding_PROTO, Snapshots: []counters.Snapshot{leaf()}, Late: "qos"}
	got, notes, err := ask(t, s, gnmi.Options{})
	if err != nil || !got.Ports[0].CRC.Is || got.Ports[0].Queues[3].TxPackets.Is {
		t.Fatal(err, got)
	}
	if all := strings.Join(notes, "\n"); !strings.Contains(all,
		"is slow: no response to /qos/interfaces") {
		t.Error(all)
	}
	s = &gnmitest.Server{Encoding: pb.Encoding_PROTO, Snapshots: []counters.Snapshot{leaf()},
		Late: "interfaces"}
	if _, _, err := ask(t, s, gnmi.Options{}); err == nil || !strings.Contains(err.Error(),
		"--gnmi-timeout waits longer") {
		t.Error(err)
	}
}

// TestRealAdvice says what to do about whatever listens at a port that is no gNMI's.
func TestRealAdvice(t *testing.T) {
	plain, stopPlain, err := (&gnmitest.Server{Snapshots: []counters.Snapshot{leaf()}}).Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer stopPlain()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // an SSH server, which talks first
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			io.WriteString(c, "SSH-2.0-OpenSSH_9.6\r\n")
			defer c.Close()
		}
	}()
	ssh := l.Addr().String()
	for _, c := range []struct {
		at  string
		tls *tls.Config
		do  string
	}{
		{plain, &tls.Config{}, "--gnmi-plaintext does without TLS"},
		{ssh, &tls.Config{}, "--gnmi-plaintext does without TLS"},
		{ssh, nil, "leave --gnmi-plaintext out"},
		{"127.0.0.1:1", nil, "no server listens at this port"},
		{"127.0.0.1:99999", nil, "ports are 1 to 65535"},
	} {
		client, err := gnmi.Dial(c.at, gnmi.Options{TLS: c.tls})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		_, _, err = client.Snapshot(ctx)
		cancel()
		client.Close()
		if err == nil || !strings.Contains(err.Error(), c.do) || strings.Contains(err.Error(), "desc =") {
			t.Errorf("%s: %v", c.at, err)
		}
	}
}

// TestRealRefused tells who is not let in, and a port at which nobody listens.
func TestRealRefused(t *testing.T) {
	s := &gnmitest.Server{Snapshots: []counters.Snapshot{leaf()}, User: "admin", Password: "right"}
	if _, _, err := ask(t, s, gnmi.Options{User: "admin", Password: "wrong"}); err == nil ||
		!strings.Contains(err.Error(), "Unauthenticated") {
		t.Error(err)
	}
	if _, _, err := ask(t, s, gnmi.Options{User: "admin", Password: "right"}); err != nil {
		t.Error(err)
	}
	c, err := gnmi.Dial("127.0.0.1:1", gnmi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if _, _, err := c.Snapshot(ctx); err == nil || !strings.Contains(err.Error(),
		"127.0.0.1:1 does not answer") {
		t.Error(err)
	}
}

// TestRealEndless: a device that streams without end is refused by what it sends, or its time is up: interfaces,
// leaves and bytes are bounded.
func TestRealEndless(t *testing.T) {
	update := func(port, leaf string, v *pb.TypedValue) *pb.Update {
		return &pb.Update{Val: v, Path: &pb.Path{Elem: []*pb.PathElem{{Name: "interfaces"},
			{Name: "interface", Key: map[string]string{"name": port}}, {Name: "state"}, {Name: "counters"},
			{Name: leaf}}}}
	}
	one := &pb.TypedValue{Value: &pb.TypedValue_UintVal{UintVal: 1}}
	long := &pb.TypedValue{Value: &pb.TypedValue_StringVal{StringVal: strings.Repeat("x", 3<<20)}}
	for what, endless := range map[string]func(i int) *pb.Notification{
		"10000 interfaces": func(i int) *pb.Notification {
			n := &pb.Notification{}
			for k := range 500 {
				n.Update = append(n.Update, update(fmt.Sprintf("Ethernet%d", 500*i+k), "in-octets", one))
			}
			return n
		},
		"1000000 leaves": func() func(int) *pb.Notification {
			n := &pb.Notification{}
			for range 5000 {
				n.Update = append(n.Update, update("Ethernet1", "in-octets", one))
			}
			return func(int) *pb.Notification { return n }
		}(),
		"512 MiB": func(int) *pb.Notification {
			return &pb.Notification{Update: []*pb.Update{update("Ethernet1", "unknown", long)}}
		},
	} {
		_, _, err := ask(t, &gnmitest.Server{Snapshots: []counters.Snapshot{leaf()}, Endless: endless}, gnmi.Options{})
		if err == nil || !strings.Contains(err.Error(), "sends more than "+what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

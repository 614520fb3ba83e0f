package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"railyard/internal/counters"
	"railyard/internal/gnmi/gnmitest"

	pb "github.com/openconfig/gnmi/proto/gnmi"
)

// TestRealHostileDevices: a device that streams endlessly or slowly, or sends data whose memory far exceeds their
// bytes, is abandoned with one line, within its time and with little memory.
func TestRealHostileDevices(t *testing.T) {
	leaf := func(port string, v *pb.TypedValue) *pb.Update {
		return &pb.Update{Val: v, Path: &pb.Path{Elem: []*pb.PathElem{{Name: "interfaces"},
			{Name: "interface", Key: map[string]string{"name": port}}, {Name: "state"}, {Name: "counters"},
			{Name: "in-octets"}}}}
	}
	one := &pb.TypedValue{Value: &pb.TypedValue_UintVal{UintVal: 1}}
	json := func(text string) *pb.Notification {
		v := &pb.TypedValue{Value: &pb.TypedValue_JsonIetfVal{JsonIetfVal: []byte(text)}}
		return &pb.Notification{Update: []*pb.Update{leaf("Ethernet1", v)}}
	}
	const large = 15 << 20 // bytes of a message, below the limit
	same := func(n *pb.Notification) func(int) *pb.Notification { return func(int) *pb.Notification { return n } }
	updates := &pb.Notification{}
	for range large / 2 {
		updates.Update = append(updates.Update, &pb.Update{})
	}
	for _, c := range []struct {
		name    string
		endless func(i int) *pb.Notification
		want    string
	}{
		{"leaves", same(&pb.Notification{Update: []*pb.Update{leaf("Ethernet1", one)}}), "is slow"},
		{"interfaces", func(i int) *pb.Notification {
			return &pb.Notification{Update: []*pb.Update{leaf(fmt.Sprintf("Ethernet%d", i), one)}}
		}, "sends more than"},
		{"long names", func(i int) *pb.Notification {
			return &pb.Notification{Update: []*pb.Update{leaf(fmt.Sprintf("Ethernet%d%s", i, strings.Repeat("1", 1<<20)), one)}}
		}, "sends more than"},
		{"an enormous leaf", same(json(`"` + strings.Repeat("x", large) + `"`)), "127.0.0.1"},
		{"lists in lists", same(json(`[` + strings.Repeat(`[],`, large/3) + `[]]`)), "sends more than"},
		{"objects", same(json(`{"a":[` + strings.Repeat(`{"":0},`, large/7) + `{}]}`)), "sends more than"},
		{"deep", same(json(strings.Repeat(`{"a":`, large/6) + strings.Repeat(`}`, large/6))), "sends more than"},
		{"empty updates", same(updates), "sends more than"},
		{"silence", func(int) *pb.Notification { select {} }, "--gnmi-timeout"},
		{"a slow drip", func(i int) *pb.Notification {
			time.Sleep(10 * time.Millisecond)
			return &pb.Notification{Update: []*pb.Update{leaf("Ethernet1", one)}}
		}, "is slow"},
	} {
		s := &gnmitest.Server{Snapshots: []counters.Snapshot{stuckNIC()[0]}, Endless: c.endless}
		addr, stop, err := s.Listen()
		if err != nil {
			t.Fatal(err)
		}
		timeout := "2s"
		if c.want == "sends more than" { // also on a busy host
			timeout = "5m"
		}
		cmd := railyard("diagnose", "--gnmi", addr, "--gnmi-plaintext", "--gnmi-timeout", timeout, "--gnmi-interval", "1ms")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		file := filepath.Join(t.TempDir(), "peak")
		cmd.Env = append(cmd.Env, peakFile+"="+file)
		_ = cmd.Run()
		go stop()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		peak, err := strconv.Atoi(strings.Fields(string(text))[1])
		said := strings.Join(strings.Fields(out.String()), " ")
		if err != nil || peak > 250_000 || !strings.Contains(said, c.want) {
			t.Errorf("%s: exit %d, %d kB, %v: %.500s, want %q", c.name, cmd.ProcessState.ExitCode(), peak, err, said,
				c.want)
		}
	}
}

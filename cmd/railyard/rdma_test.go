package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"railyard/internal/allreduce"
	"railyard/internal/perftest"
)

// serving starts a server at a loopback address that nobody uses, with flags; to is where clients
// find it.
func serving(t *testing.T, flags ...string) (server *exec.Cmd, to string) {
	t.Helper()
	for addr := netip.MustParseAddr("127.66.0.1"); ; addr = addr.Next() {
		server, line, err := child(t.Context(),
			append([]string{"rdma", "serve", "--addr", addr.String(), "--port", "0"}, flags...)...)
		if err == nil {
			t.Cleanup(func() { stop(server) })
			return server, line[strings.LastIndexByte(line, ' ')+1:]
		}
		if !strings.Contains(err.Error(), "in use") {
			t.Fatal(err)
		}
	}
}

// A server and each client, in processes of their own.
func TestRdmaCommands(t *testing.T) {
	_, to := serving(t)
	for _, op := range []string{"write", "send", "read", "lat"} {
		args := []string{"rdma", op, "--to", to, "--timeout",
			"18", "--size", "4KiB,100KB", "--iters", "50", "--json"}
		if op == "write" {
			args = append(args, "--qps", "3", "--spray")
		}
		code, out, errs := call(t, args...)
		var r struct {
			Results []perftest.Result `json:"results"`
		}
		if code != 0 || json.Unmarshal([]byte(out), &r) != nil || len(r.Results) != 2 ||
			r.Results[1].Size != 100_000 || r.Results[0].P50 <= 0 {
			t.Errorf("%s: exit %d, %s%s", op, code, out, errs)
		}
	}
	// as scenarios have it, 24
	for dscp, tos := range map[string]byte{"": 0x62, "--dscp=0": 0x02, "--dscp=26": 0x6a} {
		file := filepath.Join(t.TempDir(), "dscp.pcapng")
		code, _, errs := call(t, append([]string{"rdma", "write", "--to", to, "--timeout", "18",
			"--iters", "2", "--pcap", file},
			strings.Fields(dscp)...)...)
		if b, err := os.ReadFile(file); code != 0 || err != nil ||
			!bytes.Contains(b, []byte{0x08, 0x00, 0x45, tos}) {
			t.Errorf("%q: exit %d %s, no packet with type of service %#x", dscp, code, errs, tos)
		}
	}
	for _, how := range []string{"--cc nscc", "--cc nscc --spray --lb reps,source_ports=16",
		"--spray --lb bitmap,source_ports=8 --qps 2"} {
		code, out, errs := call(t, append([]string{"rdma", "write", "--to", to, "--timeout",
			"18", "--size", "1MiB",
			"--iters", "20", "--json"}, strings.Fields(how)...)...)
		var r struct {
			Results []perftest.Result `json:"results"`
		}
		if code != 0 || json.Unmarshal([]byte(out), &r) != nil || len(r.Results) != 1 ||
			!r.Results[0].Verified {
			t.Errorf("%s: exit %d, %s%s", how, code, out, errs)
		}
	}
	for _, args := range [][]string{{"write", "--size", "3000B,1MiB", "--qps", "3"},
		{"lat", "--size", "4KiB,8B"}} {
		args = append([]string{"rdma", args[0], "--to", to, "--timeout",
			"18", "--transport", "mrc", "--iters", "50", "--json"},
			args[1:]...)
		code, out, errs := call(t, args...)
		var r struct {
			Results []perftest.Result `json:"results"`
		}
		if code != 0 || json.Unmarshal([]byte(out), &r) != nil || len(r.Results) != 2 ||
			args[1] == "write" && !r.Results[1].Verified {
			t.Errorf("%v: exit %d, %s%s", args, code, out, errs)
		}
	}
	for how, want := range map[string]string{
		"--transport mrc --spray":                       "MRC sprays by itself",
		"--transport mrc --cc dcqcn":                    "MRC runs under nscc, dctcp, none",
		"--transport iwarp":                             `no transport "iwarp" on sockets; accepted: rc, mrc`,
		"--transport rc --planes ::1":                   "RC has one way in",
		"--transport mrc --planes 127.0.0.77,127.0.0.8": "the peer has 2 planes, we have 1",
		"--lb reps":                        "--lb chooses among several source ports: it needs --spray",
		"--spray --lb reps,source_ports=1": "1 is nothing to choose from",
		"--spray --lb rep":                 "there are entropy, oblivious, bitmap, reps, mixed",
		"--spray --lb reps --set-aside 3":  "--lb entropy,set_aside=PACKETS",
	} {
		code, _, errs := call(t, append([]string{"rdma", "write", "--to", to}, strings.Fields(how)...)...)
		if code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", how, code, errs)
		}
	}
	code, out, errs := call(t, "rdma", "write", "--to", to, "--timeout",
		"18", "--iters", "10")
	if code != 0 || !strings.Contains(out, "Gbit/s") {
		t.Errorf("exit %d %s %s", code, out, errs)
	}
	for _, l := range strings.Split(out, "\n") {
		if len(l) > 100 {
			t.Errorf("a line of %d columns: %s", len(l), l)
		}
	}
}

// Four processes reduce real data; each leaves a capture.
func TestAllreduceCommand(t *testing.T) {
	dir := t.TempDir()
	code, out, errs := call(t, "rdma", "allreduce", "--ranks", "4",
		"--timeout", "18", "--bytes", "1KiB,300000B", "--iters", "2",
		"--json", "--pcap", filepath.Join(dir, "a.pcapng"))
	var rows []allreduce.Row
	if code != 0 || json.Unmarshal([]byte(out), &rows) != nil || len(rows) != 2 {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	if rows[0].Wrong+rows[1].Wrong != 0 || rows[1].Count != 75000 {
		t.Errorf("%+v", rows)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "a-rank*.pcapng"))
	if len(files) != 4 {
		t.Errorf("captures: %v", files)
	}
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed")
	}
	b, err := exec.Command("tshark", "-r", files[0], "-T", "fields", "-e", "_ws.malformed", "-e",
		"infiniband.bth.opcode", "-e", "infiniband.immdt").Output()
	if err != nil || strings.Contains(string(b), "Malformed") || !strings.Contains(string(b), "\t17\t") {
		t.Errorf("tshark: %v\n%.500s", err, b)
	}
}

// Four processes reduce real data by MRC.
func TestAllreduceByMRC(t *testing.T) {
	code, out, errs := call(t, "rdma", "allreduce", "--ranks", "4",
		"--timeout", "18", "--bytes", "1KiB,300000B", "--iters", "2",
		"--json", "--transport", "mrc")
	var rows []allreduce.Row
	if code != 0 || json.Unmarshal([]byte(out), &rows) != nil || len(rows) != 2 ||
		rows[0].Wrong+rows[1].Wrong != 0 {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
}

// What cannot be had is one line and exit code 2.
func TestRdmaBadInput(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken.pcapng")
	if err := os.WriteFile(taken, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, to := serving(t)
	host, _, _ := strings.Cut(to, ":")
	for _, c := range []struct{ args, want string }{
		{"rdma write --to 127.0.0.9:1", "no server at 127.0.0.9:1"},
		{"rdma write --to 203.0.113.7 --addr 203.0.113.8", "no address of this machine"},
		{"rdma write --to no.such.host.invalid", "no address for host"},
		{"rdma serve --addr " + host + " --port 0", "in use"},
		{"rdma write --to " + to + " --size 0B", "--size: must lie between 1B and 1GiB, found 0B"},
		{"rdma write --to " + to + " --size 64", "the unit is missing"},
		{"rdma write --to " + to + " --size 1GiB --qps 900", "need more than"},
		{"rdma write --to " + to + " --mtu 1500", "--mtu: must be 256, 512, 1024, 2048 or 4096, found 1500"},
		{"rdma write --to " + to + " --qps 0", "--qps: must lie between 1 and 1024, found 0"},
		{"rdma write --to " + to + " --duration=-500ms",
			"--duration: must lie between 0s and 24h0m0s, found -500ms"},
		{"rdma lat --to " + to + " --duration 1s --iters 7", "--iters: means nothing beside --duration"},
		{"rdma read --to " + to + " --force", "--force: means nothing"},
		{"rdma bench --force", "--force: means nothing without --plot"},
		{"rdma bench --plot x.gif", "--plot: writes .png or .svg"},
		{"rdma read --transport mrc --to " + to, "carries WRITE and WRITE with immediate only"},
		{"rdma allreduce --transport mrc --spray", "MRC sprays by itself"},
		{"rdma allreduce --transport mrc --planes 127.0.0.1,127.0.0.2",
			"--planes: names addresses of one rank"},
		{"rdma serve --duration=-1s", "--duration: must lie between 0s and 8760h0m0s, found -1s"},
		{"rdma allreduce --mtu 1500", "--mtu: must be 256, 512, 1024, 2048 or 4096, found 1500"},
		{"rdma allreduce --wait=-1s", "--wait: must lie between 1ms and 24h0m0s, found -1s"},
		{"rdma allreduce --patience 10ms", "--patience: must lie between 100ms and 1h0m0s, found 10ms"},
		{"rdma write --to " + to + " --line-rate 5", "--line-rate: "},
		{"rdma write --to " + to + " --pcap " + taken, "--force"},
		{"rdma write --to " + to + " --dscp 64", "--dscp: must lie between 0 and 63, found 64"},
		{"rdma allreduce --ranks 0 --dtype complex64",
			"--dtype: \"complex64\" is no type of elements; accepted: "},
		{"rdma allreduce --timeout 0", "--timeout: must lie between 1 and 31, found 0"},
		{"rdma allreduce --rendezvous 127.0.0.1:99999 --rank 1 --ranks 2",
			"--rendezvous: a port must lie between 1 and 65535, found \"99999\""},
		{"rdma bench --rounds 0", "--rounds: must lie between 1 and 100, found 0"},
		{"rdma bench --duration 2m", "--duration: must lie between 100ms and 1m0s, found 2m0s"},
		{"rdma allreduce --ranks 2000", "--ranks: must lie between 1 and 1024, found 2000"},
		{"rdma allreduce --ranks 2 --rank 1", "--rank: means nothing without --rendezvous"},
		{"rdma allreduce --ranks 2 --bytes 5B", "whole elements"},
		{"rdma allreduce --ranks 2 --redop xor",
			"--redop: \"xor\" is no reduction; accepted: sum, prod, max, min"},
		{"rdma allreduce --ranks 2 --rank 1 --wait 300ms --rendezvous 127.0.0.1:1", "found no rank 0"},
	} {
		code, _, errs := call(t, strings.Fields(c.args)...)
		if code != 2 || !strings.Contains(errs, c.want) || strings.Count(strings.TrimSpace(errs), "\n") > 1 {
			t.Errorf("%s: exit %d: %s", c.args, code, errs)
		}
	}
	if b, _ := os.ReadFile(taken); string(b) != "precious" {
		t.Error("an existing file was replaced")
	}
}

// A capture of MRC tells of its paths; Wireshark's plugin for it is printed, and reads no file.
func TestPcapMRC(t *testing.T) {
	sample := filepath.Join("..", "..", "internal", "capture", "testdata", "mrc.pcapng")
	code, out, errs := call(t, "pcap", sample)
	if code != 0 {
		t.Fatalf("exit %d, %s", code, errs)
	}
	for _, want := range []string{"NACK TRIMMED: PSN 0, EV 0xa0c02", "33 good, 0 wrong",
		"8 paths (entropy values) of 1 to 3 packets each, 7 by plane0, 8 by plane1",
		"EV 0xa0c02 by plane0: 1 packet, 1 trimmed, SKIP", "7 SACKs up to PSN 6, widest gap 4",
		"NACKs: 1 TRIMMED", "2 probes, 1 answered", "Port Status Update without plane 1"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for l := range strings.Lines(out) {
		if len(l) > 100 {
			t.Errorf("a line of %d columns: %s", len(l), l)
		}
	}
	if code, out, _ := call(t, "pcap", sample, "--json"); code != 0 ||
		!strings.Contains(out, `"ev": "0xa0c02"`) {
		t.Errorf("exit %d, %s", code, out)
	}
	if code, out, errs := call(t, "pcap", "--wireshark-plugin"); code != 0 ||
		!strings.Contains(out, `Proto("mrc"`) {
		t.Errorf("exit %d, %s", code, errs)
	}
	if code, _, errs := call(t, "pcap", sample, "--wireshark-plugin"); code != 2 ||
		!strings.Contains(errs, "reads no FILE") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// A capture tells its story; what is none is refused in one line.
func TestPcapCommand(t *testing.T) {
	lo := filepath.Join("..", "..", "internal", "capture", "testdata", "lo.pcap")
	code, out, errs := call(t, "pcap", lo)
	if code != 0 || !strings.Contains(out, "WRITE va") || !strings.Contains(out, "0 wrong") {
		t.Errorf("exit %d %s %s", code, out, errs)
	}
	for _, l := range strings.Split(out, "\n") {
		if len(l) > 100 {
			t.Errorf("a line of %d columns: %s", len(l), l)
		}
	}
	b, err := os.ReadFile(lo)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.pcap")
	if err := os.WriteFile(cut, b[:20000], 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := call(t, "pcap", cut); code != 0 || !strings.Contains(out, "damaged behind packet") {
		t.Errorf("a cut capture: exit %d, %s", code, out)
	}
	for arg, want := range map[string]string{
		"rdma_test.go":     "no pcap or pcapng",
		t.TempDir():        "no regular file but a directory",
		"nowhere.pcap":     "no such file",
		lo + " --limit=-1": "--limit: must lie between 0 and 10000000, found -1",
	} {
		if code, _, errs := call(t, append([]string{"pcap"}, strings.Fields(arg)...)...); code != 2 ||
			!strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", arg, code, errs)
		}
	}
}

// The simulator writes captures that tshark reads, the same twice.
func TestRunCapture(t *testing.T) {
	s := filepath.Join(scenarios(t), "three-flows.yaml")
	t.Chdir(t.TempDir())
	var files [2][]byte
	for i, out := range []string{"a", "b"} {
		if code, out, errs := call(t, "run", s, "--out", out, "--capture", "rail-1:Eth3", "--capture",
			"rail-1:Eth5", "--capture-window", "0us..100us"); code != 0 ||
			!strings.Contains(out, "capture.pcapng") {
			t.Fatal(out, errs)
		}
		files[i], _ = os.ReadFile(filepath.Join(out, "capture.pcapng"))
	}
	if len(files[0]) < 1000 || string(files[0]) != string(files[1]) {
		t.Errorf("captures of %d and %d bytes differ", len(files[0]), len(files[1]))
	}
	for args, want := range map[string]string{"--capture rail-1:Eth99": "rail-1 has rail-1:Eth1",
		"--capture rail-1:Eth3 --capture-window 5us..1us": "--capture-window",
		"--capture rail-1:Eth3 --capture-window 0..1":     "--capture-window",
		"--capture rail-1:Eth3 --capture rail-1:Eth3":     "named twice"} {
		if code, _, errs := call(t, append([]string{"run", s, "--out", "c"},
			strings.Fields(args)...)...); code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", args, code, errs)
		}
	}
	if _, err := os.Stat("c"); err == nil {
		t.Error("a refused run left a directory")
	}
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed")
	}
	b, err := exec.Command("tshark", "-r", "a/capture.pcapng", "-T", "fields", "-e", "_ws.malformed", "-e",
		"infiniband.bth.opcode", "-e", "frame.interface_name").Output()
	if err != nil || strings.Contains(string(b), "Malformed") ||
		!strings.Contains(string(b), "\t6\trail-1:Eth3") {
		t.Errorf("tshark: %v\n%.300s", err, b)
	}
}

// A rank that is killed ends all the others, and its name is said.
func TestAllreduceRankDies(t *testing.T) {
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("no /proc: ", err)
	}
	killed := make(chan bool)
	go func() {
		defer close(killed)
		if pid := childRank(t, "2"); pid != 0 { // as soon as it is there
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}()
	code, _, errs := call(t, "rdma", "allreduce", "--ranks", "3", "--bytes", "1MiB", "--iters", "987654")
	<-killed
	// Rank 0 may notice first that the connection is gone.
	if code != 1 || !strings.Contains(errs, "rank 2: signal: killed") &&
		!strings.Contains(errs, "rank 2 is gone") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// raced is set where the race detector runs.
var raced bool

// resident is how much memory a process holds, in bytes.
func resident(t *testing.T, pid int) int64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	var size, pages int64
	if n, _ := fmt.Sscan(string(b), &size, &pages); err != nil || n != 2 {
		t.Skip("no /proc/PID/statm: ", err)
	}
	return pages * int64(os.Getpagesize())
}

// A server gives the memory of its sessions back when they have ended; it kept
// 1.09 GB for minutes. Hundreds of queue pairs are a session like any other.
func TestServeGivesMemoryBack(t *testing.T) {
	if raced {
		t.Skip("the race detector keeps a shadow of all memory")
	}
	server, to := serving(t)
	before := resident(t, server.Process.Pid)
	for _, args := range []string{"write --size 128MiB --qps 2 --iters 1 --depth 1",
		"read --size 128MiB --iters 1 --depth 1", "write --size 4KiB --qps 512 --iters 2"} {
		if code, out, errs := call(t,
			append([]string{"rdma"}, strings.Fields(args+" --to "+to)...)...); code != 0 {
			t.Fatalf("%s: exit %d, %s%s", args, code, out, errs)
		}
	}
	var after int64
	for range 1200 {
		if after = resident(t, server.Process.Pid); after < before+60<<20 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("%d MB before, %d MB two minutes after sessions with 384 MB", before>>20, after>>20)
}

// Connections that say nothing keep nobody from being served.
func TestServeWithIdleConnections(t *testing.T) {
	_, to := serving(t)
	for range 300 {
		c, err := net.Dial("tcp", to)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if code, _, errs := call(t, "rdma", "write", "--to", to, "--timeout",
		"18", "--iters", "10"); code != 0 {
		t.Errorf("with 300 idle connections: exit %d, %s", code, errs)
	}
}

// childRank finds the process of a rank among this process's children.
func childRank(t *testing.T, rank string) int {
	t.Helper()
	for range 3000 {
		time.Sleep(20 * time.Millisecond)
		lists, _ := filepath.Glob("/proc/self/task/*/children")
		for _, l := range lists {
			b, _ := os.ReadFile(l)
			for _, pid := range strings.Fields(string(b)) {
				line, _ := os.ReadFile("/proc/" + pid + "/cmdline")
				if n, err := strconv.Atoi(pid); err == nil && strings.Contains(string(line),
					"\x00--rank\x00"+rank+"\x00") {
					return n
				}
			}
		}
	}
	t.Error("rank ", rank, " never started")
	return 0
}

// A rank that is stopped ends the run within the patience, by its name, also when
// the transport itself would try for hours (the review: 147 s, or for ever).
func TestAllreduceRankStops(t *testing.T) {
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("no /proc: ", err)
	}
	// A busy machine may need longer until they are in the middle of it, and to hear of those that live.
	for wait, patience := 500*time.Millisecond, 2*time.Second; ; wait, patience = 4*wait, 4*patience {
		stopped := make(chan bool)
		go func() {
			defer close(stopped)
			pid := childRank(t, "2")
			time.Sleep(wait)
			if pid != 0 {
				_ = syscall.Kill(pid, syscall.SIGSTOP)
			}
		}()
		code, _, errs := call(t, "rdma", "allreduce", "--ranks", "3", "--bytes", "1MiB", "--iters", "987654",
			"--patience", patience.String(), "--timeout", "31")
		if <-stopped; code == 1 && strings.Contains(errs, "rank 2 has not been heard of") {
			return
		} else if patience > 30*time.Second {
			t.Fatalf("exit %d, stopped after %v: %s", code, wait, errs)
		}
	}
}

// A capture has the IP identifications of the wire, for which the ICRCs hold,
// whichever end cuts batches into datagrams and whichever joins them.
func TestCapturesHoldTheirICRC(t *testing.T) {
	dir := t.TempDir()
	for server, flags := range map[string][]string{"plain": nil, "cuts": {"--no-offload"}} {
		_, to := serving(t, flags...)
		for _, args := range []string{"write", "read", "send --no-offload", "read --no-offload",
			"lat --no-offload"} {
			file := filepath.Join(dir, strings.ReplaceAll(server+args, " ", "-")+".pcapng")
			args := append([]string{"rdma"}, append(strings.Fields(args), "--to", to, "--timeout",
				"18", "--iters",
				"20", "--pcap", file)...)
			if code, _, errs := call(t, args...); code != 0 {
				t.Fatal(errs)
			}
			if _, out, errs := call(t, "pcap", file, "--limit", "0"); !strings.Contains(out,
				"good, 0 wrong") {
				t.Errorf("%v, server %v: %s%s", args, flags, out[strings.LastIndex(out, "ICRC:")+1:], errs)
			}
		}
	}
}

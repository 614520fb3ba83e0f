package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/allreduce"
	"railyard/internal/perftest"
	"railyard/internal/ranks"
)

// serving starts a server at an unused loopback address, with flags. to is its address for clients.
func serving(t *testing.T, flags ...string) (server *exec.Cmd, to string) {
	t.Helper()
	server, to, _ = servingAt(t, func(n int) []string {
		return append([]string{"--addr", fmt.Sprintf("127.32.%d.1", n)}, flags...)
	})
	return server, to
}

// servingAt starts a server at the first of 250 networks whose address is unused. The process that has this address
// also has the network's other addresses.
func servingAt(t *testing.T, flags func(n int) []string) (server *exec.Cmd, to string, n int) {
	t.Helper()
	var last error
	for try := range 250 {
		n := (os.Getpid() + try) % 250
		args := append([]string{"rdma", "serve", "--port", "0"}, flags(n)...)
		server, line, err := ranks.Start(t.Context(), nil, args...)
		if err == nil {
			t.Cleanup(func() { ranks.Stop(server) })
			return server, line[strings.LastIndexByte(line, ' ')+1:], n
		}
		if last = err; !strings.Contains(err.Error(), "in use") {
			break
		}
	}
	t.Fatal(last)
	return nil, "", 0
}

// clientPlanes are two addresses that belong to a server's: 127.32.7.1 has 127.40.7.1 and 127.41.7.1.
func clientPlanes(to string) string {
	_, n, _ := strings.Cut(to, ".32.")
	n, _, _ = strings.Cut(n, ":")
	return "127.40." + n + ",127.41." + n
}

// A server and clients, each in a separate process.
func TestRealRdmaCommands(t *testing.T) {
	t.Parallel()
	_, to := serving(t)
	for _, op := range []string{"write", "send", "read", "lat"} {
		args := []string{"rdma", "perf", op, "--to", to, "--timeout",
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
	// as in scenarios, 24
	for dscp, tos := range map[string]byte{"": 0x62, "--dscp=0": 0x02, "--dscp=26": 0x6a} {
		file := filepath.Join(t.TempDir(), "dscp.pcapng")
		code, _, errs := call(t, append([]string{"rdma", "perf", "write", "--to", to, "--timeout", "18",
			"--iters", "2", "--pcap", file},
			strings.Fields(dscp)...)...)
		if b, err := os.ReadFile(file); code != 0 || err != nil ||
			!bytes.Contains(b, []byte{0x08, 0x00, 0x45, tos}) {
			t.Errorf("%q: exit %d %s, no packet with type of service %#x", dscp, code, errs, tos)
		}
	}
	for _, how := range []string{"--cc nscc", "--cc nscc --spray --lb reps,source_ports=16",
		"--spray --lb bitmap,source_ports=8 --qps 2"} {
		code, out, errs := call(t, append([]string{"rdma", "perf", "write", "--to", to, "--timeout",
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
		args = append([]string{"rdma", "perf", args[0], "--to", to, "--timeout",
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
		"--transport mrc --spray":                      "MRC always sprays",
		"--transport mrc --cc dcqcn":                   "MRC runs under nscc, dctcp, none",
		"--transport iwarp":                            `unknown transport "iwarp" on sockets; accepted: rc, mrc`,
		"--transport rc --planes ::1":                  "RC has one way in",
		"--transport mrc --planes " + clientPlanes(to): "the peer has 2 planes, we have 1",
		"--lb reps":                        "--lb chooses among several source ports: it needs --spray",
		"--spray --lb reps,source_ports=1": "1 is nothing to choose from",
		"--spray --lb rep":                 "accepted: entropy, oblivious, bitmap, reps, mixed",
		"--spray --lb reps --set-aside 3":  "--lb entropy,set_aside=PACKETS",
	} {
		code, _, errs := call(t, append([]string{"rdma", "perf", "write", "--to", to}, strings.Fields(how)...)...)
		if code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", how, code, errs)
		}
	}
	code, out, errs := call(t, "rdma", "perf", "write", "--to", to, "--timeout",
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
func TestRealAllreduceCommand(t *testing.T) {
	t.Parallel()
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
func TestRealAllreduceByMRC(t *testing.T) {
	t.Parallel()
	code, out, errs := call(t, "rdma", "allreduce", "--ranks", "4",
		"--timeout", "18", "--bytes", "1KiB,300000B", "--iters", "2",
		"--json", "--transport", "mrc")
	var rows []allreduce.Row
	if code != 0 || json.Unmarshal([]byte(out), &rows) != nil || len(rows) != 2 ||
		rows[0].Wrong+rows[1].Wrong != 0 {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
}

// Wrong arguments, and addresses without a server, give a short error and exit code 2.
func TestRealRdmaBadInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken.pcapng")
	if err := os.WriteFile(taken, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, to := serving(t)
	host, _, _ := strings.Cut(to, ":")
	own, _, _ := strings.Cut(clientPlanes(to), ",")
	for _, c := range []struct{ args, want string }{
		{"rdma perf write --to 127.0.0.9:1", "no server at 127.0.0.9:1"},
		{"rdma perf write --to 203.0.113.7 --addr 203.0.113.8", "not an address of this host"},
		{"rdma perf write --to no..host", "no address for host"}, // no name server is queried for it
		{"rdma serve --addr " + host + " --port 0", "in use"},
		{"rdma perf write --to " + to + " --size 0B", "--size: 0B is out of range 1B–1GiB"},
		{"rdma perf write --to " + to + " --size 64", "the unit is missing"},
		{"rdma perf write --to " + to + " --size 1GiB --qps 900", "need more than"},
		{"rdma perf write --to " + to + " --mtu 1500", `--mtu: unknown value "1500"; accepted: 0, 256, 512, 1024, 2048, 4096`},
		{"rdma perf write --to " + to + " --qps 0", "--qps: 0 is out of range 1–1024"},
		{"rdma perf write --to " + to + " --duration=-500ms",
			"--duration: -500ms is out of range 0s–24h"},
		{"rdma perf lat --to " + to + " --duration 1s --iters 7", "--iters: has no effect with --duration"},
		{"rdma perf read --to " + to + " --force", "--force: has no effect"},
		{"rdma bench --force", "--force: has no effect without --plot"},
		{"rdma bench --plot x.gif", "--plot: writes .png or .svg"},
		{"rdma perf read --transport mrc --to " + to, "carries WRITE and WRITE with immediate only"},
		{"rdma allreduce --transport mrc --spray", "MRC always sprays"},
		{"rdma allreduce --transport mrc --planes 127.0.0.1,127.0.0.2",
			"--planes: names addresses of one rank"},
		{"rdma serve --duration=-1s", "--duration: -1s is out of range 0s–8760h"},
		{"rdma allreduce --mtu 1500", `--mtu: unknown value "1500"; accepted: 0, 256, 512, 1024, 2048, 4096`},
		{"rdma allreduce --wait=-1s", "--wait: -1s is out of range 1ms–24h"},
		{"rdma allreduce --patience 10ms", "--patience: 10ms is out of range 100ms–1h"},
		{"rdma perf write --to " + to + " --line-rate 5", "--line-rate: "},
		{"rdma perf write --to " + to + " --pcap " + taken, "--force"},
		{"rdma perf write --to " + to + " --dscp 64", "--dscp: 64 is out of range 0–63"},
		{"rdma allreduce --ranks 2 --dtype complex64",
			"--dtype: \"complex64\" is not a type of elements; accepted: "},
		{"rdma allreduce --timeout 0", "--timeout: 0 is out of range 1–31"},
		{"rdma allreduce --rendezvous 127.0.0.1:99999 --rank 1 --ranks 2",
			"--rendezvous: \"99999\" is out of range 1–65535"},
		{"rdma bench --rounds 0", "--rounds: 0 is out of range 1–100"},
		{"rdma bench --duration 2m", "--duration: 2m0s is out of range 100ms–1m"},
		{"rdma allreduce --ranks 2000", "--ranks: 2000 is out of range 1–1024"},
		{"rdma allreduce --ranks 2 --rank 1", "--rank: has no effect without --rendezvous"},
		{"rdma allreduce --ranks 2 --bytes 5B", "whole elements"},
		{"rdma allreduce --ranks 2 --redop xor",
			"--redop: \"xor\" is not a reduction; accepted: sum, prod, max, min"},
		{"rdma allreduce --ranks 2 --rank 1 --wait 300ms --rendezvous 127.0.0.1:1 --addr " + own,
			"found no rank 0"},
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

// Silent connections do not block others from being served.
func TestRealServeWithIdleConnections(t *testing.T) {
	t.Parallel()
	_, to := serving(t)
	for range 300 {
		c, err := net.Dial("tcp", to)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if code, _, errs := call(t, "rdma", "perf", "write", "--to", to, "--timeout",
		"18", "--iters", "10"); code != 0 {
		t.Errorf("with 300 idle connections: exit %d, %s", code, errs)
	}
}

// A capture has the IP identifications of the wire, with which the ICRCs are valid, whichever end splits batches
// into datagrams or joins them.
func TestRealCapturesHoldTheirICRC(t *testing.T) {
	t.Parallel()
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

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/allreduce"
	"railyard/internal/lab"
)

// namespacesOf counts a lab's namespaces.
func namespacesOf(t *testing.T, name string) (n int) {
	t.Helper()
	all, err := os.ReadDir("/run/netns")
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, ns := range all {
		if strings.HasPrefix(ns.Name(), "ry-"+name+"-") {
			n++
		}
	}
	return n
}

func portsOf(t *testing.T, name string) map[string]lab.PortStatus {
	t.Helper()
	code, out, errs := call(t, "lab", "status", "--name", name, "--json")
	var nodes []lab.NodeStatus
	if code != 0 || json.Unmarshal([]byte(out), &nodes) != nil {
		t.Fatal(code, out, errs)
	}
	m := map[string]lab.PortStatus{}
	for _, n := range nodes {
		for _, p := range n.Ports {
			m[p.Port] = p
		}
	}
	return m
}

// raise creates a lab and removes it at the end.
func raise(t *testing.T, name string, args ...string) {
	t.Helper()
	s := filepath.Join(scenarios(t), "lab-2x2.yaml")
	code, out, errs := call(t, append([]string{"lab", "up", s, "--name", name, "--wait", "5m"}, args...)...)
	if code != 0 {
		t.Fatal(out, errs)
	}
	t.Cleanup(func() {
		if code, _, errs := call(t, "lab", "down", "--name", name); code != 0 || namespacesOf(t, name) != 0 {
			t.Errorf("lab down: exit %d, %s, %d namespaces left", code, errs, namespacesOf(t, name))
		}
		if code, _, errs := call(t, "lab", "down", "--name", name); code != 2 ||
			!strings.Contains(errs, "no lab") {
			t.Errorf("a second down: exit %d, %s", code, errs)
		}
	})
}

func reduce(t *testing.T, name string, args ...string) (rows []allreduce.Row) {
	t.Helper()
	code, out, errs := call(t,
		append([]string{"lab", "rdma", "--name", name, "allreduce", "--json", "--patience", "5m"},
			args...)...)
	if code != 0 || json.Unmarshal([]byte(out), &rows) != nil || len(rows) == 0 {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	return rows
}

// Two spines, BGP, ECN. The congested ports mark, tshark sees the marks, CNPs answer them, and rates fall and
// recover. A cable that fails under load moves the traffic to the other spine, and every element is still correct.
func TestRealLabFRR(t *testing.T) {
	needsLab(t, "/usr/lib/frr/bgpd", "vtysh", "tshark")
	t.Parallel()
	name := ownName("frr")
	raise(t, name, "--rate", "200Mbps", "--routing", "frr")
	for mib := 2; ; mib *= 2 { // a busy machine may fill no port until more is to be sent
		problems := marked(t, name, mib)
		if len(problems) == 0 {
			break
		} else if mib > 64 {
			t.Fatal(strings.Join(problems, "\n"))
		}
		t.Logf("%d MiB: %s", mib, strings.Join(problems, "\n"))
	}
	type ended struct {
		code      int
		out, errs string
	}
	done := make(chan ended, 1)
	ports := []string{"seg-1-rail-1:Eth3", "seg-1-rail-1:Eth4"} // 36 MiB go out by them
	sent := sending(t, name, ports...)
	before := sent()
	go func() {
		code, out, errs := call(t, "lab", "rdma", "--name", name, "allreduce", "--json", "--patience", "5m",
			"--bytes", "4MiB", "--qps", "1", "--iters", "5")
		done <- ended{code, out, errs}
	}()
	var loaded []int64
	until(t, "a MiB has gone to the spines", func() bool {
		loaded = sent()
		return loaded[0]+loaded[1]-before[0]-before[1] > 1<<20
	})
	used, other := 0, 1
	if loaded[0]-before[0] < loaded[1]-before[1] {
		used, other = 1, 0
	}
	if code, _, errs := call(t, "lab", "fail", "link", "--name", name, ports[used]); code != 0 {
		t.Fatal(errs)
	}
	e := <-done
	var rows []allreduce.Row
	if err := json.Unmarshal([]byte(e.out), &rows); e.code != 0 || err != nil {
		t.Fatalf("exit %d, %v, %s%s", e.code, err, e.out, e.errs)
	}
	moved := sent()[other] - loaded[other]
	if up := portsOf(t, name)[ports[used]].Up; rows[0].Wrong != 0 || up || moved < 1<<20 {
		t.Errorf("%+v; %s up %v, moved to the other spine: %d bytes", rows[0], ports[used], up, moved)
	}
	if code, _, errs := call(t, "lab", "fail", "link", "--name", name, ports[used], "--up"); code != 0 {
		t.Error(errs)
	}
}

// sending returns a function that reads the bytes that ports of a lab have sent.
func sending(t *testing.T, name string, ports ...string) func() []int64 {
	t.Helper()
	s, err := lab.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	tap, err := s.Tap(ports...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tap.Close)
	return func() []int64 {
		sent := make([]int64, len(ports))
		if err := tap.Read(sent, make([]int64, len(ports))); err != nil {
			t.Fatal(err)
		}
		return sent
	}
}

// marked all-reduces given bytes over a lab and returns which trace of congestion is missing.
func marked(t *testing.T, name string, mib int) (problems []string) {
	t.Helper()
	dir := t.TempDir()
	rows := reduce(t, name, "--bytes", fmt.Sprint(mib, "MiB"), "--qps", "1", "--iters", "2", "--pcap",
		filepath.Join(dir, "lab.pcapng"), "--rate-log", filepath.Join(dir, "rate.csv"),
		"--rate-plot", filepath.Join(dir, "rate.png"))
	r := rows[0]
	if r.Wrong != 0 {
		t.Errorf("%+v", r)
	}
	if r.Stats.CE == 0 || r.Stats.CNPs == 0 {
		problems = append(problems, fmt.Sprintf("no marks or CNPs: %+v", r))
	}
	out, err := exec.Command("tshark", "-r", filepath.Join(dir, "lab-rank2.pcapng"), "-Y",
		"ip.dsfield.ecn==3 || infiniband.bth.opcode==0x81", "-T", "fields",
		"-e", "ip.src", "-e", "ip.dsfield.ecn", "-e", "ip.dsfield.dscp", "-e",
		"infiniband.bth.opcode").Output()
	if err != nil {
		t.Errorf("tshark: %v\n%.400s", err, out)
	}
	if !strings.Contains(string(out), "10.0.0.3\t3\t24\t") ||
		!strings.Contains(string(out), "10.0.0.5\t0\t48\t129") {
		problems = append(problems, fmt.Sprintf("tshark sees no mark or no CNP:\n%.400s", out))
	}
	// Rank 1 crosses the uplinks.
	if !fellAndRose(t, filepath.Join(dir, "rate-rank1.csv")) {
		problems = append(problems, "rank 1's rate did not fall and recover")
	}
	if png, err := os.ReadFile(filepath.Join(dir, "rate-rank1.png")); err != nil ||
		!strings.HasPrefix(string(png), "\x89PNG") {
		t.Errorf("no plot: %v", err)
	}
	return problems
}

// fellAndRose checks for a rate below half of the line rate and, later, one at line rate.
func fellAndRose(t *testing.T, csv string) bool {
	b, err := os.ReadFile(csv)
	if err != nil {
		t.Fatal(err)
	}
	fell, rose := false, false
	for _, l := range strings.Split(string(b), "\n") {
		w := strings.Split(l, ",")
		if len(w) == 3 {
			fell = fell || w[2] < "0.1500"
			rose = rose || fell && w[2] > "0.1900"
		}
	}
	return rose
}

// Static routes, a link that goes down, and random loss by nftables on the path: the result stays correct.
func TestRealLabStatic(t *testing.T) {
	needsLab(t)
	t.Parallel()
	name := ownName("stat")
	raise(t, name, "--rate", "300Mbps", "--routing", "static", "--no-ecn")
	for _, p := range []string{"seg-1-rail-1:Eth3", "seg-1-rail-1:Eth4", "spine-1:Eth1"} {
		if code, _, errs := call(t, "lab", "fail", "link", "--name", name, p, "--loss", "1"); code != 0 {
			t.Fatal(errs)
		}
	}
	rows := reduce(t, name, "--bytes", "1MiB", "--qps", "2", "--iters", "2", "--timeout", "15")
	if r := rows[0]; r.Wrong != 0 || r.Stats.Retransmissions == 0 {
		t.Errorf("%+v", r)
	}
	rows = reduce(t, name, "--bytes", "1MiB", "--spray", "--iters", "2", "--timeout", "15")
	if r := rows[0]; r.Wrong != 0 || r.Stats.Retransmissions == 0 {
		t.Errorf("sprayed: %+v", r)
	}
	if code, _, errs := call(t, "lab", "fail", "link", "--name", name, "spine-2:Eth2"); code != 0 {
		t.Fatal(errs)
	}
	if r := reduce(t, name, "--bytes", "1MiB", "--timeout", "15")[0]; r.Wrong != 0 {
		t.Errorf("without a cable: %+v", r)
	}
	if code, _, errs := call(t, "lab", "up", filepath.Join(scenarios(t), "lab-2x2.yaml"), "--name",
		name); code != 2 || !strings.Contains(errs, "up already") {
		t.Errorf("a second lab of the name: exit %d, %s", code, errs)
	}
}

// The remains of a crash are removed, and nothing else.
func TestRealLabCrash(t *testing.T) {
	needsLab(t)
	t.Parallel()
	name := ownName("end")
	stranger := "ry-" + name + "-stranger"
	if err := exec.Command("ip", "netns", "add", stranger).Run(); err != nil {
		t.Fatal(err)
	}
	defer exec.Command("ip", "netns", "del", stranger).Run()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "lab", "up", filepath.Join(scenarios(t), "lab-2x2.yaml"), "--name", name,
		"--routing", "static")
	cmd.Env = append(os.Environ(), "RAILYARD_CHILD=1")
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the stranger's namespace and three of the lab", func() bool {
		return namespacesOf(t, name) >= 4
	})
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	left := namespacesOf(t, name)
	if code, _, errs := call(t, "lab", "down", "--name", name); code != 0 || namespacesOf(t, name) != 1 {
		t.Errorf("after a crash with %d namespaces: exit %d, %s, %d left", left, code, errs,
			namespacesOf(t, name))
	}
}

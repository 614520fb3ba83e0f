package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"railyard/internal/allreduce"
	"railyard/internal/lab"
)

// needsLab skips where no lab can be made.
func needsLab(t *testing.T, programs ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	for _, p := range append(programs, "ip", "tc", "nft") {
		if _, err := exec.LookPath(p); err != nil {
			t.Skip(p, " is not installed")
		}
	}
	if err := exec.Command("ip", "netns", "add", "ry-probe").Run(); err != nil {
		t.Skip("this machine makes no network namespaces: ", err)
	}
	if err := exec.Command("ip", "netns", "del", "ry-probe").Run(); err != nil {
		t.Fatal(err)
	}
}

func namespacesOf(t *testing.T, name string) (n int) {
	t.Helper()
	out, err := exec.Command("ip", "netns", "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(out), "ry-"+name+"-")
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

// raise builds a lab and takes it down again at the end.
func raise(t *testing.T, name string, args ...string) {
	t.Helper()
	_, _, _ = call(t, "lab", "down", "--name", name) // of a run that was killed
	s := filepath.Join(scenarios(t), "lab-2x2.yaml")
	code, out, errs := call(t, append([]string{"lab", "up", s, "--name", name}, args...)...)
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
		append([]string{"lab", "rdma", "--name", name, "allreduce", "--json"}, args...)...)
	if code != 0 || json.Unmarshal([]byte(out), &rows) != nil || len(rows) == 0 {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	return rows
}

// Two spines, BGP, ECN: the congested ports mark, tshark sees the marks, CNPs
// answer them, rates fall and come back; a cable that breaks under load moves
// the traffic to the other spine, and every element is still right.
func TestLabFRR(t *testing.T) {
	needsLab(t, "/usr/lib/frr/bgpd", "vtysh", "tshark")
	raise(t, "t1", "--rate", "200Mbps", "--routing", "frr")
	for mib := 2; ; mib *= 2 { // a busy machine may fill no port until more is to be sent
		problems := marked(t, mib)
		if len(problems) == 0 {
			break
		} else if mib > 8 {
			t.Fatal(strings.Join(problems, "\n"))
		}
		t.Logf("%d MiB: %s", mib, strings.Join(problems, "\n"))
	}
	before := portsOf(t, "t1")
	done := make(chan []allreduce.Row)
	go func() { done <- reduce(t, "t1", "--bytes", "4MiB", "--qps", "1", "--iters", "10") }()
	sent := func(now map[string]lab.PortStatus, p string) int64 { return now[p].TxBytes - before[p].TxBytes }
	used, other := "seg-1-rail-1:Eth3", "seg-1-rail-1:Eth4"
	loaded := before
	for range 1200 {
		if loaded = portsOf(t, "t1"); sent(loaded, used)+sent(loaded, other) > 1<<20 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if sent(loaded, used) < sent(loaded, other) {
		used, other = other, used
	}
	if code, _, errs := call(t, "lab", "link", "--name", "t1", used, "down"); code != 0 {
		t.Fatal(errs)
	}
	rows := <-done
	after := portsOf(t, "t1")
	if rows[0].Wrong != 0 || after[used].Up || sent(after, other)-sent(loaded, other) < 1<<20 {
		t.Errorf("%+v; %s up %v, moved to the other spine: %d bytes", rows[0], used, after[used].Up,
			sent(after, other)-sent(loaded, other))
	}
	if code, _, errs := call(t, "lab", "link", "--name", "t1", used, "up"); code != 0 {
		t.Error(errs)
	}
}

// marked reduces so much over the lab t1 and says which trace of congestion is missing.
func marked(t *testing.T, mib int) (problems []string) {
	t.Helper()
	dir := t.TempDir()
	rows := reduce(t, "t1", "--bytes", fmt.Sprint(mib, "MiB"), "--qps", "1", "--iters", "2", "--pcap",
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

// fellAndRose looks for a rate below half of the line and, later, one of it.
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

// Static routes, a link that goes down, and random loss by nftables on the way:
// the result stays right.
func TestLabStatic(t *testing.T) {
	needsLab(t)
	raise(t, "t2", "--rate", "300Mbps", "--routing", "static", "--no-ecn")
	for _, p := range []string{"seg-1-rail-1:Eth3", "seg-1-rail-1:Eth4", "spine-1:Eth1"} {
		if code, _, errs := call(t, "lab", "loss", "--name", "t2", p, "1"); code != 0 {
			t.Fatal(errs)
		}
	}
	rows := reduce(t, "t2", "--bytes", "1MiB", "--qps", "2", "--iters", "2", "--timeout", "15")
	if r := rows[0]; r.Wrong != 0 || r.Stats.Retransmissions == 0 {
		t.Errorf("%+v", r)
	}
	rows = reduce(t, "t2", "--bytes", "1MiB", "--spray", "--iters", "2", "--timeout", "15")
	if r := rows[0]; r.Wrong != 0 || r.Stats.Retransmissions == 0 {
		t.Errorf("sprayed: %+v", r)
	}
	if code, _, errs := call(t, "lab", "link", "--name", "t2", "spine-2:Eth2", "down"); code != 0 {
		t.Fatal(errs)
	}
	if r := reduce(t, "t2", "--bytes", "1MiB", "--timeout", "15")[0]; r.Wrong != 0 {
		t.Errorf("without a cable: %+v", r)
	}
	if code, _, errs := call(t, "lab", "up", filepath.Join(scenarios(t), "lab-2x2.yaml"), "--name",
		"t2"); code != 2 || !strings.Contains(errs, "up already") {
		t.Errorf("a second lab of the name: exit %d, %s", code, errs)
	}
}

// What a crash leaves behind is removed, and what is not ours is not.
func TestLabCrash(t *testing.T) {
	needsLab(t)
	_, _, _ = call(t, "lab", "down", "--name", "t3")
	if err := exec.Command("ip", "netns", "add", "ry-t3-stranger").Run(); err != nil {
		t.Fatal(err)
	}
	defer exec.Command("ip", "netns", "del", "ry-t3-stranger").Run()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "lab", "up", filepath.Join(scenarios(t), "lab-2x2.yaml"), "--name", "t3",
		"--routing", "static")
	cmd.Env = append(os.Environ(), "RAILYARD_CHILD=1")
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for namespacesOf(t, "t3") < 4 {
		time.Sleep(time.Millisecond)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	left := namespacesOf(t, "t3")
	if code, _, errs := call(t, "lab", "down", "--name", "t3"); code != 0 || namespacesOf(t, "t3") != 1 {
		t.Errorf("after a crash with %d namespaces: exit %d, %s, %d left", left, code, errs,
			namespacesOf(t, "t3"))
	}
}

func TestLabBadInput(t *testing.T) {
	s := filepath.Join(scenarios(t), "lab-2x2.yaml")
	for args, want := range map[string]string{
		"lab up " + s + " --rate 5":                 "--rate",
		"lab up nowhere.yaml":                       "no such file",
		"lab status --name nolab":                   "no lab \"nolab\" is up",
		"lab status --name ../x":                    "a lab's name",
		"lab down --name nolab":                     "no lab",
		"lab rdma write":                            "runs allreduce",
		"lab compare --name nolab":                  "no lab",
		"lab rdma allreduce --ranks 3":              "comes from the lab",
		"lab link --name nolab spine-1:Eth1 down":   "no lab",
		"lab loss --name nolab spine-1:Eth1 1":      "no lab",
		"lab up " + s + " --name t9 --routing ospf": "",
	} {
		code, _, errs := call(t, strings.Fields(args)...)
		if os.Geteuid() != 0 {
			continue // then every command says that it needs root
		}
		if code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", args, code, errs)
		}
	}
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"railyard/internal/perftest"
)

// planes is a fabric of two planes with two leaves and two spines each, all of them namespaces with static routes.
// No routing avoids failures.
type planes struct {
	t    *testing.T
	name string
}

// in returns the name of a namespace.
func (f *planes) in(node string) string { return "ry-" + f.name + "-" + node }

// do runs lines of ip, tc and sysctl in namespaces: "NODE: command".
func (f *planes) do(lines string) {
	f.t.Helper()
	for line := range strings.Lines(lines) {
		node, command, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		args := append([]string{"netns", "exec", f.in(node)}, strings.Fields(command)...)
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			f.t.Fatalf("%s: %s: %v: %s", node, command, err, out)
		}
	}
}

// cable connects two nodes by a veth pair, with an address at each end.
func (f *planes) cable(a, portA, addrA, b, portB, addrB string) {
	f.t.Helper()
	out, err := exec.Command("ip", "link", "add", portA, "netns", f.in(a), "mtu", "9000", "type", "veth",
		"peer", "name", portB, "netns", f.in(b), "mtu", "9000").CombinedOutput()
	if err != nil {
		f.t.Fatalf("%s to %s: %v: %s", a, b, err, out)
	}
	f.do(fmt.Sprintf("%s: ip addr add %s dev %s\n%s: ip link set %s up\n%s: ip addr add %s dev %s\n"+
		"%s: ip link set %s up", a, addrA, portA, a, portA, b, addrB, portB, b, portB))
}

// raisePlanes builds the fabric: in plane p host a is 10.p.1.1 and host b 10.p.2.1.
func raisePlanes(t *testing.T, name string) *planes {
	t.Helper()
	f := &planes{t, name}
	nodes := []string{"a", "b"}
	for p := range 2 {
		for _, n := range []string{"la", "lb", "s1", "s2"} {
			nodes = append(nodes, fmt.Sprintf("%s%d", n, p))
		}
	}
	for _, n := range nodes {
		if out, err := exec.Command("ip", "netns", "add", f.in(n)).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", n, err, out)
		}
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", f.in(n)).Run() })
		f.do(n + ": ip link set lo up")
		const forward = "cd /proc/sys/net/ipv4; echo 1 > ip_forward; echo 1 > fib_multipath_hash_policy"
		out, err := exec.Command("ip", "netns", "exec", f.in(n), "sh", "-c", forward).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", n, err, out)
		}
	}
	for p := range 2 {
		f.plane(p)
	}
	return f
}

func (f *planes) plane(p int) {
	la, lb := fmt.Sprintf("la%d", p), fmt.Sprintf("lb%d", p)
	addr := func(form string) string { return strings.ReplaceAll(form, "P", fmt.Sprint(p)) }
	port := fmt.Sprintf("p%d", p)
	f.cable("a", port, addr("10.P.1.1/24"), la, "host", addr("10.P.1.254/24"))
	f.cable("b", port, addr("10.P.2.1/24"), lb, "host", addr("10.P.2.254/24"))
	for k := 1; k <= 2; k++ {
		s, up := fmt.Sprintf("s%d%d", k, p), fmt.Sprintf("s%d", k)
		net := func(form string) string { return strings.ReplaceAll(addr(form), "K", fmt.Sprint(k)) }
		f.cable(la, up, net("10.P.1K.1/30"), s, "la", net("10.P.1K.2/30"))
		f.cable(lb, up, net("10.P.2K.1/30"), s, "lb", net("10.P.2K.2/30"))
		f.do(s + net(": ip route add 10.P.1.0/24 via 10.P.1K.1\n") +
			s + net(": ip route add 10.P.2.0/24 via 10.P.2K.1"))
	}
	f.do(addr("a: ip route add 10.P.2.0/24 via 10.P.1.254\nb: ip route add 10.P.1.0/24 via 10.P.2.254\n") +
		la + addr(": ip route add 10.P.2.0/24 nexthop via 10.P.11.2 nexthop via 10.P.12.2\n") +
		lb + addr(": ip route add 10.P.1.0/24 nexthop via 10.P.21.2 nexthop via 10.P.22.2"))
}

// start runs this program on a host.
func (f *planes) start(host string, args ...string) (*exec.Cmd, *heard) {
	f.t.Helper()
	cmd := exec.Command("ip", append([]string{"netns", "exec", f.in(host), os.Args[0]}, args...)...)
	cmd.Env = append(os.Environ(), "RAILYARD_CHILD=1")
	var out heard
	cmd.Stdout, cmd.Stderr = &out, &out
	if _, err := cmd.StdinPipe(); err != nil { // it ends with this process
		f.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, &out
}

// heard is a process's output, which may be read while the process writes.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(b)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// carried returns how many bytes the ports of a process's host have sent and received. says is the process's
// output.
func (f *planes) carried(pid int, says *heard) (sent, received int64) {
	f.t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/dev", pid))
	if err != nil {
		f.t.Fatalf("%v: %s", err, says)
	}
	for line := range strings.Lines(string(b)) {
		port, counts, _ := strings.Cut(strings.TrimSpace(line), ":")
		if w := strings.Fields(counts); (port == "p0" || port == "p1") && len(w) > 8 {
			in, err1 := strconv.ParseInt(w[0], 10, 64)
			out, err2 := strconv.ParseInt(w[8], 10, 64)
			if err := errors.Join(err1, err2); err != nil {
				f.t.Fatal(err)
			}
			sent, received = sent+out, received+in
		}
	}
	return sent, received
}

// MRC stops using failed paths, under load and with static routes. No WRITE fails, and data soon arrive again. The
// delay depends on the host where processes wait for a processor; package mrc's tests measure it.
func TestRealLabPlanes(t *testing.T) {
	needsLab(t)
	t.Parallel()
	f := raisePlanes(t, ownName("mp"))
	server, said := f.start("b", "rdma", "serve", "--planes", "10.0.2.1,10.1.2.1")
	until(t, "the server serves", func() bool { return strings.Contains(said.String(), "10.0.2.1") })
	for _, c := range []struct{ what, breaks, mends string }{
		{"nothing", "", ""},
		{"a cable between leaf and spine is cut", "s11: ip link set la down",
			"s11: ip link set la up\ns11: ip route add 10.1.1.0/24 via 10.1.11.1"},
		{"a host's port is drained", "b: ip link set p1 down",
			"b: ip link set p1 up\nb: ip route add 10.1.1.0/24 via 10.1.2.254"},
		{"a path loses one packet in fifty", "la1: nft add table ip loss\n" +
			"la1: nft add chain ip loss f { type filter hook forward priority 0 ; }\n" +
			"la1: nft add rule ip loss f oifname s2 numgen random mod 50 == 0 drop",
			"la1: nft delete table ip loss"},
	} {
		f.load(server.Process.Pid, c.what, c.breaks, c.mends)
	}
}

// load causes a failure under load, and repairs it once no more than a tenth of the traffic is lost.
func (f *planes) load(server int, what, breaks, mends string) {
	f.t.Helper()
	cmd, out := f.start("a", "rdma", "perf", "write", "--to", "10.0.2.1", "--transport", "mrc", "--planes",
		"10.0.1.1,10.1.1.1", "--duration", "1h", "--depth", "8", "--timeout", "8", "--json")
	const stretch = 4 << 20 // bytes
	arrives := func(when string) {
		f.t.Helper()
		began := false
		var sent, received int64
		until(f.t, what+": what is sent arrives "+when, func() bool {
			s, _ := f.carried(cmd.Process.Pid, out)
			_, r := f.carried(server, out)
			if !began || r-received > stretch {
				kept := began && float64(s-sent) < 1.1*float64(r-received)
				began, sent, received = true, s, r
				return kept
			}
			return false
		})
	}
	arrives("at first")
	f.do(breaks)
	arrives("though it is broken")
	f.do(mends)
	arrives("when it is mended")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		f.t.Error(err)
	}
	err := cmd.Wait()
	var r struct{ Results []perftest.Result }
	text := out.String()
	if from := strings.Index(text, "{"); cmd.ProcessState.ExitCode() != exitInterupt || from < 0 ||
		json.NewDecoder(strings.NewReader(text[from:])).Decode(&r) != nil || len(r.Results) != 1 {
		f.t.Fatalf("%s: %v: %s", what, err, text)
	}
	w := r.Results[0]
	f.t.Logf("%-38s %5.2f Gbit/s, a WRITE takes %.0f us, the longest %.1f ms, %d packets again",
		what, w.Gbps, w.P50, w.Max/1e3, w.Retransmissions)
	if !w.Verified {
		f.t.Fatalf("%s: the bytes differ: %s", what, text)
	}
}

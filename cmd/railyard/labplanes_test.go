package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"railyard/internal/perftest"
)

// planes is a fabric of two planes with two leaves and two spines each, all of them namespaces with static
// routes: nothing routes around what breaks.
type planes struct {
	t    *testing.T
	name string
}

// in names a namespace.
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

// cable joins two nodes by a veth pair, with an address at each end.
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
		_ = exec.Command("ip", "netns", "del", f.in(n)).Run() // of a test that was killed
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
	if _, err := cmd.StdinPipe(); err != nil { // it ends with us
		f.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, &out
}

// heard is what a process says, which may be read while it speaks.
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

// until waits for a condition.
func (f *planes) until(what string, holds func() bool) {
	f.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			f.t.Fatalf("not in two minutes: %s", what)
		}
	}
}

// sent is what a host's ports have sent, bytes.
func (f *planes) sent(host string) (n int64) {
	f.t.Helper()
	for _, port := range []string{"p0", "p1"} {
		out, err := exec.Command("ip", "netns", "exec", f.in(host), "cat",
			"/sys/class/net/"+port+"/statistics/tx_bytes").Output()
		if err != nil {
			f.t.Fatal(err)
		}
		var bytes int64
		fmt.Sscan(string(out), &bytes)
		n += bytes
	}
	return n
}

// MRC moves away from what breaks, under load and with static routes: no WRITE fails, and none waits long.
// How long is the machine's affair where processes wait for their turn; package mrc's tests time it.
func TestLabPlanes(t *testing.T) {
	needsLab(t)
	f := raisePlanes(t, "mp")
	_, said := f.start("b", "rdma", "serve", "--planes", "10.0.2.1,10.1.2.1")
	f.until("the server serves", func() bool { return strings.Contains(said.String(), "10.0.2.1") })
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
		for try := 1; ; try++ { // a busy machine may keep any process from its turn for two seconds
			problem := f.load(c.what, c.breaks, c.mends)
			if problem == "" {
				break
			} else if try == 4 {
				t.Fatalf("%s: %s", c.what, problem)
			}
			t.Logf("%s, try %d: %s", c.what, try, problem)
		}
	}
}

// load breaks something under load, mends it, and says what was wrong with what became of the load.
func (f *planes) load(what, breaks, mends string) (problem string) {
	f.t.Helper()
	before := f.sent("a")
	cmd, out := f.start("a", "rdma", "write", "--to", "10.0.2.1", "--transport", "mrc", "--planes",
		"10.0.1.1,10.1.1.1", "--duration", "2s", "--depth", "8", "--timeout", "8", "--json")
	f.until("the load has begun", func() bool { return f.sent("a")-before > 1<<20 })
	time.Sleep(200 * time.Millisecond)
	f.do(breaks)
	err := cmd.Wait()
	f.do(mends)
	var r struct{ Results []perftest.Result }
	text := out.String()
	if from := strings.Index(text, "{"); err != nil || from < 0 ||
		json.Unmarshal([]byte(text[from:]), &r) != nil || len(r.Results) != 1 {
		return fmt.Sprintf("%v: %s", err, text)
	}
	w := r.Results[0]
	f.t.Logf("%-38s %5.2f Gbit/s, a WRITE takes %.0f us, the longest %.1f ms, %d packets again",
		what, w.Gbps, w.P50, w.Max/1e3, w.Retransmissions)
	if !w.Verified {
		f.t.Fatalf("%s: the bytes differ: %s", what, text)
	}
	if w.Max > 2e6 {
		return fmt.Sprintf("a WRITE took %.1f ms", w.Max/1e3)
	}
	return ""
}

package jetstream

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"railyard/internal/long"
	"railyard/internal/study"
	"railyard/unit"
)

// Environment of a process that TestRealKilled starts: its role, and the address of the server. It prints up once
// its server is available.
const (
	// server; driver or worker of one; both: a driver with a server; holder: of a namespace
	role    = "RAILYARD_ROLE"
	address = "RAILYARD_ADDRESS"
	up      = "up"
)

// play is such a process, in the folder of the scenario. It ends with the test.
func play(t *testing.T, what string) {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	silence = time.Second
	at := os.Getenv(address)
	d := &Driver{Access: Access{URL: "nats://" + at, Token: "secret"}}
	listen := func(dir string) *Server {
		server, err := Serve(Listen{Address: at, Dir: dir, Token: d.Token})
		if err != nil {
			t.Fatal(err)
		}
		return server
	}
	ready := func() { os.Stdout.WriteString(up + "\n") }
	switch what {
	case "holder":
		ready()
		select {}
	case "server":
		listen(".")
		ready()
		select {}
	case "worker":
		for ready(); ; pause(context.Background(), silence/10) { // the server may be killed before it is connected
			_ = (&Worker{Access: d.Access, Pool: &study.Pool{Workers: 1, Memory: unit.GB}}).Run(context.Background())
		}
	}
	s := begun(t, "tiny.yaml", "killed")
	if s.Engine = d; what == "both" {
		d.Server = listen(s.Dir)
	}
	ready()
	if err := s.Run(context.Background()); err != nil || s.Short > 0 {
		t.Fatal(err, s.ShortWhy)
	}
	results(t, s)
}

// player is the process of a role.
type player struct {
	cmd   *exec.Cmd
	err   bytes.Buffer
	ended chan struct{}
}

// start starts a role in a folder and returns when it is running. Its command may have a prefix.
func start(t *testing.T, what, dir, at string, by ...string) *player {
	t.Helper()
	by = append(by, os.Args[0], "-test.run", "^TestRealKilled$")
	p := &player{cmd: exec.Command(by[0], by[1:]...), ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = dir, append(os.Environ(), role+"="+what, address+"="+at)
	p.cmd.Stderr = &p.err
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		_, err = p.cmd.StdinPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var said bytes.Buffer
	for lines.Scan() && lines.Text() != up {
		said.WriteString(lines.Text() + "\n")
	}
	if lines.Text() != up {
		t.Fatalf("%s: %v: %s%s", what, p.cmd.Wait(), &said, &p.err)
	}
	go func() {
		_, _ = io.Copy(&p.err, out)
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(p.kill)
	return p
}

// kill kills the process unless it has ended.
func (p *player) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// scenario returns a folder with tiny.yaml.
func scenario(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tiny.yaml"), []byte(tiny), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// undisturbed returns the results of the players' study in this process.
func undisturbed(t *testing.T) []byte {
	t.Helper()
	dir := scenario(t)
	s := begun(t, filepath.Join(dir, "tiny.yaml"), filepath.Join(dir, "alone"))
	defer s.Close()
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return results(t, s)
}

// Driver, worker and server, in one process with the driver or in a separate one, are killed at random times and
// restarted, several times in a study. The study ends with the bytes of an undisturbed one. A driver that ends with
// an error, as after a trial that was set aside, is restarted. -schedule draws other times; RAILYARD_LONG=1 has 200
// instead of 8.
func TestRealKilled(t *testing.T) {
	if what := os.Getenv(role); what != "" {
		play(t, what)
		return
	}
	want := undisturbed(t)
	rng := rand.New(rand.NewPCG(*first, 31))
	each, studies, errors := long.N(2, 50), 0, 0
	left := map[string]int{"server": each, "driver": each, "worker": each, "both": each}
	for ; left["server"]+left["driver"]+left["worker"]+left["both"] > 0; studies++ {
		roles := []string{"server", "driver", "worker"} // in the order in which they start
		if left["both"] > left["server"]+left["driver"] {
			roles = []string{"both", "worker"}
		}
		dir := scenario(t)
		port, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		at := port.Addr().String()
		port.Close()
		all := make([]*player, len(roles))
		for i, what := range roles {
			all[i] = start(t, what, dir, at)
		}
		driver := &all[len(roles)-2]
		for more := 8; ; {
			wait := 2 * time.Minute
			if more > 0 {
				wait = time.Duration(rng.IntN(200)) * time.Millisecond
			}
			select {
			case <-time.After(wait):
				if more--; more < 0 {
					t.Fatalf("study %d does not end: %s", studies, &(*driver).err)
				}
				if i := rng.IntN(len(roles)); left[roles[i]] > 0 {
					left[roles[i]]--
					all[i].kill()
					all[i] = start(t, roles[i], dir, at)
				}
				continue
			case <-(*driver).ended:
			}
			if (*driver).cmd.ProcessState.Success() {
				break
			}
			if errors++; errors > each {
				t.Fatalf("%d drivers ended with an error: %s", errors, &(*driver).err)
			}
			*driver = start(t, roles[len(roles)-2], dir, at)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "killed", "results.parquet")); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("study %d, -schedule %d: the results differ from those of one process: %v", studies, *first, err)
		}
		for _, p := range all {
			p.kill()
		}
	}
	t.Logf("figure: %d kills in %d studies, -schedule %d, %d drivers ended with an error", 4*each, studies, *first, errors)
}

// A driver with a server and a worker are in separate network namespaces, between which the link goes down for less
// and for more than a silence. The study ends with the bytes of an undisturbed one.
func TestRealCutLink(t *testing.T) {
	const at = "192.0.2.1:4222"
	dir := scenario(t)
	if out, err := exec.Command("unshare", "--net", "ip", "link", "add", "type", "veth").CombinedOutput(); err != nil {
		t.Skipf("needs root and leave to make network namespaces: %v: %s", err, out)
	}
	var in [2][]string // to enter a namespace
	far := 0           // process in the second one
	for i := range in {
		far = start(t, "holder", dir, at, "unshare", "--net").cmd.Process.Pid
		in[i] = []string{"nsenter", fmt.Sprintf("--net=/proc/%d/ns/net", far)}
	}
	ip := func(side int, args string) error {
		cmd := append(append(slices.Clone(in[side]), "ip"), strings.Fields(args)...)
		if out, err := exec.Command(cmd[0], cmd[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", args, err, out)
		}
		return nil
	}
	err := ip(0, fmt.Sprint("link add cut type veth peer name cut netns ", far))
	for side := range in {
		err = cmp.Or(err, ip(side, fmt.Sprintf("addr add 192.0.2.%d/24 dev cut", 1+side)), ip(side, "link set cut up"),
			ip(side, "link set lo up")) // to the driver's own server
	}
	if err != nil {
		t.Fatal(err)
	}
	want := undisturbed(t)
	driver := start(t, "both", dir, at, in[0]...)
	worker := start(t, "worker", dir, at, in[1]...)
	rng, cuts := rand.New(rand.NewPCG(*first, 31)), 0
	for _, down := range []int{300, 2500, 900} { // ms; a silence is 1 s
		pause(t.Context(), time.Duration(rng.IntN(60))*time.Millisecond)
		select {
		case <-driver.ended:
			continue
		default:
		}
		cuts++
		err := ip(0, "link set cut down")
		pause(t.Context(), time.Duration(down)*time.Millisecond)
		if err = cmp.Or(err, ip(0, "link set cut up")); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-driver.ended:
	case <-time.After(2 * time.Minute):
		t.Fatalf("the study does not end: %s%s", &driver.err, &worker.err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "killed", "results.parquet"))
	if err != nil || !bytes.Equal(got, want) || cuts < 2 {
		t.Errorf("after %d cuts the results differ from those of one process: %v %s", cuts, err, &driver.err)
	}
}

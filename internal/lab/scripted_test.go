package lab

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"railyard/internal/story"
	"railyard/internal/topo"
	"railyard/unit"
)

// machine stands in for ip, tc and nft: it notes what it is told, keeps the names of namespaces, knows the
// routes to all NICs, and fails at one command if asked to.
const machine = `#!/bin/sh
d=$MACHINE
echo x >> $d/count
n=$(wc -l < $d/count)
case "$*" in
*rps_cpus*) ;; # depends on the processors of this machine
*) echo "${0##*/} $*" >> $d/said ;;
esac
if [ "$n" = "$FAIL_AT" ]; then echo "not today" >&2; exit 2; fi
case "$*" in
"-j netns list")
  printf '['; sep=; for f in $d/ns/*; do [ -e "$f" ] || continue
  printf '%s{"name":"%s"}' "$sep" "${f##*/}"; sep=,; done; echo ']' ;;
"netns add "*) : > $d/ns/$3 ;;
"netns delete "*) rm $d/ns/$3 ;;
*" route") cat $d/routes ;;
*" nft -f "*) for last; do :; done; sed 's/^/    /' $last >> $d/said ;;
esac
`

// scripted puts the stand-ins on the path; the folder has said, what they were told.
func scripted(t *testing.T) (folder string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("labs keep their state under " + root + ", which needs root")
	}
	folder = t.TempDir()
	os.Mkdir(filepath.Join(folder, "ns"), 0o755)
	os.Mkdir(filepath.Join(folder, "bin"), 0o755)
	for _, p := range []string{"ip", "tc", "nft"} {
		if err := os.WriteFile(filepath.Join(folder, "bin", p), []byte(machine), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("MACHINE", folder)
	t.Setenv("FAIL_AT", "")
	t.Setenv("PATH", filepath.Join(folder, "bin")+":"+os.Getenv("PATH"))
	return folder
}

// said returns what was told since it was asked last.
func said(t *testing.T, folder string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, "said"))
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(folder, "said"))
	return string(b)
}

// pair is a fabric of two hosts, two leaves and two spines, and a lab of it with static routes that has
// a name of its own for each test.
func pair(t *testing.T, folder, name string) (*topo.Graph, Options) {
	t.Helper()
	g := fabric(t, "rail", func(p *topo.Params) {
		p.Hosts, p.Server = 1, topo.Server{GPUs: 1, NICs: 1, Ports: 1}
	})
	o := options
	o.Name, o.Routing = own(name), RoutingStatic
	s, err := plan(g, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(s.dir()) })
	routes := ""
	for _, nic := range s.NICs {
		routes += netip.PrefixFrom(nic.Addr, 31).Masked().String() + " dev x\n"
	}
	os.WriteFile(filepath.Join(folder, "routes"), []byte(routes), 0o644)
	return g, o
}

// own is a lab's name that no other process on this machine has.
func own(name string) string { return name + strconv.FormatInt(int64(os.Getpid()), 36) }

// What a lab asks of the machine, from up to down: a cable that is taken out moves the routes to the
// other spine, a port that loses gets one rule, and nothing is left.
func TestWhatALabAsksFor(t *testing.T) {
	folder := scripted(t)
	g, o := pair(t, folder, "page")
	var page strings.Builder
	page.WriteString("# A lab of two hosts, two leaves and two spines with static routes, as the host receives them.\n")
	note := func(what string) {
		text := strings.ReplaceAll(said(t, folder), o.Name, "page")
		fmt.Fprintf(&page, "\n# %s\n%s", what, text)
	}
	ctx := context.Background()
	s, err := Up(ctx, g, o)
	if err != nil {
		t.Fatal(err)
	}
	note("up")
	spine := g.Nodes[len(g.Nodes)-1].Name
	if err := SetLink(ctx, s, spine+":Eth1", false); err != nil {
		t.Fatal(err)
	}
	note("a cable of " + spine + " out")
	if again, err := Load(o.Name); err != nil || !again.Ready || !reflect.DeepEqual(again.Links, s.Links) {
		t.Errorf("what is written down is another lab: %v %+v", err, again)
	}
	if err := SetLoss(ctx, s, spine+":Eth2", 0.01); err != nil {
		t.Fatal(err)
	}
	note("one in a hundred lost")
	if err := SetLoss(ctx, s, spine+":Eth2", 0); err != nil {
		t.Fatal(err)
	}
	note("none lost")
	fail := func(what string, f Failure) {
		if err := Fail(ctx, s, f); err != nil {
			t.Fatal(what, err)
		}
		note(what)
	}
	fail("all of "+spine+" down, a cable is already", Failure{Kind: "switch", Name: spine})
	fail(spine+" back, but for that cable", Failure{Kind: "switch", Name: spine, Up: true})
	fail("the cable back", Failure{Kind: "link", Name: spine + ":Eth1", Up: true})
	fail("a line card of "+spine+" down", Failure{Kind: "switch", Name: spine, Ports: []string{"Eth2-Eth2"}})
	fail("it is back", Failure{Kind: "switch", Name: spine, Ports: []string{"Eth2-Eth2"}, Up: true})
	fail("what a NIC sends slowed to a tenth", Failure{Kind: "nic", Name: "host-1/nic-1", Share: 0.1,
		Direction: "out"})
	fail("a NIC that pauses continuously", Failure{Kind: "nic", Name: "host-1/nic-1", Storm: true})
	fail("it pauses no more", Failure{Kind: "nic", Name: "host-1/nic-1", Storm: true, Up: true})
	fail("a NIC down", Failure{Kind: "nic", Name: "host-1/nic-1"})
	fail("it is back, with its way out", Failure{Kind: "nic", Name: "host-1/nic-1", Up: true})
	fail("a server down", Failure{Kind: "server", Name: "host-1"})
	for what, f := range map[string]Failure{
		`no switch "host-1" in this lab; accepted: `: {Kind: "switch", Name: "host-1"},
		`no NIC "host-1/nic-9" in this lab`:          {Kind: "nic", Name: "host-1/nic-9"},
		`no server "x" in this lab`:                  {Kind: "server", Name: "x"},
		`no port "Eth9"; a stretch`:                  {Kind: "switch", Name: spine, Ports: []string{"Eth9"}},
		"ports are ports of a switch":                {Kind: "nic", Name: "x", Ports: []string{"x"}},
		`a "fan" cannot fail; accepted: link`:        {Kind: "fan"},
		"a NIC pauses continuously, found a switch":  {Kind: "switch", Name: spine, Storm: true},
		"is out of range 0.0001–1":                   {Kind: "switch", Name: spine, Share: 2},
	} {
		if err := Fail(ctx, s, f); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %q", err, what)
		}
	}
	for what, err := range map[string]error{
		"no port": SetLink(ctx, s, "spine-9:Eth1", true), "is up already": s.claim(),
		"out of range 0–100": SetLoss(ctx, s, spine+":Eth2", 1.5)} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %q", err, what)
		}
	}
	if _, err := Down(ctx, o.Name); err != nil {
		t.Fatal(err)
	}
	note("down")
	if left, _ := os.ReadDir(filepath.Join(folder, "ns")); len(left) > 0 || exists(s.dir()) {
		t.Errorf("left: %v", left)
	}
	if _, err := Load(o.Name); err == nil || !strings.Contains(err.Error(), "is up") {
		t.Errorf("%v", err)
	}
	story.Check(t, "static-lab", page.String())
}

// Whichever command fails, what was made until then is removed again, and the step that failed is named.
func TestUpThatFails(t *testing.T) {
	folder := scripted(t)
	g, o := pair(t, folder, "fail")
	for _, at := range []int{2, 3, 4, 19, 21, 24, 40, 50, 60, 65} {
		os.Remove(filepath.Join(folder, "count"))
		t.Setenv("FAIL_AT", fmt.Sprint(at))
		s, err := Up(t.Context(), g, o)
		if err == nil || !strings.Contains(err.Error(), "not today") {
			t.Fatalf("command %d failed, and up says %v", at, err)
		}
		step, _, _ := strings.Cut(err.Error(), ":")
		if !strings.Contains("namespaces cables host routes rate limits ECN marking static routes ip", step) {
			t.Errorf("command %d: %v", at, err)
		}
		if left, _ := os.ReadDir(filepath.Join(folder, "ns")); len(left) > 0 || exists(s.dir()) {
			t.Errorf("command %d: %d namespaces are left of %v", at, len(left), err)
		}
	}
	// A namespace of the same name that somebody else made is not touched.
	t.Setenv("FAIL_AT", "")
	theirs := filepath.Join(folder, "ns", "ry-"+o.Name+"-"+g.Nodes[0].Name)
	os.WriteFile(theirs, nil, 0o644)
	if _, err := Up(t.Context(), g, o); err == nil || !strings.Contains(err.Error(), "is not the lab's") {
		t.Errorf("%v", err)
	}
	if !exists(theirs) {
		t.Error("somebody else's namespace is gone")
	}
}

// A rate is shaped in proportion to the fabric's, never to none.
func TestShapedRates(t *testing.T) {
	folder := scripted(t)
	g, o := pair(t, folder, "rate")
	o.Rate = 8 * unit.Mbps
	s, err := Up(t.Context(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	text := said(t, folder)
	for i := range s.Links {
		want := int64(8_000_000)
		if l := g.Links[i]; g.Nodes[l.A].Role != topo.Host && g.Nodes[l.B].Role != topo.Host {
			want = 4_000_000 // uplinks have half the rate of host ports here
		}
		if !strings.Contains(text, fmt.Sprintf("dev %s root tbf rate %dbit", s.Links[i].APort, want)) {
			t.Errorf("%+v is not shaped to %d", s.Links[i], want)
		}
	}
	if _, err := Down(t.Context(), o.Name); err != nil {
		t.Fatal(err)
	}
}

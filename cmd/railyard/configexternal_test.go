package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// rendered writes a scenario's configuration and returns its directory.
func rendered(t *testing.T, scenario string, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	code, _, errs := call(t,
		append(append([]string{"config", "render", filepath.Join(scenarios(t), scenario), "--out", dir},
			args...),
			onDevice(args...)...)...)
	if code != 0 {
		t.Fatal(errs)
	}
	return dir
}

// onDevice says what switches are where a language among the arguments is told that.
func onDevice(args ...string) []string {
	if slices.Contains(args, "sonic") {
		return []string{"--hwsku", "ACS-SN5600"}
	}
	return nil
}

// bundles is a fabric with pairs of switches, which no shipped scenario has in
// this size.
const bundles = `name: bundles
fabric: {kind: pod, hosts: 2, segments: 2, spines: 2, host_link: {rate: 400Gbps, cable: 3m},
  fabric_link: {rate: 400Gbps, cable: 30m}}
server: {gpus: 2, nics: 2, nic_ports: 2}
workload: {traffic: {permutation: {bytes: 1MB}}}
`

// ownSettings is vtysh's remark, to users without rights, about its own settings.
var ownSettings = regexp.MustCompile(`(?m)^% Can't open configuration file /etc/frr/vtysh.conf.*\n`)

// FRR takes every file that is rendered for it, SONiC's among them.
func TestVtyshConfigs(t *testing.T) {
	if _, err := exec.LookPath("vtysh"); err != nil {
		t.Skip("vtysh is not installed")
	}
	pod := filepath.Join(t.TempDir(), "pod.yaml")
	if err := os.WriteFile(pod, []byte(bundles), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][]string{
		{"lab-2x2.yaml", "frr"}, {"gpt13b-128.yaml", "frr"},
		{"fattree128-permutation.yaml", "sonic"}, {pod, "frr"}, {pod, "sonic"},
	} {
		for _, addressing := range []string{"unnumbered", "p2p"} {
			s := c[0]
			if filepath.IsAbs(s) {
				s, _ = filepath.Rel(scenarios(t), s)
			}
			files, _ := filepath.Glob(rendered(t, s, "--os", c[1], "--addressing", addressing) +
				"/*/frr.conf")
			if len(files) == 0 {
				t.Errorf("%v: no frr.conf", c)
			}
			for i, f := range files {
				if i >= 8 && i < len(files)-8 {
					continue // the switches of a tier differ in numbers only
				}
				out, err := exec.Command("vtysh", "-C", "-f", f).CombinedOutput()
				said := ownSettings.ReplaceAllString(string(out), "")
				if err != nil || said != "" {
					t.Errorf("%s: %v: %s", f, err, said)
				}
			}
		}
	}
}

// The rendered BGP comes up in namespaces, unnumbered and numbered: every session
// is established, a leaf reaches the other leaf's servers over both spines by the
// right next hops, a spine by the one leaf.
func TestLabBGP(t *testing.T) {
	needsLab(t, "/usr/lib/frr/bgpd", "vtysh")
	for i, addressing := range []string{"unnumbered", "p2p"} {
		name := fmt.Sprintf("bgp%d", i)
		raise(t, name, "--routing", "frr", "--addressing", addressing)
		leaf := nexthops(t, name, "seg-1-rail-1", "10.0.0.4/31")
		want := "Eth3 Eth4"
		if addressing == "p2p" {
			want = "Eth3 10.64.0.1 Eth4 10.64.0.3"
		}
		if leaf != want {
			t.Errorf("%s: the leaf's next hops are %q, want %q", addressing, leaf, want)
		}
		if spine := nexthops(t, name, "spine-1", "10.0.0.4/31"); !strings.HasPrefix(spine, "Eth2") ||
			strings.Count(spine, "Eth") != 1 {
			t.Errorf("%s: the spine's next hop is %q", addressing, spine)
		}
		out, err := exec.Command("vtysh", "--vty_socket", "/run/railyard-lab/"+name+"/spine-2", "-c",
			"show bgp summary json").Output()
		if err != nil || strings.Count(string(out), `"state":"Established"`) != 2 {
			t.Errorf("%s: spine-2: %v\n%s", addressing, err, out)
		}
	}
}

// nexthops lists a route's ports and gateways in the order of the ports.
func nexthops(t *testing.T, lab, node, prefix string) string {
	t.Helper()
	type hop struct{ Dev, Gateway string }
	var routes []struct {
		hop
		Nexthops []hop
	}
	for until := time.Now().Add(2 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		out, err := exec.Command("ip", "-n", "ry-"+lab+"-"+node, "-j", "route", "show", prefix).Output()
		if err != nil || json.Unmarshal(out, &routes) != nil {
			t.Fatal(err, string(out))
		}
		if len(routes) == 1 && (len(routes[0].Nexthops) > 1 || strings.HasPrefix(node, "spine")) ||
			time.Now().After(until) {
			break
		}
	}
	if len(routes) != 1 {
		return fmt.Sprintf("%d routes", len(routes))
	}
	hops := routes[0].Nexthops
	if len(hops) == 0 {
		hops = []hop{routes[0].hop}
	}
	by := map[string]string{}
	for _, h := range hops {
		by[h.Dev] = strings.TrimSpace(h.Dev + " " + h.Gateway)
	}
	var list []string
	for _, dev := range []string{"Eth1", "Eth2", "Eth3", "Eth4"} {
		if by[dev] != "" {
			list = append(list, by[dev])
		}
	}
	return strings.Join(list, " ")
}

// slurmConf runs slurmctld alone, without munge and cgroups (HANDBOOK.md 17).
const slurmConf = `ClusterName=railyard
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=%d
SlurmUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation=%[2]s/state
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmctldLogFile=%[2]s/slurmctld.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
TopologyPlugin=topology/tree
NodeName=host-[1-%[3]d] NodeAddr=127.0.0.1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
`

// Slurm reads the rendered topology.conf: every server is on one leaf, and the
// root has them all.
func TestSlurmTopology(t *testing.T) {
	for _, p := range []string{"slurmctld", "scontrol"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Skip(p, " is not installed")
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("slurmctld with SlurmUser=root needs root")
	}
	for scenario, hosts := range map[string]int{
		"lab-2x2.yaml":                4,
		"gpt13b-128.yaml":             16,
		"fattree128-permutation.yaml": 128,
	} {
		out := slurmShows(t, rendered(t, scenario, "--os", "frr"), hosts)
		leaves, all := 0, regexp.MustCompile(`Level=[0-2] .*Nodes=host-\[1-`+fmt.Sprint(hosts)+`\]`)
		for _, l := range strings.Split(out, "\n") {
			if strings.Contains(l, "Level=0") {
				leaves++
			}
		}
		if leaves == 0 || !all.MatchString(out) {
			t.Errorf("%s: %d leaves\n%s", scenario, leaves, out)
		}
	}
}

// slurmShows starts slurmctld on a topology and returns what scontrol shows.
func slurmShows(t *testing.T, dir string, hosts int) string {
	t.Helper()
	port := freePorts(t, 1)
	conf := filepath.Join(dir, "slurm.conf")
	if err := os.MkdirAll(dir+"/state", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(conf, fmt.Appendf(nil, slurmConf, port, dir, hosts), 0o644); err != nil {
		t.Fatal(err)
	}
	ctl := exec.Command("slurmctld", "-D", "-f", conf)
	if err := ctl.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		ctl.Process.Kill()
		ctl.Wait()
	}()
	var out []byte
	for range 600 {
		cmd := exec.Command("scontrol", "show", "topology")
		cmd.Env = append(os.Environ(), "SLURM_CONF="+conf)
		var err error
		if out, err = cmd.CombinedOutput(); err == nil {
			return string(out)
		}
		time.Sleep(200 * time.Millisecond)
	}
	log, _ := os.ReadFile(dir + "/slurmctld.log")
	t.Fatalf("slurmctld does not answer: %s\n%s", out, log)
	return ""
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// slurmConf runs slurmctld alone, without munge and cgroups (docs/references.md, slurm).
const slurmConf = `ClusterName=railyard
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=6817
SlurmUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation=%[1]s/state
SlurmctldPidFile=%[1]s/slurmctld.pid
SlurmctldLogFile=%[1]s/slurmctld.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
TopologyPlugin=topology/tree
NodeName=host-[1-%[2]d] NodeAddr=127.0.0.1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
`

// Slurm reads the rendered topology.conf: every server is on one leaf, and the root has all of them.
func TestRealSlurmTopology(t *testing.T) {
	needsSlurm(t, "slurmctld", "scontrol", "nsenter")
	t.Parallel()
	net := ownNetwork(t, "topo")
	for scenario, hosts := range map[string]int{
		"lab-2x2.yaml":                4,
		"gpt13b-128.yaml":             16,
		"fattree128-permutation.yaml": 128,
	} {
		out := slurmShows(t, net, rendered(t, scenario, "--os", "frr"), hosts)
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

// slurmShows starts slurmctld on a topology and returns the output of scontrol.
func slurmShows(t *testing.T, net network, dir string, hosts int) string {
	t.Helper()
	conf := filepath.Join(dir, "slurm.conf")
	if err := os.MkdirAll(dir+"/state", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(conf, fmt.Appendf(nil, slurmConf, dir, hosts), 0o644); err != nil {
		t.Fatal(err)
	}
	ctl := net.command("slurmctld", "-D", "-f", conf)
	if err := ctl.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = ctl.Process.Kill()
		_ = ctl.Wait()
	}()
	var out []byte
	until(t, "slurmctld answers", func() bool {
		cmd := net.command("scontrol", "show", "topology")
		cmd.Env = append(os.Environ(), "SLURM_CONF="+conf)
		var err error
		out, err = cmd.CombinedOutput()
		return err == nil && strings.Contains(string(out), "SwitchName=")
	})
	return string(out)
}

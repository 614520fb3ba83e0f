package submission

import (
	"slices"
	"strings"
	"testing"
)

// TestStates: a cluster that a scenario describes has the states of nodes that sinfo prints; names that the scenario
// does not have, and other descriptions of the cluster, are refused with what is accepted.
func TestStates(t *testing.T) {
	const site = "name: site\nfabric: {kind: rail, segments: 1, hosts: 6, spines: 2}\n" +
		"server: {gpu: h100, gpus: 8, nics: 8}\nworkload: {traffic: {alltoall: {bytes: 1MB}}}\n"
	const head = "PARTITION NODELIST GRES CPUS STATE\n"
	folder(t, map[string]string{"site.yaml": site,
		"sinfo.txt": head + "gpu* host-[1,3] gpu:h100:8 96 alloc\ngpu* host-5 gpu:h100:8 96 drain\n" +
			"gpu* host-[2,4,6-7] gpu:h100:8 96 idle\n",
		"other.txt": head + "gpu* dgx-[1-6] gpu:h100:8 96 idle\n", "topology.conf": "SwitchName=a Nodes=host-[1-6]\n",
		"job": "#!/bin/bash\n#SBATCH -N3 --ntasks-per-node=8 --gpus-per-node=8\nsrun all_reduce_perf -b 1M -e 1M\n"})
	s, err := Follow(&Request{Script: "job", Cluster: "site.yaml", Sinfo: "sinfo.txt", DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.alloc.Names(), []string{"host-2", "host-4", "host-6"}; !slices.Equal(got, want) {
		t.Errorf("on %v, want %v", got, want)
	}
	if notes := strings.Join(s.cluster.notes, "\n"); !strings.Contains(notes, "host-7 without a server of site.yaml") {
		t.Errorf("notes %s", notes)
	}
	for want, r := range map[string]Request{
		"no node of site.yaml, found dgx-[1-6]; accepted: names such as host-1": {Sinfo: "other.txt"},
		"topology.conf repeats it; accepted with it: --sinfo":                   {Topology: "topology.conf"},
		"topology.conf repeats it; accepted":                                    {Topology: "topology.conf", Sinfo: "sinfo.txt"},
	} {
		r.Script, r.Cluster = "job", "site.yaml"
		if _, err := Follow(&r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

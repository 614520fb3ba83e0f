package slurm

import "testing"

// Whatever is said of a cluster is read or refused, and what is read can be checked and shared out.
func FuzzCluster(f *testing.F) {
	for _, s := range []string{
		"NodeName=n[1-4] Gres=gpu:h100:8 CPUs=64\nPartitionName=p Nodes=ALL Default=YES\nSelectType=select/cons_tres\n",
		"NodeName=DEFAULT Sockets=2 CoresPerSocket=32\nNodeName=n[01-08,10] State=DOWN\nInclude x.conf\n",
		"SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n[3-4]\nSwitchName=top Switches=s[1-2]\n",
		"NODELIST NODES PARTITION STATE CPUS GRES\nn[1-2] 2 p idle 64 gpu:8\n",
		"NodeName=n1 Arch=x86_64 CoresPerSocket=32\n   CPUAlloc=0 CPUTot=64 Gres=gpu:8(S:0-1)\n   State=IDLE Partitions=p\n",
		"NodeName=n[1-999999999]\n", "NodeName=n[1-2][3-4] \\\n CPUs=1\n"} {
		f.Add("slurm.conf", s)
		f.Add("topology.conf", s)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		c := &Cluster{Open: func(string) ([]byte, error) { return []byte(text), nil }}
		if c.Read(name, []byte(text)) != nil {
			return
		}
		if c.Check() != nil {
			return
		}
		c.Sort()
		r := &Request{Name: "job", MinNodes: 1, MaxNodes: 2, Tasks: 4, CPUs: 2, GPUsPerNode: 1}
		if r.Check() == nil {
			c.Allocate(r)
		}
	})
}

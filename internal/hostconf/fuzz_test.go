package hostconf

import "testing"

// Whatever a host's script, tool or manifest says is read or refused.
func FuzzHost(f *testing.F) {
	for _, s := range []string{"mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0 --trust dscp\ncma_roce_tos -d mlx5_0 -t 106\n",
		"#!/bin/bash\nfor i in 0 1; do echo 106 > /sys/class/infiniband/mlx5_$i/tc/1/traffic_class; done\n",
		"[Service]\nExecStart=/usr/bin/mlnx_qos -i eth0 --pfc=0,0,0,1,0,0,0,0\n",
		"apiVersion: v1\nkind: ConfigMap\ndata:\n  NCCL_IB_TC: \"106\"\n", "export NCCL_IB_HCA=mlx5_0,mlx5_1\nNCCL_IB_GID_INDEX=3\n",
		"DCBX mode: OS controlled\nPriority trust state: dscp\nPFC configuration:\n\tpriority    0   1   2   3\n\tenabled     0   0   0   1\n"} {
		f.Add("setup.sh", s)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		if len(text) > 1<<16 {
			return
		}
		Looks(text)
		if h, err := Parse(name, []byte(text)); err == nil && h == nil {
			t.Error("neither a host nor an error")
		}
	})
}

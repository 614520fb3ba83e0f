package dialect_test

import (
	"strings"
	"testing"

	"railyard/internal/hostconf"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
)

// server is a server's script for the rendered switches: DSCP 24 in priority 3, CNPs with 48.
const server = `#!/bin/bash
mlnx_qos -i eth0 --trust dscp
mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0
echo 96 > /sys/class/infiniband/mlx5_0/tc/1/traffic_class
cma_roce_tos -d mlx5_0 -t 96
echo 48 > /sys/class/net/eth0/ecn/roce_np/cnp_dscp
echo 1 > /sys/class/net/eth0/ecn/roce_np/enable/3
echo 1 > /sys/class/net/eth0/ecn/roce_rp/enable/3
ethtool -A eth0 rx off tx off
ip link set eth0 mtu 9000
export NCCL_IB_TC=96
export NCCL_IB_GID_INDEX=3
export NCCL_IB_QPS_PER_CONNECTION=4
`

// hostEdges are, for each rule about servers, a change of that script which breaks it and one that comes
// near.
var hostEdges = []struct {
	rule      string
	bad, good []string
}{
	{"host-trust", []string{"--trust dscp", "--trust pcp"}, []string{"mlnx_qos -i eth0 --trust dscp\n", ""}},
	{"host-data-class", []string{"echo 96", "echo 104"}, []string{"echo 96", "echo 99"}},
	{"host-pfc", []string{"0,0,0,1,", "0,0,1,0,"}, []string{"0,0,0,1,", "0,0,1,1,"}},
	{"host-pfc-differs", []string{"0,0,0,1,0", "0,0,0,1,1"},
		[]string{"--pfc 0,0,0,1,0,0,0,0", "--pfc=0,0,0,1,0,0,0,0 --cable_len 5"}},
	{"host-cnp-class", []string{"echo 48", "echo 46"}, []string{"echo 48 > ", "echo 0x30 > "}},
	{"host-ecn", []string{"echo 1 > /sys/class/net/eth0/ecn/roce_np",
		"echo 0 > /sys/class/net/eth0/ecn/roce_np"},
		[]string{"roce_rp/enable/3\n", "roce_rp/enable/3\necho 0 > " +
			"/sys/class/net/eth0/ecn/roce_rp/enable/4\n"}},
	{"host-mtu", []string{"mtu 9000", "mtu 9217"}, []string{"mtu 9000", "mtu 9216"}},
	{"host-fec", []string{"ethtool -A eth0 rx off tx off\n", "ethtool -A eth0 rx off tx off\n" +
		"ethtool --set-fec eth0 encoding baser\n"}, []string{"ethtool -A eth0 rx off tx off\n",
		"ethtool -A eth0 rx off tx off\nethtool --set-fec eth0 encoding rs\n"}},
	{"host-path-mtu", []string{"mtu 9000", "mtu 4191"}, []string{"mtu 9000", "mtu 4192"}},
	{"host-class-differs", []string{"-t 96", "-t 106"}, []string{"-t 96", "-t 98"}},
	{"host-class-unset", []string{"echo 96 > /sys/class/infiniband/mlx5_0/tc/1/traffic_class\n", "",
		"export NCCL_IB_TC=96\n", ""}, []string{"export NCCL_IB_TC=96\n", ""}},
	{"host-differs", []string{"cnp_dscp\n", "cnp_dscp\nfor d in eth1 eth2; do echo 49 > " +
		"/sys/class/net/$d/ecn/roce_np/cnp_dscp; done\n"}, []string{"cnp_dscp\n",
		"cnp_dscp\nfor d in eth1 eth2; do " +
			"echo 48 > /sys/class/net/$d/ecn/roce_np/cnp_dscp; done\n"}},
	{"host-gid-even", []string{"INDEX=3", "INDEX=2"}, []string{"INDEX=3", "INDEX=5"}},
	{"host-gid", []string{"export NCCL_IB_GID_INDEX=3", "export NCCL_IB_GID_INDEX=2"}, []string{"mlx5_0",
		"mlx5_0"}},
	{"host-qps", []string{"CONNECTION=4", "CONNECTION=1"}, []string{"CONNECTION=4", "CONNECTION=2"}},
	{"host-pause", []string{"rx off", "rx on"}, []string{"ethtool -A eth0 rx off tx off\n", ""}},
	{"host-priority", []string{"echo 48", "echo 48", "--pfc 0,0,0,1,0",
		"--dscp2prio set,24,4 --pfc 0,0,0,1,1"}, nil},
}

// coded makes every port of a rendered switch set its FEC.
var coded = []string{"  speed 400000\n", "  speed 400000\n  fec rs-fec\n"}

// gids is show_gids' output for a NIC.
const gids = `$ show_gids mlx5_0
mlx5_0	1	2	0000:0000:0000:0000:0000:ffff:0a00:0002	10.0.0.2  	v1	eth0
mlx5_0	1	3	0000:0000:0000:0000:0000:ffff:0a00:0002	10.0.0.2  	v2	eth0
`

// A server in a rendered fabric: its script breaks a rule or just does not, at the switch of its cables. The
// correct script breaks none.
func TestServersInFabric(t *testing.T) {
	g := fabric(t, "pod")
	d, err := plan(g, spec(), "nxos", design.Unnumbered, design.MLAG, "")
	if err != nil {
		t.Fatal(err)
	}
	switches, texts := configs(t, d)
	name := g.Nodes[g.Hosts[0]].Name
	told := func(text string, with bool, rule string) (messages []string) {
		files := []hostconf.File{{Name: name + ".sh", Text: []byte(text)}}
		if with {
			files = append(files, hostconf.File{Name: name + ".txt", Text: []byte(gids)})
		}
		h, err := hostconf.ParseFiles(name, files)
		if err != nil {
			t.Fatal(err)
		}
		cs := switches
		if rule == "host-priority" || rule == "host-fec" { // the switch pauses two priorities, or sets its FEC
			cs = nil
			change := pausing("4")
			if rule == "host-fec" {
				change = coded
			}
			for _, c := range switches {
				c, err := dialect.Parse(c.File, []byte(strings.ReplaceAll(texts[c.File], change[0],
					change[1])), "")
				if err != nil {
					t.Fatal(err)
				}
				cs = append(cs, c)
			}
		}
		for _, f := range swconf.Lint(swconf.Input{Configs: cs, Hosts: []*swconf.Host{h}, Graph: g,
			DataDSCP: 24,
			CNPDSCP:  48, PathMTU: 4096, Base: spec()}) {
			if strings.HasPrefix(f.File, name) && (rule == "" || f.Rule == rule) {
				messages = append(messages, f.Rule+": "+f.Message)
			}
		}
		return messages
	}
	if all := told(server, true, ""); len(all) > 0 {
		t.Errorf("the good server: %q", all)
	}
	tried := map[string]bool{}
	for _, e := range hostEdges {
		tried[e.rule] = true
		said := told(strings.NewReplacer(e.bad...).Replace(server), e.rule == "host-gid", e.rule)
		if len(said) == 0 {
			t.Errorf("%s is silent about %q", e.rule, e.bad)
		} else if strings.Contains(said[0], "more") && !strings.Contains(said[0], " and 3 more") {
			t.Errorf("%s: a server has four cables, and its finding is about others: %s", e.rule,
				said[0])
		}
		if e.good == nil {
			continue
		}
		if said := told(strings.NewReplacer(e.good...).Replace(server), e.rule == "host-gid",
			e.rule); len(said) > 0 {
			t.Errorf("%s complains about %q: %s", e.rule, e.good, said[0])
		}
	}
	for _, r := range swconf.Rules() {
		if strings.HasPrefix(r.ID, "host-") && !tried[r.ID] {
			t.Errorf("rule %s is not tried", r.ID)
		}
	}
}

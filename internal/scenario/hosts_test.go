package scenario_test

import (
	"reflect"
	"strings"
	"testing"

	"railyard/cc"
	"railyard/internal/scenario"
	"railyard/unit"
)

// nics is a server's text for the switches of the default configuration.
const nics = `mlnx_qos -i eth0 --trust dscp
mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0
mlnx_qos -i eth0 --dscp2prio set,48,7
ip link set eth0 mtu 4200
echo 96 > /sys/class/infiniband/mlx5_0/tc/1/traffic_class
echo 48 > /sys/class/net/eth0/ecn/roce_np/cnp_dscp
echo 20 > /sys/class/net/eth0/ecn/roce_rp/rpg_ai_rate
echo 100 > /sys/class/net/eth0/ecn/roce_rp/rpg_time_reset
export NCCL_IB_QPS_PER_CONNECTION=4
export NCCL_IB_TIMEOUT=18
export NCCL_IB_RETRY_CNT=5
`

func withHosts(t *testing.T, extra string, files map[string]string) (*scenario.Plan, error) {
	t.Helper()
	d, err := scenario.Parse("x.yaml", []byte(good+extra), nil)
	if err != nil {
		return nil, err
	}
	return d.Resolve(texts(files))
}

// A server's configuration determines its settings: DSCPs, the MTU's path MTU, queue pairs, retries, and DCQCN's
// parameters as in the registers. A run's resolved values give an equal plan.
func TestHostTexts(t *testing.T) {
	files := map[string]string{"h.sh": nics}
	p, err := withHosts(t, "hosts: {config: h.sh}\n", files)
	if err != nil {
		t.Fatal(err)
	}
	v := p.Default().Values
	if f := p.Settled(); p.RC.MTU != 4096 || p.QPs != 4 || f.Transport.Timeout != 18 || p.RC.Retries != 5 ||
		p.Default().DSCP != 24 || v["ai"] != 20*unit.Mbps || v["rate_timer"] != 100*unit.Microsecond ||
		p.Texts["h.sh"] != nics || len(p.PFC) > 0 {
		t.Errorf("%+v %+v", f.Transport, v)
	}
	small, err := withHosts(t, "hosts: {config: h.sh}\n", map[string]string{"h.sh": strings.Replace(nics,
		"4200",
		"4159", 1)})
	if err != nil || small.RC.MTU != 2048 {
		t.Errorf("%v", err)
	}
	again, err := withHosts(t, "transport: {qps: 4, data_dscp: 24}\ncc: {dcqcn: {ai: 20Mbps}}\n"+
		"hosts: {config: h.sh}\n", files)
	if err != nil || !reflect.DeepEqual(again.Default().Values, v) || again.QPs != 4 {
		t.Errorf("the same said twice: %v", err)
	}
	off := strings.Replace(nics, "echo 20", "echo 0 > /sys/class/net/eth0/ecn/roce_rp/enable/3\necho 20", 1)
	if p, err := withHosts(t, "hosts: {config: h.sh}\n", map[string]string{"h.sh": off}); err != nil ||
		p.Default().CC != cc.Lookup("none") {
		t.Errorf("ECN off: %v", err)
	}
}

// A server without PFC neither pauses nor obeys pauses; the other servers are unaffected.
func TestHostWithoutPFC(t *testing.T) {
	p, err := withHosts(t, "hosts: {config: h.sh, host-2: bad.sh}\n", map[string]string{"h.sh": nics,
		"bad.sh": strings.Replace(nics, "0,0,0,1,", "0,0,0,0,", 1)})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.PFC) == 0 {
		t.Fatal("every NIC does PFC")
	}
	for end, mask := range p.PFC {
		if p.Graph.Nodes[end.Node].Name != "host-2" || mask != 0 {
			t.Errorf("%s pauses %d", p.Graph.Nodes[end.Node].Name, mask)
		}
	}
}

// Unsupported and contradictory settings are rejected with the configuration's line.
func TestBadHostTexts(t *testing.T) {
	for want, c := range map[string]struct {
		extra, old, new string
	}{
		"hosts.config: h.sh:1: priorities from VLAN tags are not simulated": {"", "--trust dscp",
			"--trust pcp"},
		"hosts: h.sh:3: CNPs (DSCP 48) have priority 3 in the NIC and queue 7": {"", "set,48,7", "set,48,3"},
		"hosts.config: h.sh:2: --pfc has 3 values": {"", "0,0,0,1,0,0,0,0",
			"0,0,1"},
		"h.sh:7:1: rpg_max_rate 20 is not simulated, only 0 is": {"", "rpg_ai_rate",
			"rpg_max_rate"},
		"hosts.config: nope.sh: no such file": {"hosts: {config: nope.sh}",
			"", ""},
		"hosts.host-99: is not a server of this fabric": {"hosts: {host-99: h.sh}",
			"", ""},
		"x.yaml:11:13: transport.qps: differs in h.sh:9, which sets 4": {
			"transport: {qps: 2}\nhosts: {config: h.sh}", "", ""},
		"hosts: h.sh:12 gives transport.cnp_dscp 40 and h.sh:6 gives it 48: servers and NICs are simulated equally": {"",
			"RETRY_CNT=5\n", "RETRY_CNT=5\necho 40 > /sys/class/net/eth1/ecn/roce_np/cnp_dscp\n"},
		"hosts.config: h.sh:1:1: contains no supported setting of a host's NICs": {"", nics, "hello"},
	} {
		extra := c.extra
		if extra == "" {
			extra = "hosts: {config: h.sh}"
		}
		_, err := withHosts(t, extra+"\n", map[string]string{"h.sh": strings.Replace(nics, c.old, c.new, 1)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

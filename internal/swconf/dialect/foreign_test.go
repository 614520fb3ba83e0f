package dialect_test

import (
	"slices"
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/dialect"
	"railyard/unit"
)

// sonicImage is in the style of a SONiC image's default: lossless traffic classes 3 and 4, DSCP 24 in class 1 and
// 48 in class 6 (docs/references.md, configurations), old references in brackets, keys for several ports, dynamic
// thresholds.
const sonicImage = `{
  "DEVICE_METADATA": {"localhost": {"hostname": "leaf0", "hwsku": "X", "type": "ToRRouter",
    "bgp_asn": "65100"}},
  "PORT": {
    "Ethernet0": {"lanes": "1,2,3,4", "alias": "etp1", "speed": "100000", "mtu": "9100",
      "admin_status": "up"},
    "Ethernet4": {"lanes": "5,6,7,8", "alias": "etp2", "speed": "100000", "mtu": "9100", "admin_status": "up"}
  },
  "CABLE_LENGTH": {"AZURE": {"Ethernet0": "5m", "Ethernet4": "40m"}},
  "DSCP_TO_TC_MAP": {"AZURE": {"3": "3", "4": "4", "24": "1", "48": "6", "46": "5", "8": "0"}},
  "TC_TO_QUEUE_MAP": {"AZURE": {"0": "0", "1": "1", "3": "3", "4": "4", "5": "5", "6": "6"}},
  "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {"0": "0", "1": "0", "3": "3", "4": "4", "5": "0", "6": "0"}},
  "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": {"3": "3", "4": "4"}},
  "SCHEDULER": {"scheduler.0": {"type": "DWRR", "weight": "14"},
    "scheduler.1": {"type": "DWRR", "weight": "15"}},
  "WRED_PROFILE": {"AZURE_LOSSLESS": {"green_min_threshold": "1048576", "green_max_threshold": "2097152",
    "green_drop_probability": "5", "ecn": "ecn_all", "wred_green_enable": "true"}},
  "PORT_QOS_MAP": {"Ethernet0,Ethernet4": {"dscp_to_tc_map": "[DSCP_TO_TC_MAP|AZURE]",
    "tc_to_queue_map": "[TC_TO_QUEUE_MAP|AZURE]", "tc_to_pg_map": "AZURE", "pfc_to_queue_map": "AZURE",
    "pfc_enable": "3,4"}},
  "QUEUE": {"Ethernet0,Ethernet4|3-4": {"scheduler": "scheduler.1", "wred_profile": "AZURE_LOSSLESS"},
    "Ethernet0,Ethernet4|0-2": {"scheduler": "scheduler.0"}},
  "BUFFER_POOL": {"ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "32000000",
    "xoff": "2000000"}},
  "BUFFER_PROFILE": {"pg_lossless_100000_5m_profile": {"pool": "ingress_lossless_pool", "size": "92160",
    "xon": "19456", "xoff": "72704", "dynamic_th": "0"}},
  "BUFFER_PG": {"Ethernet0,Ethernet4|3-4": {"profile": "[BUFFER_PROFILE|pg_lossless_100000_5m_profile]"}},
  "PFC_WD": {"Ethernet0": {"action": "drop", "detection_time": "200", "restoration_time": "200"},
    "Ethernet4": {"action": "drop", "detection_time": "200", "restoration_time": "200"},
    "GLOBAL": {"POLL_INTERVAL": "200"}},
  "VERSIONS": {"DATABASE": {"VERSION": "version_4_0_1"}},
  "SURPRISE": {"a": {}}
}`

// frrRunning is FRR's own output.
const frrRunning = `Building configuration...

Current configuration:
!
frr version 8.4.4
frr defaults datacenter
hostname leaf0
no ipv6 forwarding
service integrated-vtysh-config
!
ip prefix-list HOSTS seq 5 permit 10.0.0.0/10 le 32
!
route-map OUT permit 10
 match ip address prefix-list HOSTS
exit
!
interface swp1
 ip address 10.0.0.0/31
exit
!
router bgp 65101
 bgp router-id 10.255.0.1
 no bgp ebgp-requires-policy
 neighbor FABRIC peer-group
 neighbor FABRIC remote-as external
 neighbor swp3 interface peer-group FABRIC
 neighbor swp4 interface v6only peer-group FABRIC
 neighbor 192.0.2.9 remote-as 65000
 !
 address-family ipv4 unicast
  redistribute connected route-map OUT
  no neighbor 192.0.2.9 activate
 exit-address-family
exit
!
end
`

const eosRunning = `! Command: show running-config
! device: leaf0 (DCS-7060X6, EOS-4.32.0F)
!
transceiver qsfp default-mode 4x10G
service routing protocols model multi-agent
hostname leaf0
qos map dscp 26 to traffic-class 3
qos map dscp 48 to traffic-class 7
qos profile ROCE
   qos trust dscp
   priority-flow-control on
   priority-flow-control priority 3 no-drop
   uc-tx-queue 3
      no priority
      bandwidth percent 60
      random-detect ecn minimum-threshold 320 kbytes maximum-threshold 2 mbytes max-mark-probability 10
   tx-queue 7
      priority strict
interface Et1/1, Et2/1
   mtu 9214
   speed 400g-8
   no switchport
   service-profile ROCE
interface Ethernet3/1
   shutdown
interface Management1
   ip address 192.0.2.1/24
router bgp 65101
   router-id 10.255.0.1
   maximum-paths 64 ecmp 64
   neighbor SPINES peer group
   neighbor SPINES remote-as 65000
   neighbor interface Et1/1-2/1 peer-group SPINES remote-as 65000
   address-family ipv4
      neighbor SPINES activate
ip routing
end
`

func parseForeign(t *testing.T, text string, unknown ...string) *swconf.Config {
	t.Helper()
	c, err := dialect.Parse("x", []byte(text), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range c.Unknown {
		if !slices.Contains(unknown, u.Text) {
			t.Errorf("line %d: %q: %s", u.At.Line, u.Text, u.Why)
		}
	}
	return c
}

func rulesOf(cs ...*swconf.Config) map[string]int {
	m := map[string]int{}
	for _, f := range lint(nil, cs) {
		m[f.Rule]++
	}
	return m
}

// SAI resumes at max(xon, limit - xon_offset). SONiC's profiles set both with static and with dynamic thresholds,
// and neither is ignored.
func TestSONiCResumes(t *testing.T) {
	const dynamic, static = `"dynamic_th": "0"`, `"static_th": "500000"`
	for text, want := range map[string]struct{ xoff, xon, offset, at unit.Bytes }{
		`"xon": "19456", "xoff": "72704", ` + dynamic:                       {0, 19456, 0, 19456},
		`"xon": "0", "xoff": "612140", "xon_offset": "3556", ` + dynamic:    {0, 0, 3556, 496444},
		`"xon": "600000", "xoff": "9000", "xon_offset": "2496", ` + dynamic: {0, 600000, 2496, 600000},
		`"xon": "19456", "xoff": "9000", "xon_offset": "0", ` + dynamic:     {0, 19456, 1, 499999},
		`"xoff": "9000", ` + dynamic:                                        {0, 0, 0, 500000 - 2*9100},
		`"xon": "19456", "xoff": "9000", ` + static:                         {500000, 19456, 0, 19456},
		`"xon": "19456", "xoff": "9000", "xon_offset": "3556", ` + static:   {500000, 496444, 0, 496444},
		`"xoff": "9000", "xon_offset": "3556", ` + static:                   {500000, 496444, 0, 496444},
	} {
		image := strings.Replace(sonicImage, `"xon": "19456", "xoff": "72704", "dynamic_th": "0"`, text, 1)
		s, _, err := parseForeign(t, image, "SURPRISE").Spec(queue.Default())
		if err != nil {
			t.Fatal(err)
		}
		k := s.Queues[3]
		if at := k.Resume(500000, 9100); k.XOff != want.xoff || k.XOn != want.xon ||
			k.XOnOffset != want.offset || at != want.at {
			t.Errorf("%s: xOFF %d, xON %d, offset %d, and with a threshold of 500,000 resumes at %d; want %d",
				text, k.XOff, k.XOn, k.XOnOffset, at, want)
		}
	}
}

// Texts of other origin than ours are understood.
func TestForeignTexts(t *testing.T) {
	c := parseForeign(t, sonicImage, "SURPRISE")
	s, _, err := c.Spec(queue.Default())
	if err != nil {
		t.Fatal(err)
	}
	k := s.Queues[3]
	if c.OS != swconf.SONiC || !k.Lossless || k.WRED.Min != 1<<20 || k.WRED.Max != 2<<20 || k.Alpha != 1 ||
		k.Headroom != 72704 || s.Buffer != 34e6 || s.MTU != 9100 ||
		s.DSCP[24] != 1 || s.DSCP[48] != 6 || s.DSCP[3] != 3 || !s.Queues[4].Lossless || !s.Watchdog.On ||
		s.Watchdog.Poll != 200*unit.Millisecond || s.LosslessMask() != 1<<3|1<<4 {
		t.Errorf("SONiC: %+v", s)
	}
	if r := rulesOf(c); r["pfc-class"] != 1 || r["cnp-not-strict"] != 1 || r["policy-undefined"] != 0 ||
		r["policy-unused"] != 0 {
		t.Errorf("SONiC's image defaults: %v", r)
	}

	c = parseForeign(t, frrRunning)
	b := c.BGP
	if c.OS != swconf.FRR || b == nil || len(b.Neighbors) != 3 || b.Neighbors[0].Remote.V != "external" ||
		!b.Neighbors[1].Active || b.Neighbors[2].Active || len(c.Ports) != 1 {
		t.Errorf("FRR: %+v", b)
	}
	if r := rulesOf(c); r["bgp-relax"] != 1 || r["bgp-inactive"] != 1 || r["policy-unused"] != 0 ||
		r["bgp-policy"] != 0 {
		t.Errorf("FRR: %v", r)
	}

	c = parseForeign(t, eosRunning)
	s, _, err = c.Spec(queue.Default())
	k = s.Queues[3]
	if err != nil || c.OS != swconf.EOS || k.Weight != 60 || k.WRED.Min != 320_000 ||
		k.WRED.Max != 2_000_000 || k.WRED.Probability != 0.1 || !k.Lossless || s.DSCP[26] != 3 ||
		!s.Queues[7].Strict || s.MTU != 9214 {
		t.Errorf("EOS: %v %+v", err, s)
	}
	if len(c.Ports) != 3 || c.Ports[1].Name != "Ethernet2/1" || c.Ports[1].Number != 2 ||
		c.Ports[0].Speed.V != 400*unit.Gbps {
		t.Errorf("EOS: ports %+v", c.Ports)
	}
}

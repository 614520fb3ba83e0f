package dialect_test

import (
	"fmt"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/dialect"
)

// rightTexts are complete or partial texts that devices run, and that come near to what rules of level error look
// for. None of them may be an error of that rule, at most advice.
var rightTexts = []struct {
	rule, why string
	texts     []string
}{
	// a lab with a Nexus 93180YC-EX on NX-OS 10.3(8) runs a resume threshold equal to its pause threshold
	{"threshold-order", "no hysteresis", []string{lossless + `policy-map type queuing IN
  class type queuing c-in-q3
    pause buffer-size 60000 pause-threshold 24000 resume-threshold 24000
system qos
  service-policy type queuing input IN
`}},
	// only a scenario sets where such a switch pauses and resumes
	{"threshold-order", "no pause thresholds", []string{lossless + `policy-map type queuing OUT
  class type queuing c-out-8q-q3
    bandwidth remaining percent 50
    random-detect minimum-threshold 90 kbytes maximum-threshold 3600 kbytes drop-probability 7 weight 0 ecn
system qos
  service-policy type queuing output OUT
`}},
	{"threshold-order", "marks begin below xON", []string{lossless + `policy-map type queuing IN
  class type queuing c-in-q3
    pause buffer-size 600000 pause-threshold 400000 resume-threshold 200000
policy-map type queuing OUT
  class type queuing c-out-8q-q3
    bandwidth remaining percent 50
    random-detect minimum-threshold 100 kbytes maximum-threshold 300 kbytes drop-probability 7 weight 0 ecn
  class type queuing c-out-8q-q-default
    bandwidth remaining percent 50
system qos
  service-policy type queuing input IN
  service-policy type queuing output OUT
`}},
	// NX-OS negotiates PFC by default, so ports without RoCE disable it
	{"pfc-interface", "a port to elsewhere", []string{lossless + `interface Ethernet1/48
  description to the campus
  priority-flow-control mode off
  ip address 192.0.2.1/31
`}},
	{"address-duplicate", "anycast gateways", []string{gateway("leaf-1"), gateway("leaf-2")}},
	{"address-duplicate", "both switches of a pair are one VTEP", []string{vtep("leaf-1", "192.0.2.1"),
		vtep("leaf-2", "192.0.2.2")}},
	{"address-duplicate", "link-local addresses are the link's own", []string{`hostname leaf-1
interface Ethernet1
   ipv6 address fe80::1/64
interface Ethernet2
   ipv6 address fe80::1/64
`}},
	{"address-duplicate", "every pair speaks over the same VLAN and subnet", []string{
		pair("leaf-1", "leaf-2", 0), pair("leaf-3", "leaf-4", 0)}},
	{"bgp-silent", "a spine passes on what it is told", []string{`hostname spine-1
feature bgp
interface Ethernet1/1
  ip address 10.64.0.1/31
interface Ethernet1/2
  ip address 10.64.0.3/31
` + lossless + `router bgp 65000
  address-family ipv4 unicast
    maximum-paths 8
  neighbor 10.64.0.0
    remote-as 65001
    address-family ipv4 unicast
  neighbor 10.64.0.2
    remote-as 65002
    address-family ipv4 unicast
`}},
	{"bgp-neighbor-missing", "OSPF below, BGP between loopbacks", []string{igp("leaf-1", "spine-1", 0, 1),
		igp("spine-1", "leaf-1", 1, 0)}},
	{"bgp-neighbor-missing", "a trunk", []string{trunk("leaf-1", "leaf-2", 1), trunk("leaf-2", "leaf-1", 2)}},
	{"link-subnet", "addresses borrowed from loopbacks", []string{borrowed("leaf-1", "spine-1", 1),
		borrowed("spine-1", "leaf-1", 2)}},
	{"bgp-duplicate", "spines replace the AS number, in a text that is not here", []string{
		sameAS("leaf-1", 1), sameAS("leaf-2", 2)}},
	{"policy-undefined", "a part: show running-config interface", []string{`interface Ethernet1/1
  priority-flow-control mode on
  service-policy type qos input CLASSIFY
  mtu 9216
`}},
	{"evpn-segment", "a part: one interface", []string{`interface port-channel1
  switchport
  vpc 1
  ethernet-segment 1
    system-mac aabb.cc00.0001
interface Ethernet1/1
  switchport
  priority-flow-control mode on
  channel-group 1 mode active
`}},
	{"evpn-next-hop", "a part: the BGP of a leaf whose tunnels stand elsewhere", []string{`hostname leaf-1
interface Ethernet1/1
  no switchport
  ip address 10.64.0.0/31
router bgp 65001
  neighbor 192.0.2.11
    remote-as 65000
    address-family l2vpn evpn
      send-community extended
  neighbor 192.0.2.12
    remote-as 65000
    address-family l2vpn evpn
      send-community extended
`}},
	{"data-starved", "a queue that nobody meant for RoCE", []string{`hostname access-1
feature lldp
class-map type qos match-any BULK
  match dscp 24
policy-map type qos IN
  class BULK
    set qos-group 3
policy-map type queuing OUT
  class type queuing c-out-8q-q3
    bandwidth remaining percent 0
  class type queuing c-out-8q-q-default
    bandwidth remaining percent 100
interface Ethernet1/1
  service-policy type qos input IN
system qos
  service-policy type queuing output OUT
`}},
}

const lossless = `feature lldp
class-map type qos match-any ROCE
  match dscp 24
policy-map type qos CLASSIFY
  class ROCE
    set qos-group 3
policy-map type network-qos NET
  class type network-qos c-8q-nq3
    pause pfc-cos 3
    mtu 9216
  class type network-qos c-8q-nq-default
    mtu 9216
interface Ethernet1/40
  mtu 9216
  priority-flow-control mode on
  service-policy type qos input CLASSIFY
system qos
  service-policy type network-qos NET
`

func gateway(name string) string {
	return "hostname " + name + `
feature fabric forwarding
fabric forwarding anycast-gateway-mac 0200.0000.0001
interface Vlan10
  no shutdown
  ip address 198.51.100.1/24
  fabric forwarding mode anycast-gateway
`
}

func vtep(name, own string) string {
	return "hostname " + name + `
feature nv overlay
interface loopback1
  ip address ` + own + `/32
  ip address 192.0.2.100/32 secondary
interface nve1
  no shutdown
  source-interface loopback1
`
}

func pair(name, peer string, local int) string {
	return fmt.Sprintf(`hostname %s
vlan 4094
interface Vlan4094
   ip address 169.254.1.%d/30
interface Port-Channel10
   switchport mode trunk
interface Ethernet31
   description to %s Ethernet31
   channel-group 10 mode active
mlag configuration
   domain-id %s
   local-interface Vlan4094
   peer-address 169.254.1.%d
   peer-link Port-Channel10
`, name, local+1, peer, name, 2-local)
}

func igp(name, peer string, own, far int) string {
	return fmt.Sprintf(`hostname %s
feature ospf
feature bgp
router ospf 1
interface Ethernet1/1
  description to %s Ethernet1/1
  ip address 10.64.0.%d/31
  ip router ospf 1 area 0
interface loopback0
  ip address 192.0.2.%d/32
  ip router ospf 1 area 0
router bgp 65000
  neighbor 192.0.2.%d
    remote-as 65000
    update-source loopback0
    address-family l2vpn evpn
      send-community extended
`, name, peer, own, own+1, far+1)
}

func trunk(name, peer string, id int) string {
	return fmt.Sprintf(`hostname %s
feature bgp
interface Ethernet1/1
  description to %s Ethernet1/1
  switchport
  switchport mode trunk
interface Ethernet1/2
  ip address 10.64.%d.0/31
router bgp 6500%d
  neighbor 10.64.%d.1
    remote-as 65100
    address-family ipv4 unicast
      default-originate
`, name, peer, id, id, id)
}

func borrowed(name, peer string, id int) string {
	return fmt.Sprintf(`hostname %s
feature ospf
interface loopback0
  ip address 192.0.2.%d/32
interface Ethernet1/1
  description to %s Ethernet1/1
  medium p2p
  ip unnumbered loopback0
  ip router ospf 1 area 0
router ospf 1
`, name, id, peer)
}

func sameAS(name string, id int) string {
	return fmt.Sprintf(`hostname %s
feature bgp
interface Ethernet1/1
  ip address 10.64.%d.0/31
router bgp 65001
  router-id 192.0.2.%d
  address-family ipv4 unicast
    redistribute direct route-map ALL
    maximum-paths 8
  neighbor 10.64.%d.1
    remote-as 65100
    address-family ipv4 unicast
route-map ALL permit 10
`, name, id, id, id)
}

func TestRightTextsAreNoErrors(t *testing.T) {
	for _, r := range rightTexts {
		var cs []*swconf.Config
		for i, text := range r.texts {
			c, err := dialect.Parse(fmt.Sprintf("%d.cfg", i), []byte(text), "")
			if err != nil {
				t.Fatalf("%s (%s): %v", r.rule, r.why, err)
			}
			cs = append(cs, c)
			for _, u := range c.Unknown {
				t.Logf("%s (%s): not understood: %s: %s", r.rule, r.why, u.Text, u.Why)
			}
		}
		data, cnp := swconf.UsualDSCPs(cs)
		in := swconf.Input{Configs: cs, DataDSCP: data, CNPDSCP: cnp, PathMTU: 4096}
		for _, f := range swconf.Lint(in) {
			if f.Severity == swconf.Error {
				what := t.Logf
				if f.Rule == r.rule {
					what = t.Errorf
				}
				what("%s (%s): %s:%d: %s: %s", r.rule, r.why, f.File, f.Line, f.Rule, f.Message)
			}
		}
	}
}

package dialect

import "railyard/internal/swconf"

// foreign are recognized but unsupported languages. A text with more of their phrases than of any supported
// language's belongs to them. Marks are phrases of a single language, and weigh more than a few words that
// languages share.
var foreign = []struct {
	name           string
	marks, phrases []string
}{
	{"VyOS", []string{"hw-id ", "system-as ", "vyos-config-version"}, []string{"ethernet eth0 {"}},
	{"Cisco IOS-XR", []string{"IOS XR", "interface MgmtEth0/", "GigE0/0/0/", "end-policy-map",
		"\nend-policy\n", "interface Bundle-Ether", "hw-module profile"}, []string{" ipv4 address ",
		"\nroute-policy ",
		"interface HundredGigE", "interface FourHundredGigE", "bundle id "}},
	{"Cisco IOS or IOS XE", []string{"\nservice timestamps ", "\nboot-start-marker", "line con 0",
		"line vty 0 ", "Current configuration : ", "interface GigabitEthernet",
		"interface FastEthernet",
		"interface TenGigabitEthernet", "interface TwentyFiveGigE"}, []string{" 255.255.255.",
		"vrf forwarding "}},
	{"Huawei or H3C VRP", []string{"sysname ", "\n undo ", "\nundo "}, []string{"dcb pfc",
		"traffic classifier", "quit\n", "if-match dscp", " as-number "}},
	{"Nokia SR Linux", []string{"set / interface", "network-instance"}, nil},
	{"Nokia SR OS", []string{"# TiMOS", "\nexit all\n", "/configure ", "echo \"System Configuration\""},
		[]string{"sap-ingress", "configure {\n    router"}},
	{"Dell OS10", []string{"trust dot1p-map", "\ninterface ethernet1/1/", "interface mgmt1/1/1"},
		[]string{"qos-map traffic-class", "dcbx enable"}},
	{"Extreme ExtremeXOS", []string{"\n# Module ", "configure vlan "}, []string{"create vlan ",
		"create qosprofile "}},
	{"HPE Aruba AOS-CX", []string{"ArubaOS-CX", "AOS-CX"}, []string{"qos queue-profile ",
		"qos schedule-profile ", "\ninterface 1/1/1\n"}},
	{"MikroTik RouterOS", []string{"RouterOS ", "\n/interface ", "\n/ip address"}, nil},
	{"Fortinet FortiOS", []string{"#config-version=", "config system "}, nil},
	{"pfSense or OPNsense", []string{"<pfsense>", "<opnsense>"}, nil},
	{"Palo Alto PAN-OS", []string{`urldb="paloaltonetworks"`}, nil},
	{"ONIE or a boot log", []string{"onie_machine=", "onie_platform=", "ONIE:"}, []string{"onie-",
		"Starting kernel"}},
	{"ifupdown2's /etc/network/interfaces", nil, []string{"\niface ",
		"bridge-ports "}},
	{"a file of Cumulus Linux's switchd, as traffic.conf and qos_features.conf are (what nv config show prints is read)",
		[]string{"traffic.packet_priority_source_set", "traffic.cos_0.", "\npriority_group.",
			"pfc.port_group_list",
			"ecn_red.port_group_list", "\negress_sched.", "\nflow_control.", "ingress_service_pool"}, nil},
	{"netplan", nil, []string{"network:\n", "  ethernets:\n", "  renderer: "}},
	{"BIRD", []string{"\nprotocol bgp ", "\nprotocol device"}, nil},
	{"a document in HTML", []string{"<!DOCTYPE", "<!doctype", "<html", "</html>"}, []string{"<p>", "<div"}},
	{"a Railyard scenario", nil, []string{"fabric:\n", "workload:\n", "host_link:"}},
}

// mark is the weight of a language's mark, in phrases.
const mark = 3

// stranger returns the unsupported language that a text resembles most, "" for none. most is the number of phrases of
// the best supported one.
func stranger(text swconf.Text, most int) string {
	name := ""
	for _, f := range foreign {
		n := mark*text.Score(f.marks...) + text.Score(f.phrases...)
		if n > most {
			name, most = f.name, n
		}
	}
	return name
}

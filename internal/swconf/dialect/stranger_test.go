package dialect_test

import (
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/dialect"
)

// cumulusFile is the message for switchd's files.
const cumulusFile = "a file of Cumulus Linux's switchd, as traffic.conf and qos_features.conf are " +
	"(what nv config show prints is read)"

// TestStrangers: a text of an unsupported operating system is reported by its probable name, although much of it is
// valid in supported languages.
func TestStrangers(t *testing.T) {
	for name, text := range map[string]string{
		"Cisco IOS-XR": "!! IOS XR 7.5.2\nhostname r\npolicy-map OUT\n class ROCE\n  bandwidth " +
			"percent 50\n end-policy-map\nrouter bgp 1\n neighbor 10.0.0.2\n  remote-as 2\n",
		"Cisco IOS or IOS XE": "Current configuration : 5000 bytes\n!\ninterface " +
			"TenGigabitEthernet1/0/1\n switchport\nrouter bgp 1\n redistribute connected\n" +
			"line vty 0 4\n login\n",
		"Huawei or H3C VRP": "#\n sysname a\n#\ninterface HundredGigE1/0/1\n " +
			"priority-flow-control enable\n " +
			"priority-flow-control no-drop dot1p 3\n#\nbgp 65001\n peer 10.0.0.2 as-number 2\n",
		"Dell OS10": "hostname OS10\nclass-map type network-qos p\n match qos-group 3\npolicy-map type " +
			"network-qos q\n class p\n  pause\ntrust dot1p-map m\ninterface ethernet1/1/1\n " +
			"priority-flow-control mode on\n service-policy input type network-qos q\n",
		cumulusFile: "# packet header field\n" +
			"traffic.packet_priority_source_set = [802.1p,dscp]\ntraffic.cos_3.priority_source.dscp = [26]\n",
		"Nokia SR Linux": "interface ethernet-1/1 {\n}\nnetwork-instance default {\n    protocols {\n" +
			"    }\n}\n",
		"Nokia SR OS":         "# TiMOS-B-20.10.R1\nexit all\nconfigure\n",
		"Extreme ExtremeXOS":  "#\n# Module vlan configuration.\n#\ncreate vlan \"v10\"\n",
		"HPE Aruba AOS-CX":    "!Version ArubaOS-CX GL.10.10\nqos schedule-profile S\n",
		"MikroTik RouterOS":   "# jan/02/2024 by RouterOS 7.12\n/interface bridge\nadd name=b\n",
		"Fortinet FortiOS":    "config system global\n    set hostname \"f\"\nend\n",
		"pfSense or OPNsense": "<?xml version=\"1.0\"?>\n<pfsense>\n</pfsense>\n",
		"Palo Alto PAN-OS":    `<?xml version="1.0"?><config urldb="paloaltonetworks"></config>`,
		"ONIE or a boot log":  "onie_version=2021.08\nonie_machine=x\n",
		"ifupdown2's /etc/network/interfaces": "auto swp1\niface swp1\n    mtu 9216\n    address " +
			"10.0.0.1/31\n",
		"netplan": "network:\n  version: 2\n  ethernets:\n    ens1f0:\n      mtu: 9000\n",
		"VyOS": "interfaces {\n    ethernet eth0 {\n        hw-id 00:11:22:33:44:55\n" +
			"    }\n}\nsystem {\n}\n",
		"BIRD": "router id 10.0.0.1;\nprotocol bgp up {\n  local as 65001;\n}\n",
	} {
		_, err := dialect.Parse("x", []byte(text), "")
		if err == nil || !strings.Contains(err.Error(), "looks like "+name+"; accepted: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestExcerptsOfEOS: an excerpt with EOS's unique port names is EOS's, although other languages share its words.
func TestExcerptsOfEOS(t *testing.T) {
	for _, text := range []string{
		"interface Management1\n   vrf MGMT\nclass-map type qos match-any A\n   match vlan 200\n",
		"interface Port-Channel3\n   switchport\n   shape rate 200000 kbps\n",
	} {
		c, err := dialect.Parse("x", []byte(text), "")
		if err != nil || c.OS != swconf.EOS {
			t.Errorf("%q: %v, %v", text, c, err)
		}
	}
}

package sonic_test

import (
	"slices"
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/sonic"
)

// Ports of one switch differ on purpose. Uplinks of a dual ToR have packets that returned from the other one (DSCP
// 2 and 6) in separate lossless queues, and service ports do no PFC. That is only a warning, and RoCE's DSCP is the
// one that is lossless at most ports. A queue that RoCE has at some ports only is an error.
func TestPortsOfOtherKinds(t *testing.T) {
	for _, x := range []struct{ uplink3, want string }{
		{"3", "warning dscp-differs, warning pfc-all-classes, warning pfc-class, warning watchdog-missing"},
		{"1", "error dscp-differs, error pfc-class, warning dscp-differs, " +
			"warning pfc-all-classes, warning pfc-class, warning watchdog-missing"},
	} {
		c, err := sonic.Parse("x", []byte(`{"DSCP_TO_TC_MAP": {
			"AZURE": {"2": "1", "3": "3", "4": "4", "6": "1", "48": "7"},
			"AZURE_UPLINK": {"2": "2", "3": "`+x.uplink3+`", "4": "4", "6": "6", "48": "7"}},
		"TC_TO_QUEUE_MAP": {"AZURE": {"1": "1", "2": "1", "3": "3", "4": "4", "6": "1", "7": "7"},
			"AZURE_UPLINK": {"1": "1", "2": "2", "3": "3", "4": "4", "6": "6", "7": "7"}},
		"WRED_PROFILE": {"w": {"ecn": "ecn_all", "green_min_threshold": "100000",
			"green_max_threshold": "200000"}},
		"QUEUE": {"Ethernet0,Ethernet4,Ethernet8,Ethernet12|2-4": {"wred_profile": "w"},
			"Ethernet8|6": {"wred_profile": "w"}},
		"PORT_QOS_MAP": {
			"Ethernet0,Ethernet4": {"dscp_to_tc_map": "AZURE", "tc_to_queue_map": "AZURE",
				"pfc_enable": "3,4"},
			"Ethernet8": {"dscp_to_tc_map": "AZURE_UPLINK", "tc_to_queue_map": "AZURE_UPLINK",
				"pfc_enable": "2,3,4,6"},
			"Ethernet12": {"dscp_to_tc_map": "AZURE", "tc_to_queue_map": "AZURE"}}}`))
		if err != nil || len(c.Faults)+len(c.Unknown) > 0 {
			t.Fatal(err, c.Faults, c.Unknown)
		}
		data, cnp := swconf.UsualDSCPs([]*swconf.Config{c})
		in := swconf.Input{Configs: []*swconf.Config{c}, DataDSCP: 3, CNPDSCP: cnp, PathMTU: 4096}
		if x.uplink3 == "3" && data != 3 {
			t.Errorf("data are DSCP %d", data)
		}
		var got []string
		for _, f := range swconf.Lint(in) {
			if s := string(f.Severity) + " " + f.Rule; f.Severity != swconf.Info && !slices.Contains(got, s) {
				got = append(got, s)
			}
		}
		slices.Sort(got)
		if s := strings.Join(got, ", "); s != x.want {
			t.Errorf("uplinks have DSCP 3 in class %s: %s", x.uplink3, s)
		}
	}
}

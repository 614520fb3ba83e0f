package dialect_test

import (
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/dialect"
)

// TestPortUnlikeOthers checks findings about one port of a switch whose other port is configured completely: queues
// without a classification, and a PFC priority to which no DSCP goes.
func TestPortUnlikeOthers(t *testing.T) {
	const junos = `set system host-name leaf
set class-of-service classifiers dscp D forwarding-class ROCE loss-priority low code-points 011010
set class-of-service forwarding-classes class ROCE queue-num 3 no-loss pfc-priority 3
set class-of-service schedulers S transmit-rate percent 100
set class-of-service scheduler-maps SM forwarding-class ROCE scheduler S
set class-of-service interfaces et-0/0/0 classifiers dscp D
set class-of-service interfaces et-0/0/0 scheduler-map SM
set class-of-service interfaces et-0/0/1 scheduler-map SM
`
	const sonic = `{"DEVICE_METADATA": {"localhost": {"hostname": "leaf"}},
"PORT": {"Ethernet0": {"lanes": "0", "admin_status": "up"}, "Ethernet8": {"lanes": "8", "admin_status": "up"}},
"DSCP_TO_TC_MAP": {"A": {"26": "3"}}, "TC_TO_QUEUE_MAP": {"A": {"3": "3"}}, "TC_TO_PRIORITY_GROUP_MAP": {"A": {"3": "3"}},
"PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "A", "tc_to_queue_map": "A", "tc_to_pg_map": "A", "pfc_enable": "3"},
"Ethernet8": {"dscp_to_tc_map": "A", "tc_to_queue_map": "A", "tc_to_pg_map": "A", "pfc_enable": "3,4"}}}`
	for _, x := range []struct {
		os                      swconf.OS
		text, rule, want, never string
	}{
		{swconf.Junos, junos, "no-classification", "et-0/0/1 applies no classification", "et-0/0/0 applies"},
		{swconf.SONiC, sonic, "pfc-class", "PFC pauses priority 4 here, and no DSCP goes to its queue 4", "queue 4 has PFC"},
	} {
		c, err := dialect.Parse("leaf", []byte(x.text), x.os)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, f := range swconf.Lint(swconf.Input{Configs: []*swconf.Config{c}, DataDSCP: 26, CNPDSCP: 48}) {
			all = append(all, f.Rule+": "+f.Message)
		}
		got := strings.Join(all, "\n")
		if !strings.Contains(got, x.rule+": "+x.want) || strings.Contains(got, x.never) && x.os == swconf.SONiC {
			t.Errorf("%s: want %s: %s\n%s", x.os, x.rule, x.want, got)
		}
	}
}

package dialect_test

import (
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/dialect"
)

const losslessSONiC = `{
"DEVICE_METADATA": {"localhost": {"hostname": "leaf2", "hwsku": "ACS-SN5600"}},
"PORT": {"Ethernet0": {"lanes": "0,1,2,3,4,5,6,7", "speed": "800000", "mtu": "9216", "admin_status": "up"}},
"DSCP_TO_TC_MAP": {"M": {"26": "3", "48": "6", "0": "0"}},
"TC_TO_QUEUE_MAP": {"M": {"0": "0", "3": "3", "6": "6"}},
"TC_TO_PRIORITY_GROUP_MAP": {"M": {"0": "0", "3": "3g", "6": "0"}},
"MAP_PFC_PRIORITY_TO_QUEUE": {"M": {"3": "3q"}},
"PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "M", "tc_to_queue_map": "M", "tc_to_pg_map": "M",
  "pfc_to_queue_map": "M", "pfc_enable": "3", "pfcwd_sw_enable": "3"}},
"WRED_PROFILE": {"W": {"ecn": "ecn_all", "green_max_threshold": "300000", "green_min_threshold": "100000",
  "green_drop_probability": "5", "wred_green_enable": "true"}},
"SCHEDULER": {"s0": {"type": "DWRR", "weight": "50"}, "s1": {"type": "DWRR", "weight": "50"}, "s2": {"type": "STRICT"}},
"QUEUE": {"Ethernet0|0": {"scheduler": "s0"}, "Ethernet0|3": {"scheduler": "s1", "wred_profile": "W"},
  "Ethernet0|6": {"scheduler": "s2"}},
"BUFFER_POOL": {"in": {"type": "ingress", "mode": "dynamic", "size": "100000000"}},
"BUFFER_PROFILE": {"lossy": {"pool": "in", "size": "0", "dynamic_th": "3"},
  "lossless": {"pool": "in", "size": "1000000", "xon": "19456", "xoff": "900000", "dynamic_th": "0"}},
"BUFFER_PG": {"Ethernet0|0": {"profile": "lossy"}, "Ethernet0|3": {"profile": "lossless"}},
"PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "200"},
  "Ethernet0": {"action": "drop", "detection_time": "200", "restoration_time": "300"}}
}`

const losslessJunos = `set system host-name leaf4
set interfaces et-0/0/0 mtu 9216
set interfaces et-0/0/0 unit 0 family inet address 10.1.4.0/31
set class-of-service classifiers dscp R forwarding-class DATA loss-priority low code-points 011010
set class-of-service classifiers dscp R forwarding-class CNP loss-priority low code-points 110000
set class-of-service forwarding-classes class DATA queue-num 3 no-loss
set class-of-service forwarding-classes class DATA pfc-priority 3
set class-of-service forwarding-classes class CNP queue-num 7
set class-of-service congestion-notification-profile P input dscp code-point 011010 pfc
set class-of-service congestion-notification-profile P pfc-watchdog
set class-of-service congestion-notification-profile P output ieee-802.1 code-point 011 flow-control-queue 3
set class-of-service drop-profiles DP interpolate fill-level [ 10 50 ]
set class-of-service drop-profiles DP interpolate drop-probability [ 0 20 ]
set class-of-service schedulers S3 drop-profile-map loss-priority any protocol any drop-profile DP
set class-of-service schedulers S3 explicit-congestion-notification
set class-of-service schedulers S3 transmit-rate percent 100
set class-of-service schedulers S7 priority strict-high
set class-of-service scheduler-maps SM forwarding-class DATA scheduler S3
set class-of-service scheduler-maps SM forwarding-class CNP scheduler S7
set class-of-service interfaces et-0/0/0 scheduler-map SM
set class-of-service interfaces et-0/0/0 congestion-notification-profile P
set class-of-service interfaces et-0/0/0 unit 0 classifiers dscp R
set protocols lldp interface all
`

// Priority groups, queues of pauses and polling that leave a lossless class without pauses are found with their remedy,
// and the same configuration with the right ones has no finding. SONiC's "3": "0" in TC_TO_PRIORITY_GROUP_MAP passed.
func TestPausesReachTheirClass(t *testing.T) {
	sonic := strings.NewReplacer("3g", "3", "3q", "3").Replace(losslessSONiC)
	changed := func(group, queue string) string {
		return strings.NewReplacer("3g", group, "3q", queue).Replace(losslessSONiC)
	}
	for name, c := range map[string]struct{ text, message, fix string }{
		"sonic": {sonic, "", ""}, "junos": {losslessJunos, "", ""},
		"group of others": {changed("0", "3"), "traffic class 3 is in priority group 0, and PFC priority 3 has group 3",
			`"3": "3" in TC_TO_PRIORITY_GROUP_MAP`},
		"mapped group": {strings.Replace(changed("2", "3"), `"MAP_PFC`,
			`"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {"M": {"3": "2"}}, "MAP_PFC`, 1),
			"traffic class 3 is in priority group 2, and PFC priority 3 has group 3",
			`"3": "3" in TC_TO_PRIORITY_GROUP_MAP`},
		"applied map": {strings.NewReplacer(`"MAP_PFC`, `"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {"M": {"3": "2"}}, "MAP_PFC`,
			`"tc_to_pg_map"`, `"pfc_to_pg_map": "M", "tc_to_pg_map"`, `Ethernet0|3": {"profile`, `Ethernet0|2": {"profile`,
		).Replace(changed("2", "3")), "", ""},
		"lossy profile": {strings.Replace(sonic, `"profile": "lossless"`, `"profile": "lossy"`, 1),
			"priority group 3 of PFC priority 3 has the lossy profile lossy", "a profile with xoff"},
		"other queue": {changed("3", "4"), "RoCE data (DSCP 26) goes to queue 3, which no PFC priority pauses",
			`"3": "3" in MAP_PFC_PRIORITY_TO_QUEUE`},
		"slow polling": {strings.Replace(sonic, `L": "200"`, `L": "400"`, 1),
			"polling every 400ms is longer than Ethernet0's detection_time, 200ms", "at most 200"},
		"slow polling of restoration": {strings.NewReplacer(`L": "200"`, `L": "400"`,
			`n_time": "200"`, `n_time": "400"`).Replace(sonic), "polling every 400ms is longer than Ethernet0's restoration_time, 300ms", "at most 300"},
		"junos, other queue": {strings.Replace(losslessJunos, "queue 3\n", "queue 4\n", 1),
			"queue 3 is lossless by PFC priority 3, and a received pause of that priority stops queue 4",
			"code-point 011 flow-control-queue 3"},
	} {
		file := map[bool]string{true: "config_db.json", false: "leaf4.conf"}[c.text[0] == '{']
		cfg, err := dialect.Parse(file, []byte(c.text), "")
		if err != nil {
			t.Fatal(name, err)
		}
		found := swconf.Lint(swconf.Input{Configs: []*swconf.Config{cfg}, DataDSCP: 26, CNPDSCP: 48,
			PathMTU: 4096, Base: queue.Default()})
		hit := c.message == "" && len(found) == 0
		for _, f := range found {
			hit = hit || f.Message == c.message && strings.Contains(f.Fix, c.fix) && f.Line > 0
		}
		if q, silent := &cfg.Ports[0].QoS.Queues[3], strings.Contains(name, "group") || name == "lossy profile"; q.Silent != silent ||
			cfg.Ports[0].QoS.Lossless(3, cfg.Ports[0]) == (silent || name == "other queue") {
			t.Errorf("%s: sends no pauses: %v, want %v; %+v", name, q.Silent, silent, q.Pause)
		}
		if !hit {
			t.Errorf("%s: found %+v, want %q, remedy %q", name, found, c.message, c.fix)
		}
	}
}

package sonic_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/internal/published"
	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/sonic"
	"railyard/internal/swconf/tell"
	"railyard/unit"
)

// The maps and weights of SONiC's images (sonic-buildimage, qos_config.j2): DSCP 3 and 4 are lossless, and queues 3
// and 4 have weight 15, the others 14.
const stock = `  6: DSCP 48, 14 %%, ECN no, PFC no
  5: DSCP 46, 14 %%, ECN no, PFC no
  4: DSCP 4, 15 %%, ECN marks %[1]s 5%%, PFC priority 4%[2]s
  3: DSCP 3, 15 %%, ECN marks %[1]s 5%%, PFC priority 3%[2]s
  2: DSCP 5, 14 %%, ECN no, PFC no
  1: DSCP 0-2,6-7,9-45,47,49-63, 14 %%, ECN no, PFC no
  0: DSCP 8, 14 %%, ECN no, PFC no`

// Ports without a map: everything is in one queue.
const bare = "\n  0: DSCP 0-63, not set, ECN no, PFC no"

const lookedUp = ", thresholds by the device's pg_profile_lookup.ini"

// public is the meaning of public texts, by reading them and buffermgrd's, qosorch's and teammgrd's sources.
var public = map[string]struct {
	table string // "": QoS is not in the text; queues are as bare
	// rows parsed and ignored, and unknown tables or fields
	read, passed, unknown int
	ports, channels, subs int
	as, neighbors         int
	buffer                int64
	warned                string // rules that warn
}{
	"arista7050-full.json": {read: 271, ports: 28, warned: "watchdog-missing",
		table: "28 ports, MTU 9100, PFC on\n" + fmt.Sprintf(stock, "1MiB..2MiB", "")},
	"arista7260-t0-full.json": {read: 317, ports: 22, buffer: 42349632, warned: "watchdog-missing",
		table: "22 ports, MTU 9100, PFC on\n" + fmt.Sprintf(stock, "2MB..10MB", lookedUp)},
	// of a chassis: 18 ports belong to the line card, and 42 to others, to which no map assigns queues
	"arista7800r3a-d36-full.json": {read: 875, ports: 60, buffer: 6441610000 + 1582033305,
		warned: "watchdog-missing", table: "18 ports, MTU 9100, PFC on\n" +
			fmt.Sprintf(stock, "2MB..10MB", lookedUp) + "\n42 ports, MTU 9100, PFC off" + bare},
	// the dynamic model sizes groups 3 and 4; which packets reach them is not in the text
	"mellanox2410-dynamic-full.json": {read: 470, passed: 2, ports: 56,
		table: "56 ports, MTU 9100, PFC off" + bare},
	"su-acs-msn3800-t0-version_3_0_3.json": {read: 390, passed: 4, ports: 96},
	"su-acs-msn4700-t1-version_1_0_6.json": {read: 422, passed: 2, ports: 98, buffer: 3 * 20272464,
		warned: "headroom policy-unused"},
	"su-counterpoll_input_config_db.json": {read: 507, passed: 135, ports: 32, channels: 4, as: 65100,
		neighbors: 8, buffer: 12766208, warned: "threshold-order watchdog-missing",
		table: "28 ports, MTU 9100, PFC on\n" +
			fmt.Sprintf(stock, "1MiB..2MiB", ", alpha 0.125 xon 18KiB offset 2.496KB") +
			"\n4 ports, MTU 9100, PFC off" + bare},
	// fine-grained ECMP (three tables) and a scheduler of a whole port are not considered
	"su-mock_tables_config_db.json": {read: 434, passed: 239, unknown: 4, ports: 32, channels: 5, subs: 3,
		buffer: 139458240, warned: "policy-unused"},
	"su-non-default-xoff-expected.json": {read: 386, passed: 2, ports: 96, buffer: 34287552},
	"su-qos_tables_db_field_value_reference_format_3_0_3.json": {read: 953, passed: 6, ports: 66,
		buffer: 35621248 + 7847424, warned: "watchdog-missing",
		table: "64 ports, MTU 9100, PFC on\n" +
			fmt.Sprintf(stock, "1MiB..2MiB", ", alpha 0.125 xon 2.288KB offset 2.288KB") +
			"\n2 ports, MTU 9100, PFC on\n" +
			fmt.Sprintf(stock, "1MiB..2MiB", ", alpha 0.125 xon 2.288KB offset 2.288KB")},
}

// Public texts are parsed as their switches read them, and none of them is called wrong, because all of these run.
func TestPublicTexts(t *testing.T) {
	for _, f := range published.Files(t, "configs", "sonic", "*.json") {
		want, known := public[filepath.Base(f)]
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		c, err := sonic.Parse(filepath.Base(f), text)
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		data, cnp := swconf.UsualDSCPs([]*swconf.Config{c})
		rules := map[string]bool{}
		for _, found := range swconf.Lint(swconf.Input{Configs: []*swconf.Config{c}, DataDSCP: data,
			CNPDSCP: cnp, PathMTU: 4096}) {
			if found.Severity == swconf.Error {
				t.Errorf("%s:%d: %s: %s", c.File, found.Line, found.Rule, found.Message)
			}
			rules[found.Rule] = rules[found.Rule] || found.Severity == swconf.Warning
		}
		if !known {
			continue // of a newer set: without expected errors and a table
		}
		if got := tell.Table(c); want.table != "" && got != want.table {
			t.Errorf("%s:\n%s\nwant\n%s", c.File, got, want.table)
		} else if want.table == "" && want.unknown == 0 && !strings.Contains(got, bare) {
			t.Errorf("%s:\n%s", c.File, got)
		}
		if c.Read != want.read || c.Passed != want.passed || len(c.Unknown) != want.unknown {
			t.Errorf("%s: %d read, %d passed over, unknown %v", c.File, c.Read, c.Passed, c.Unknown)
		}
		if len(c.Ports) != want.ports || len(c.Bundles) != want.channels || len(c.Subs) != want.subs ||
			int64(c.Buffer.V) != want.buffer {
			t.Errorf("%s: %d ports, %d channels, %d subinterfaces, %d bytes", c.File, len(c.Ports),
				len(c.Bundles), len(c.Subs), c.Buffer.V)
		}
		if b := c.BGP; (b != nil) != (want.as > 0) || b != nil && (int(b.ASN.V) != want.as ||
			len(b.Neighbors) != want.neighbors) {
			t.Errorf("%s: %+v", c.File, b)
		}
		for _, r := range strings.Fields(want.warned) {
			if !rules[r] {
				t.Errorf("%s: %s is not told", c.File, r)
			}
		}
	}
}

// The maps of images determine the data's DSCP, but not that of CNPs. Headroom that suffices only for the fastest
// response of IEEE's ports is a warning, unless a setting or a scenario gives the response time.
func TestStockMaps(t *testing.T) {
	read := func(map3, headroom string) *swconf.Config {
		c, err := sonic.Parse("x", []byte(`{"PORT": {"Ethernet0": {"speed": "100000", "admin_status": "up"}},
			"DSCP_TO_TC_MAP": {"AZURE": {"3": "3", "4": "4", "24": "`+map3+`", "26": "1", "48": "6"}},
			"TC_TO_QUEUE_MAP": {"AZURE": {"1": "1", "3": "3", "4": "4", "6": "6"}},
			"PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "AZURE", "tc_to_queue_map": "AZURE",
				"pfc_enable": "3,4"}},
			"CABLE_LENGTH": {"AZURE": {"Ethernet0": "40m"}},
			"SCHEDULER": {"s": {"type": "DWRR", "weight": "1"}},
			"WRED_PROFILE": {"w": {"ecn": "ecn_all", "green_min_threshold": "100000",
				"green_max_threshold": "200000"}},
			"QUEUE": {"Ethernet0|3-4": {"scheduler": "s", "wred_profile": "w"},
				"Ethernet0|6": {"scheduler": "s"}},
			"BUFFER_PROFILE": {"p": {"xoff": "`+headroom+`", "dynamic_th": "0"}},
			"BUFFER_PG": {"Ethernet0|3-4": {"profile": "p"}}}`))
		if err != nil || len(c.Faults)+len(c.Unknown) > 0 {
			t.Fatal(err, c.Faults, c.Unknown)
		}
		return c
	}
	for _, x := range []struct {
		map3, headroom string
		response       unit.Time
		scenario       bool
		data, cnp      int
		want           string
	}{
		{"1", "44032", 0, false, 3, swconf.Unsaid, "warning headroom, warning watchdog-missing"},
		{"1", "20000", 0, false, 3, swconf.Unsaid, "warning headroom, warning watchdog-missing"}, // RoCE's fit
		{"1", "16000", 0, false, 3, swconf.Unsaid, "error headroom, warning watchdog-missing"},
		{"1", "44032", 3 * unit.Microsecond, false, 3, swconf.Unsaid,
			"error headroom, warning watchdog-missing"},
		// a scenario's ports use the standard's time, and its simulation loses packets
		{"1", "44032", 0, true, 3, swconf.Unsaid, "error headroom, warning watchdog-missing"},
		{"3", "90000", 0, false, 24, 48, "error cnp-not-strict, warning watchdog-missing"},
	} {
		c := read(x.map3, x.headroom)
		data, cnp := swconf.UsualDSCPs([]*swconf.Config{c})
		if data != x.data || cnp != x.cnp {
			t.Errorf("DSCP 24 to %s: data are %d and CNPs %d", x.map3, data, cnp)
		}
		var got []string
		in := swconf.Input{Configs: []*swconf.Config{c}, DataDSCP: data, CNPDSCP: cnp, PathMTU: 4096,
			Response: x.response}
		if x.scenario {
			in.Specs = func(int) *queue.Spec { return &queue.Spec{} }
		}
		for _, f := range swconf.Lint(in) {
			got = append(got, string(f.Severity)+" "+f.Rule)
		}
		slices.Sort(got)
		if s := strings.Join(got, ", "); s != x.want {
			t.Errorf("DSCP 24 to %s, headroom %s, response %v: %s", x.map3, x.headroom, x.response, s)
		}
		if v := c.Views()[0].Rows; !strings.Contains(fmt.Sprint(v), "33.3 %") {
			t.Errorf("three queues of weight 1 have a third each: %v", v)
		}
	}
}

package onto

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
)

// TestTakenOrSaid: additional lines of a device, and the result of a merge for each: a step, a remark, or a
// rejection with the line.
func TestTakenOrSaid(t *testing.T) {
	const port = "interface Ethernet1/1\n"
	for _, c := range []struct {
		os                  swconf.OS
		behind, add, before string // after a line of the fabric's own text, or before all of it
		script, remark, err string
		line                int // line of the rejection, 0: the first
	}{
		{os: swconf.NXOS, behind: port, add: "  ip access-group NO_UDP in\n",
			remark: `"ip access-group NO_UDP in" stays at Ethernet1/1`},
		{os: swconf.NXOS, behind: port, add: "  channel-group 7 mode active\n", script: "no channel-group\n"},
		{os: swconf.NXOS, behind: port, add: "  no lldp transmit\n", script: "\n  lldp transmit\n"},
		{os: swconf.EOS, behind: "interface Ethernet1\n", add: "   qos trust cos\n",
			script: "\n   default qos trust\n"},
		{os: swconf.EOS, behind: "interface Ethernet1\n", add: "   no qos trust\n",
			script: "\n   default qos trust\n"},
		{os: swconf.EOS, behind: "interface Ethernet1\n", add: "   channel-group 3 mode active\n",
			script: "no channel-group\n"},
		{os: swconf.NXOS, before: "route-map CONNECTED permit 10\n  match tag 7\n", line: 2,
			err: "rename yours"},
		{os: swconf.NXOS, before: "route-map CONNECTED deny 5\n", err: "rename yours"},
		{os: swconf.NVUE, before: "nv set interface swp1-2 bridge domain br_default\n",
			script: "nv unset interface swp1 bridge domain br_default\n"},
		{os: swconf.NVUE, before: "nv set interface swp1 bridge domain br_default access 10\n",
			script: "nv unset interface swp1 bridge domain br_default\n"},
		{os: swconf.NVUE, before: "nv set qos roce mode lossless\n", script: "nv unset qos roce\n"},
		{os: swconf.NVUE, before: "nv set interface swp1 acl A inbound\n", remark: "swp1 acl A inbound"},
		{os: swconf.NVUE, before: "nv set interface bond7 bond member swp1,swp40\n",
			script: "nv unset interface bond7 bond member swp1\n"},
		{os: swconf.NVUE, before: "nv set router bgp autonomous-system 65001\n", err: "another AS number"},
		{os: swconf.NVUE, before: "nv set interface swp1s0 link state up\n", err: "whole or broken out"},
		{os: swconf.EOS, before: "interface Ethernet1/1\n   mtu 9214\n", err: "whole or broken out"},
		{os: swconf.NXOS, before: "interface Ethernet1/2/1\n  mtu 9216\n", err: "whole or broken out"},
	} {
		want := rendered(t, "rail", c.os, same, design.Numbered)["seg-1-rail-1"]
		running := c.before + want
		switch {
		case c.behind != "":
			running = strings.Replace(want, c.behind, c.behind+c.add, 1)
		case c.err != "": // the device's version
			running = c.before
		}
		m, err := Onto("running", []byte(running), want, c.os, Options{InBand: true})
		if c.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("running:%d: ", max(1, c.line))) ||
				!strings.Contains(err.Error(), c.err) {
				t.Errorf("%s %q: %v", c.os, c.add+c.before, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %q: %v", c.os, c.add+c.before, err)
			continue
		}
		if !strings.Contains(m.Script, c.script) ||
			!strings.Contains(strings.Join(m.Remarks, "\n"), c.remark) ||
			c.script == "" && len(m.Steps) > 0 || c.remark == "" && len(m.Remarks) > 0 {
			t.Errorf("%s %q: %s %q", c.os, c.add+c.before, m.Script, m.Remarks)
		}
	}
}

// TestPoolsOfOthers: buffer pools used by other ports do not change their mode.
func TestPoolsOfOthers(t *testing.T) {
	db := rendered(t, "rail", swconf.SONiC, same, design.Numbered)["spine-1"]
	stock := strings.Replace(db, `"mode": "static"`, `"mode": "dynamic"`, 1)
	stock = strings.Replace(stock, `"BUFFER_PROFILE": {`, `"BUFFER_PROFILE": {
		"theirs": {"pool": "@", "size": "0", "dynamic_th": "3"},`, 1)
	pool := "egress_lossless_pool"
	if !strings.Contains(stock, `"`+pool+`"`) {
		t.Fatal("the fabric has another pool")
	}
	stock = strings.Replace(stock, "@", pool, 1)
	used := strings.Replace(stock, `"BUFFER_PG": {`,
		`"BUFFER_PG": {"Ethernet200|3": {"profile": "theirs"},`, 1)
	_, err := Onto("running", []byte(used), db, swconf.SONiC, Options{InBand: true})
	if err == nil || !strings.Contains(err.Error(), "BUFFER_PROFILE theirs of Ethernet200") {
		t.Errorf("used: %v", err)
	}
	m, err := Onto("running", []byte(stock), db, swconf.SONiC, Options{InBand: true})
	if err != nil || !strings.Contains(m.Script, "/BUFFER_PROFILE/theirs") {
		t.Errorf("unused: %v", err)
	}
	number := asn.ReplaceAllString(db, `"bgp_asn": "65001`)
	if _, err = Onto("running", []byte(number), db, swconf.SONiC, Options{}); err == nil ||
		!strings.Contains(err.Error(), "bgp_asn 65001") {
		t.Errorf("AS number: %v", err)
	}
}

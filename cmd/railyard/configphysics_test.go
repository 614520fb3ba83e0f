package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The simulated switch follows its configuration, in the tree-like languages and Dell's: the same incast with a
// correct configuration, and with configurations that have one error each.
func TestSwitchTextsPhysics(t *testing.T) {
	t.Chdir(t.TempDir())
	const incast = `name: incast
fabric: {kind: rail, hosts: 9, spines: 1, host_link: {rate: 100Gbps}}
server: {gpus: 1, nics: 1}
switch: {buffer: 4MiB, queues: {3: {wred_min: 300KB, wred_max: 400KB, xoff: 900KB, xon: 100KB}}}
switches: {config: leaf.txt}
workload: {traffic: {incast: {bytes: 4MB, fan_in: 8}}}
`
	const nvue = `nv set qos mapping default-global trust l3
nv set qos mapping default-global dscp 24 switch-priority 3
nv set qos pfc default-global switch-priority 3
nv set qos pfc default-global xoff-threshold 900000
nv set qos pfc default-global xon-threshold 100000
nv set qos congestion-control default-global traffic-class 3 min-threshold 300000
nv set qos congestion-control default-global traffic-class 3 max-threshold 400000
nv set qos congestion-control default-global traffic-class 0 ecn disable
nv set qos advance-buffer-config default-global egress-lossy-buffer traffic-class 0 shared-bytes 300000
nv set interface swp1-12 link mtu 9216
`
	const dell = `qos map dscp-tc R
 dscp 24 traffic-class 3
qos wred-policy R
 green minimum-threshold 300 maximum-threshold 400 drop-probability 100
 ecn green
buffer profile P ingress_lossless_pool 0 static-threshold 900000 resume-threshold 100000
interface range Eth1/1-1/12
 mtu 9216
 qos-map dscp-tc R
 queue 3 wred-policy R
 buffer priority-group 3 P
 priority-flow-control priority 3
`
	const junos = `set class-of-service forwarding-classes class R queue-num 3 no-loss pfc-priority 3
set class-of-service classifiers dscp C forwarding-class R loss-priority low code-points 011000
set class-of-service congestion-notification-profile P input dscp code-point 011000 pfc
set class-of-service schedulers S explicit-congestion-notification
set class-of-service scheduler-maps M forwarding-class R scheduler S
set class-of-service interfaces et-* congestion-notification-profile P
set class-of-service interfaces et-* scheduler-map M
set class-of-service interfaces et-* unit 0 classifiers dscp C
set interfaces interface-range ALL member "et-0/0/[0-11]"
set interfaces interface-range ALL mtu 9216
`
	type outcome struct {
		Pause int64 `json:"pfc_pause_ps"`
		CNPs  int64 `json:"cnps"`
		Drops int64 `json:"drops"`
	}
	run := func(name, text string, change ...string) (o outcome) {
		for i := 0; i < len(change); i += 2 {
			if !strings.Contains(text, change[i]) {
				t.Fatalf("%s: the text has no %q", name, change[i])
			}
		}
		text = strings.NewReplacer(change...).Replace(text)
		for file, s := range map[string]string{"incast.yaml": incast, "leaf.txt": text} {
			if err := os.WriteFile(file, []byte(s), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if code, _, errs := call(t, "run", "incast.yaml", "--out", name); code != 0 {
			t.Fatalf("%s: %s", name, errs)
		}
		b, err := os.ReadFile(filepath.Join(name, "summary.json"))
		if err == nil {
			err = json.Unmarshal(b, &o)
		}
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	// each without ECN, with data in another class, with an early pause
	for _, l := range []struct {
		os, text             string
		deaf, elsewhere, low []string
	}{
		{"nvue", nvue, []string{"ecn disable\n",
			"ecn disable\nnv set qos congestion-control default-global " +
				"traffic-class 3 ecn disable\n"}, []string{"dscp 24 ", "dscp 25 ",
			"trust l3\n", "trust l3\nnv set qos mapping default-global dscp 24 switch-priority 0\n"},
			[]string{"xoff-threshold 900000", "xoff-threshold 200000"}},
		{"dell", dell, []string{" queue 3 wred-policy R\n", ""}, []string{"dscp 24", "dscp 25"},
			[]string{"static-threshold 900000", "static-threshold 200000"}},
		{"junos", junos, []string{"explicit-congestion-notification", "buffer-size percent 10"},
			[]string{"code-points 011000", "code-points 011001"}, nil},
	} {
		right := run(l.os, l.text)
		if right.Drops != 0 || right.CNPs == 0 {
			t.Errorf("%s: a text that is right: %+v", l.os, right)
		}
		if o := run(l.os+"-deaf", l.text, l.deaf...); o.CNPs != 0 || o.Pause <= right.Pause || o.Drops != 0 {
			t.Errorf("%s without ECN: %+v, right %+v", l.os, o, right)
		}
		if o := run(l.os+"-elsewhere", l.text, l.elsewhere...); o.Drops == 0 || o.Pause != 0 {
			t.Errorf("%s with data in another class: %+v", l.os, o)
		}
		if l.low == nil {
			continue
		}
		if o := run(l.os+"-low", l.text, l.low...); o.Pause <= right.Pause {
			t.Errorf("%s with xOFF at 200 KB: %+v, right %+v", l.os, o, right)
		}
	}
}

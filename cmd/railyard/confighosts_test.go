package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/configuration"

	"railyard/internal/swconf"
)

// Server configurations written by render have no finding with the switches' configurations, for every kind of NIC.
// Each server is checked against its own switches.
func TestRenderedServers(t *testing.T) {
	fabric := filepath.Join(scenarios(t), "lab-2x2.yaml")
	for _, kind := range []string{"mlx5", "bnxt", "ionic"} {
		dir := filepath.Join(t.TempDir(), kind)
		code, out, errs := call(t, "config", "render", fabric, "--os", "sonic", "--nic", kind, "--out", dir,
			"--hwsku", "ACS-SN5600")
		if code != 0 || !strings.Contains(out, "hosts/: a script per host") {
			t.Fatalf("%s: %d %s%s", kind, code, out, errs)
		}
		if noted := strings.Contains(errs, "units of "+kind); noted != (kind != "mlx5") {
			t.Errorf("%s: %s", kind, errs)
		}
		lint := func() (list []swconf.Finding) {
			_, out, errs := call(t, "config", "lint", dir, "--fabric", fabric, "--json")
			if err := json.Unmarshal([]byte(out), &list); err != nil {
				t.Fatalf("%v: %s", err, errs)
			}
			return list
		}
		for _, f := range lint() {
			if f.Severity != swconf.Info {
				t.Errorf("%s: %+v", kind, f)
			}
		}
		script := filepath.Join(dir, "hosts", "host-2.sh")
		b, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range [][2]string{{"-p 48", "-p 46"},
			{"--cnp-dscp 48", "--cnp-dscp 46"},
			{"echo 48 >", "echo 46 >"}} {
			b = []byte(strings.ReplaceAll(string(b), change[0], change[1]))
		}
		if err := os.WriteFile(script, b, 0o644); err != nil {
			t.Fatal(err)
		}
		found := lint()
		if len(found) == 0 || found[0].File != script || found[0].Rule != "host-cnp-class" ||
			!strings.Contains(found[0].Message, "seg-1-rail-1 Ethernet8 puts into queue 0") {
			t.Errorf("%s, CNPs with DSCP 46: %+v", kind, found)
		}
	}
	code, _, errs := call(t, "config", "render", fabric, "--os", "sonic", "--nic", "efa", "--out",
		t.TempDir(), "--hwsku", "ACS-SN5600")
	if code != 2 || !strings.Contains(errs, "--nic: found \"efa\"; accepted: mlx5, bnxt, ionic") {
		t.Errorf("%d %s", code, errs)
	}
}

// A folder is one server. Its settings are shown as JSON with positions, and files of another kind are rejected.
func TestShowServer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "node-7")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("qos.sh", "#!/bin/bash\nmlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0 --trust dscp\nmlnx_qos -i eth0 "+
		"--xyz 1\n")
	write("nccl.conf", "NCCL_IB_TC=104\n")
	code, out, _ := call(t, "config", "show", dir, "--json")
	var all []configuration.Shown
	if err := json.Unmarshal([]byte(out), &all); err != nil || code != 0 {
		t.Fatal(err, code)
	}
	h := all[0].Host
	if all[0].Name != "node-7" || h.NCCL[0] != (configuration.HostVariable{Name: "NCCL_IB_TC", Value: "104", Line: 1}) ||
		len(h.Unknown) != 1 ||
		h.NICs[0].NICs[0] != "eth0" || h.NICs[0].Lines[1] != "data: DSCP 26, priority 3 (NCCL_IB_TC)" {
		t.Errorf("%+v %+v", all[0], h)
	}
	write("photo.jpg", "\xff\xd8\x00")
	if code, _, errs := call(t, "config", "show", dir); code != 2 || !strings.Contains(errs, "photo.jpg") {
		t.Errorf("%d %s", code, errs)
	}
}

// A server's configuration determines its NIC's behaviour: the same incast with a correct configuration, and with
// configurations that have one error each.
func TestServersTextsPhysics(t *testing.T) {
	t.Chdir(t.TempDir())
	const good = `mlnx_qos -i eth0 --trust dscp
mlnx_qos -i eth0 --dscp2prio set,48,7
mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0
echo 96 > /sys/class/infiniband/mlx5_0/tc/1/traffic_class
echo 48 > /sys/class/net/eth0/ecn/roce_np/cnp_dscp
echo 1 > /sys/class/net/eth0/ecn/roce_np/enable/3
echo 1 > /sys/class/net/eth0/ecn/roce_rp/enable/3
`
	const incast = `name: incast
fabric: {kind: rail, hosts: 9, spines: 1, host_link: {rate: 100Gbps}}
server: {gpus: 1, nics: 1}
switch:
  buffer: 4MiB
  queues: {3: {wred_min: 300KB, wred_max: 400KB, xoff: 40KB, xon: 20KB}, 0: {limit: 300KB}}
hosts: {config: node.sh}
workload: {traffic: {incast: {bytes: 4MB, fan_in: 8}}}
`
	type outcome struct {
		Time  int64 `json:"step_time_ps"`
		Pause int64 `json:"pfc_pause_ps"`
		CNPs  int64 `json:"cnps"`
		Drops int64 `json:"drops"`
	}
	run := func(name, old, text string) (o outcome) {
		for file, text := range map[string]string{"incast.yaml": incast, "node.sh": strings.Replace(good,
			old, text, 1)} {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if code, _, errs := call(t, "run", "incast.yaml", "--out", name); code != 0 {
			t.Fatalf("%s: %s", name, errs)
		}
		b, err := os.ReadFile(filepath.Join(name, "summary.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &o); err != nil {
			t.Fatal(err)
		}
		return o
	}
	right := run("right", "", "")
	if right.Drops != 0 || right.CNPs == 0 {
		t.Errorf("a text that is right: %+v", right)
	}
	if o := run("dscp", "echo 96", "echo 104"); o.Drops == 0 || o.Pause != 0 {
		t.Errorf("data in the default class: %+v", o)
	}
	if o := run("pfc", "0,0,0,1,", "0,0,0,0,"); o.Drops == 0 {
		t.Errorf("NICs that obey no pause: %+v", o)
	}
	if o := run("rp", "echo 1 > /sys/class/net/eth0/ecn/roce_rp",
		"echo 0 > /sys/class/net/eth0/ecn/roce_rp"); o.CNPs != 0 ||
		o.Pause <= right.Pause || o.Drops != 0 {
		t.Errorf("CNPs that slow nothing down: %+v, right %+v", o, right)
	}
	timer := func(micros string) string {
		return "echo " + micros + " > /sys/class/net/eth0/ecn/roce_rp/rpg_time_reset\n"
	}
	if a, b := run("slow", "", timer("20000")), run("fast", "", timer("20")); a.Time <= b.Time ||
		a.CNPs >= b.CNPs {
		t.Errorf("rates that grow every 20 ms: %+v, every 20 us: %+v", a, b)
	}
}

package hostconf

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"railyard/internal/swconf"

	"pgregory.net/rapid"
)

// settings are lines that each set one thing. No two lines set the same thing.
var settings = []string{"mlnx_qos -i eth0 --trust dscp", "mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0",
	"mlnx_qos -i eth0 --dscp2prio set,30,5", "cma_roce_tos -d mlx5_0 -t 104",
	"echo 106 > /sys/class/infiniband/mlx5_0/tc/1/traffic_class",
	"echo 48 > /sys/class/net/eth0/ecn/roce_np/cnp_dscp",
	"echo 6 > /sys/class/net/eth0/ecn/roce_np/cnp_802p_prio",
	"echo 1 > /sys/class/net/eth0/ecn/roce_np/enable/3", "echo 0 > /sys/class/net/eth0/ecn/roce_rp/enable/3",
	"ethtool -A eth0 rx off tx off", "ethtool --set-fec eth0 encoding rs", "ethtool -s eth0 autoneg off",
	"ip link set eth0 mtu 9000", "export NCCL_IB_TC=106", "export NCCL_IB_GID_INDEX=3"}

// shown returns the settings that a script makes, without their places and counts of lines.
func shown(t *rapid.T, lines []string) string {
	h, err := Parse("host.sh", []byte("#!/bin/bash\nibdev2netdev\n"+strings.Join(lines, "\n")+"\n"))
	if err != nil {
		t.Fatal(err, lines)
	}
	if len(h.Faults) > 0 || len(h.Unknown) > 0 || h.Read+h.Passed > h.Total {
		t.Fatalf("%v %v, %d read and %d passed of %d lines: %q", h.Faults, h.Unknown, h.Read, h.Passed,
			h.Total, lines)
	}
	h.Read, h.Passed, h.Total, h.Notes = 0, 0, 0, nil
	return said(h)
}

// TestSettingsAnyOrder checks that settings of different things have the same result in any order, and also when
// repeated. Of two settings of one thing, the later one counts.
func TestSettingsAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.Permutation(settings[:13]).Draw(t, "settings")
		some = append(some[:rapid.IntRange(1, len(some)).Draw(t, "n")], settings[13:]...)
		for _, both := range []string{settings[0], settings[4]} { // so that both devices are known
			some = append([]string{both}, some...)
		}
		want := shown(t, some)
		mixed := append(append([]string{settings[0], settings[4]}, rapid.Permutation(some[:len(some)-2]).
			Draw(t, "mixed")...), settings[13:]...)
		if got := shown(t, append(mixed[:len(mixed):len(mixed)], some...)); got != want {
			t.Fatalf("in another order, twice:\n%s\ninstead of\n%s\n%q", got, want, mixed)
		}
		mtu, before := rapid.IntRange(256, 9600).Draw(t, "mtu"), rapid.IntRange(256, 9600).Draw(t, "before")
		h, err := Parse("host.sh", fmt.Appendf(nil, "mlnx_qos -i eth0 --trust dscp\n"+
			"ip link set eth0 mtu %d\nip link set dev eth0 mtu %d\n", before, mtu))
		if err != nil || len(h.NICs) != 1 || int(h.NICs[0].MTU.V) != mtu || h.NICs[0].MTU.At.Line != 3 {
			t.Fatalf("MTU %d behind %d: %v %+v", mtu, before, err, h.NICs)
		}
	})
}

// TestLongScripts checks that many repetitions of a line give a bounded number of findings, unknown lines and
// notes.
func TestLongScripts(t *testing.T) {
	for _, line := range []string{"mlnx_qos -i eth0 --pfc 9\n", "ethtool --set-fec eth0 encoding x\n",
		"mlnx_qos -i eth0 --nothing\n", "echo 999 > /sys/class/net/eth0/ecn/roce_np/cnp_dscp\n"} {
		h, err := Parse("host.sh", []byte(strings.Repeat(line, 4_500)))
		if err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		if len(h.Faults) > maxTold || len(h.Unknown) > maxTold || len(h.Notes) > maxTold || len(h.NICs) > 1 {
			t.Errorf("%q: %d faults, %d unknown, %d notes, %d NICs", line, len(h.Faults), len(h.Unknown),
				len(h.Notes), len(h.NICs))
		}
	}
}

// TestFillAll checks that no setting is lost when two names turn out to be one NIC.
func TestFillAll(t *testing.T) {
	from, to := &swconf.HostNIC{}, &swconf.HostNIC{}
	var said func(v reflect.Value, do func(place reflect.Value))
	said = func(v reflect.Value, do func(place reflect.Value)) {
		switch {
		case v.Kind() == reflect.Array:
			for i := range v.Len() {
				said(v.Index(i), do)
			}
		case v.Kind() == reflect.Struct && v.FieldByName("At").IsValid() && v.FieldByName("V").IsValid():
			do(v.FieldByName("At"))
		}
	}
	n := reflect.ValueOf(from).Elem()
	for i := range n.NumField() {
		said(n.Field(i), func(at reflect.Value) { at.Set(reflect.ValueOf(swconf.Place{File: "a", Line: 7})) })
	}
	fill(to, from)
	n = reflect.ValueOf(to).Elem()
	for i := range n.NumField() {
		said(n.Field(i), func(at reflect.Value) {
			if at.Interface().(swconf.Place).Line != 7 {
				t.Errorf("%s is left behind", n.Type().Field(i).Name)
			}
		})
	}
}

package scenario

import (
	"fmt"
	"strings"
	"testing"

	"railyard/cc"
	"railyard/internal/swconf"
	"railyard/roce"
)

const ring = "fabric: {kind: torus, k: 4, uplinks: 1, segments: 1, hosts: 1}\n" +
	"server: {gpus: 1, nics: 1}\nworkload: {traffic: {permutation: {bytes: 1MB}}}\n"

// Telemetry that switches cannot write is rejected at the key at fault, and only for algorithms that need it. Each
// of these fabrics runs DCQCN, and HPCC with tags.
func TestTelemetryThatDoesNotFit(t *testing.T) {
	halved := twoRacks + "events: [{link: rail-1:Eth3, at: 10us, rate: %s}]\n"
	for _, c := range []struct{ name, text, sets, want string }{
		{"rates without a code", twoRacks, "fabric.fabric_link.rate=150Gbps",
			"--set cc.algorithm=hpcc: hpcc: telemetry names a port's rate as one of 10Gbps, 25Gbps, " +
				"50Gbps, 100Gbps, 200Gbps, 400Gbps, 800Gbps or 1.6Tbps, and spine-1:Eth1 has 150Gbps"},
		{"a rate from a moment on", fmt.Sprintf(halved, "150Gbps"), "", " from 10us on has 150Gbps"},
		{"sprayed", twoRacks, "lb=spray",
			"--set lb=spray: hpcc compares the telemetry of a port in two consecutive packets, and " +
				"spray sends them by different ports; accepted: policies that keep a flow's packets on " +
				"one path, such as ecmp"},
		{"sprayed by the NIC", twoRacks, "lb=entropy transport.recovery=selective",
			"lb=entropy: hpcc compares"},
		{"too far", ring, "",
			"--set cc.algorithm=hpcc: hpcc: telemetry holds 5 switches, and packets from host-1 to "},
	} {
		sets := strings.Fields(c.sets)
		if _, err := resolved(t, c.text, sets...); err != nil {
			t.Errorf("%s: without telemetry: %v", c.name, err)
		}
		sets = append(sets, "cc.algorithm=hpcc")
		if _, err := resolved(t, c.text, sets...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", c.name, err, c.want)
		}
		if _, err := resolved(t, c.text, append(sets, "cc.hpcc.csig=8")...); err != nil {
			t.Errorf("%s: with tags: %v", c.name, err)
		}
	}
	for _, rate := range []string{"10Gbps", "50Gbps", "200Gbps"} { // an odd rate, but with a code
		if _, err := resolved(t, fmt.Sprintf(halved, rate), "cc.algorithm=hpcc"); err != nil {
			t.Errorf("an event of %s: %v", rate, err)
		}
	}
}

// The switches' mtu holds the payload, all headers and the telemetry, to the byte. The written length is that of
// the kind.
func TestTelemetryFitsTheMTU(t *testing.T) {
	for _, c := range []struct {
		sets string
		kind roce.Telemetry
	}{{"cc.algorithm=dcqcn", roce.NoTelemetry}, {"cc.algorithm=hpcc", roce.TelemetryINT},
		{"cc.algorithm=hpcc cc.hpcc.csig=4", roce.TelemetryCSIG},
		{"cc.algorithm=hpcc cc.hpcc.csig=8", roce.TelemetryCSIGWide},
		{"cc.algorithm=hpcc cc.hpcc.ifa=true", roce.TelemetryIFA}} {
		sets := append(strings.Fields(c.sets), "transport.mtu=4096")
		size := c.kind.Len() + 3*c.kind.Grows() // over a leaf, a spine and a leaf
		need := 4096 + swconf.Headers + size
		if _, err := resolved(t, twoRacks, append(sets, fmt.Sprintf("switch.mtu=%dB", need))...); err != nil {
			t.Errorf("%s in %d bytes: %v", c.sets, need, err)
		}
		want := "transport.mtu"
		if c.kind != roce.NoTelemetry {
			want = fmt.Sprintf("transport.mtu=4096: 4096 bytes, up to %d of headers and %d of telemetry for "+
				"hpcc do not fit the switches' mtu of", int(swconf.Headers), size)
		}
		_, err := resolved(t, twoRacks, append(sets, fmt.Sprintf("switch.mtu=%dB", need-1))...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s in %d bytes: %v\nwant %s", c.sets, need-1, err, want)
		}
	}
}

// A path's length is its number of switches. A Clos of three tiers has the five that fit, and a torus matches its
// closed form.
func TestTelemetryByHops(t *testing.T) {
	cases := []struct {
		fabric string
		most   int
	}{{"{kind: rail, hosts: 2, spines: 2}", 1}, {"{kind: rail, hosts: 2, segments: 2, spines: 2}", 3},
		{"{kind: fat-tree, k: 4, tiers: 2}", 3}, {"{kind: fat-tree, k: 4, tiers: 3}", 5}}
	for k := 2; k < 7; k++ { // a ring of k in three dimensions: half of it in each
		cases = append(cases, struct {
			fabric string
			most   int
		}{fmt.Sprintf("{kind: torus, k: %d, uplinks: 1, segments: 1, hosts: 1}", k), 3*(k/2) + 1})
	}
	for _, c := range cases {
		text := "fabric: " + c.fabric + "\nserver: {gpus: 1, nics: 1}\n" +
			"workload: {traffic: {permutation: {bytes: 1MB}}}\n"
		p, err := resolved(t, text)
		if err != nil {
			t.Fatal(c.fabric, err)
		}
		if most, _ := (&resolver{Plan: p}).longest(); most != c.most {
			t.Errorf("%s: %d switches on the longest way, want %d", c.fabric, most, c.most)
		}
		if _, err = resolved(t, text, "cc.algorithm=hpcc"); (err != nil) != (c.most > cc.MostHops) {
			t.Errorf("%s, %d switches: %v", c.fabric, c.most, err)
		}
	}
	dragonfly := "fabric: {kind: dragonfly, k: 1}" + ring[strings.Index(ring, "\n"):]
	if _, err := resolved(t, dragonfly, "cc.algorithm=hpcc", "lb=ecmp"); err != nil {
		t.Error(err)
	}
	_, err := resolved(t, dragonfly, "cc.algorithm=hpcc", "lb=valiant") // through a third group
	if err == nil || !strings.Contains(err.Error(), "pass up to 6") {
		t.Error(err)
	}
}

// TestIFAThatDoesNotFit: in-band flow analyzer's metadata needs every switch, excludes tags, and grows on the path.
func TestIFAThatDoesNotFit(t *testing.T) {
	lacks := twoRacks + "deviations: [{node: spine-2, ifa: false}]\n"
	for _, c := range []struct{ text, sets, want string }{
		{twoRacks, "switch.ifa=unsupported", "--set cc.hpcc.ifa=true: rail-1 does not support the in-band flow analyzer " +
			"(switch.ifa, or ifa of deviations); accepted: false, for INT, or cc.hpcc.csig of 4 or 8 bytes"},
		{lacks, "", "--set cc.hpcc.ifa=true: spine-2 does not support the in-band flow analyzer"},
		{twoRacks, "cc.hpcc.csig=4", "--set cc.hpcc.csig=4: switches write its tags or the metadata of cc.hpcc.ifa, not both"},
		{twoRacks, "lb=spray", "--set lb=spray: hpcc compares the telemetry of a port"},
		{twoRacks, "fabric.fabric_link.rate=150Gbps", "hpcc: telemetry names a port's rate"},
	} {
		sets := append(strings.Fields(c.sets), "cc.algorithm=hpcc", "cc.hpcc.ifa=true")
		if _, err := resolved(t, c.text, sets...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v\nwant %s", sets, err, c.want)
		}
		if sets[0] != "lb=spray" && sets[0] != "fabric.fabric_link.rate=150Gbps" {
			if _, err := resolved(t, c.text, append(sets, "cc.hpcc.ifa=false")...); err != nil {
				t.Errorf("%v without IFA: %v", sets, err)
			}
		}
	}
	host := twoRacks + "deviations: [{node: host-1, ifa: false}]\n"
	if _, err := resolved(t, host); err == nil || !strings.Contains(err.Error(), "ifa: is of switches, and host-1 is a server") {
		t.Error(err)
	}
}

package scenario

import (
	"strings"
	"testing"
)

// TestTunnelThatDoesNotFit: a tunnel of EQDS carries RoCE and TCP without their own credit, over trimming queues.
func TestTunnelThatDoesNotFit(t *testing.T) {
	failing := twoRacks + "events: [{link: rail-1:Eth3, at: 10us, rate: 50Gbps}]\n"
	for _, c := range []struct{ text, sets, want string }{
		{twoRacks, "transport.tunnel=ndp", "--set transport.tunnel=ndp: unknown value \"ndp\"; accepted: none, eqds"},
		{twoRacks, "cc.algorithm=rccc", "--set transport.tunnel=eqds: eqds carries transports without credit, and cc.algorithm rccc takes credit itself"},
		{twoRacks, "cc.algorithm=eqds", "cc.algorithm eqds takes credit itself"},
		{twoRacks, "transport.kind=srd cc.algorithm=none", "transport.tunnel=eqds: SRD chooses paths and recovers packets itself; accepted: none, or a transport.kind of roce or tcp"},
		{twoRacks, "cc.algorithm=hpcc", "hpcc needs telemetry of switches, which write none into packets of a tunnel"},
		{twoRacks, "switch.mtu=4240B", "transport.tunnel=eqds: packets of 4160 bytes with up to 82 of headers of the tunnel do not fit the switches' mtu of 4.24KB"},
		{failing, "", "transport.tunnel=eqds: edges follow no failures yet, and the scenario has events; accepted: none, or no events and failures"},
		{twoRacks, "cc.algorithm=eqds cc.eqds.grant=-1", "cc.eqds.grant"},
	} {
		sets := append(strings.Fields(c.sets), "transport.tunnel=eqds")
		if strings.HasPrefix(c.sets, "transport.tunnel") {
			sets = sets[:1]
		}
		if _, err := resolved(t, c.text, sets...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v\nwant %s", sets, err, c.want)
		}
	}
}

// TestTunnelSets: the key makes the data queue trim and packets use all paths, unless the scenario sets either. The
// inner transport does not change: go-back-N stays, without the note on spraying.
func TestTunnelSets(t *testing.T) {
	p, err := resolved(t, twoRacks, "transport.tunnel=eqds")
	if err != nil {
		t.Fatal(err)
	}
	if q := p.Spec.Queues[3]; !q.Trim || q.Lossless || q.WRED.Max != 0 || p.LB.Name != "spray" || p.Mixes() ||
		p.Default().CC.Name != "dcqcn" || p.Tunnel == nil || p.Tunnel.RC.MTU != 4160 {
		t.Errorf("%+v, %s", q, p.LB.Name)
	}
	own, err := resolved(t, twoRacks, "transport.tunnel=eqds", "lb=ecmp", "switch.queues.3.limit=1MB")
	if err != nil || own.LB.Name != "ecmp" || own.Spec.Queues[3].Limit != 1_000_000 {
		t.Errorf("%v: the key replaces what --set gives", err)
	}
	for _, sets := range [][]string{nil, {"transport.tunnel=none"}} {
		if p, err := resolved(t, twoRacks, sets...); err != nil || p.Tunnel != nil || p.LB.Name != "ecmp" {
			t.Errorf("%v: %v", sets, err)
		}
	}
}

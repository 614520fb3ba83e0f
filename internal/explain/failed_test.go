package explain_test

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"railyard/internal/cause"
)

// TestFailedPortOfABundle checks that the lost capacity of a NIC's bundle is named and costs what a run without the
// failure saves, however queue pairs share the ports. 64 MiB take 1.35 ms over 2 x 200 Gbit/s, and twice that over
// one port.
func TestFailedPortOfABundle(t *testing.T) {
	const text = `
fabric: {kind: dual-rail, hosts: %d, host_link: {rate: 200Gbps, cable: 3m}}
server: {gpus: 1, nics: 1, nic_ports: 2, bond: %s}
cc: {algorithm: none}
transport: {qps: %d, recovery: selective, write: only}
workload: {traffic: %s}
`
	const flow = "{flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 64MiB}]}"
	for _, c := range []struct {
		hosts   int
		bond    string
		qps     int
		traffic string
		event   string
	}{
		{2, "spray", 1, flow, "link: 'rail-1:Eth1', at: 0us, up: false"},
		{2, "spray", 1, flow, "switch: rail-1, at: 0us, up: false"},
		{2, "affinity", 2, flow, "link: 'rail-1:Eth1', at: 0us, up: false"},
		{2, "affinity", 2, flow, "switch: rail-1, at: 0us, up: false"},
		{4, "affinity", 2, "{ring-allreduce: {bytes: 16MiB}}", "switch: rail-1, at: 20us, up: false"},
	} {
		t.Run(fmt.Sprint(c.bond, c.event), func(t *testing.T) {
			whole := fmt.Sprintf(text, c.hosts, c.bond, c.qps, c.traffic)
			_, broken, _ := runAll(t, whole+"events: [{"+c.event+"}]\n")
			_, healthy, _ := runAll(t, whole)
			saved, costs := broken.StepTime-healthy.StepTime, broken.Chain.Costs(cause.FailedCapacity)
			alone := broken.Chain.Saving[cause.FailedCapacity]
			if 4*saved < broken.StepTime || 20*abs(costs-saved) > saved || costs < alone*9/10 {
				t.Errorf("failed capacity is said to cost %d ps and to save %d of %d; a run without the failure "+
					"saves %d", costs, alone, broken.StepTime, saved)
			}
			for _, id := range broken.Chain.Ranked(0) { // what the healthy run does not lose is lost to the failure
				if d := broken.Chain.Costs(id) - healthy.Chain.Costs(id); id != cause.FailedCapacity && 50*d > saved {
					t.Errorf("%s costs %d ps more than without the failure", id.Get().Name, d)
				}
			}
			if top := broken.Chain.Ranked(0)[0]; top != cause.FailedCapacity {
				t.Errorf("the first cause is %s", top.Get().Name)
			}
			if r := broken.Remedies; len(r) == 0 || r[0].Cause != cause.FailedCapacity.Get().Key ||
				r[0].Expected != broken.Chain.Saving[cause.FailedCapacity] {
				t.Errorf("remedies: %+v", r)
			}
		})
	}
}

func abs(x int64) int64 { return max(x, -x) }

// TestUnmetFailure checks that a failure which changes no connection's path and loses no packet is no cause: the
// account is that of the run without it, whenever routes avoid the link, and whether it comes back.
func TestUnmetFailure(t *testing.T) {
	text := savings(t, "unmet-failure.yaml")
	_, healthy, _ := runAll(t, text[:strings.Index(text, "events:")])
	for from, to := range map[string]string{"": "", "converge: 200us": "converge: 10ms", "up: false,": "up: false, " +
		"detect: 1us, converge: 2us}\n  - {link: 'seg-1-rail-1:Eth3', at: 200us, up: true,"} {
		_, broken, _ := runAll(t, strings.Replace(text, from, to, 1))
		if broken.StepTime != healthy.StepTime || !reflect.DeepEqual(broken.Chain, healthy.Chain) ||
			len(broken.LinkEvents) == 0 {
			t.Errorf("%s: %d ps with the failure, %+v; %d ps without it, %+v", to, broken.StepTime, broken.Chain,
				healthy.StepTime, healthy.Chain)
		}
	}
}

// TestEventsBehindTheEnd checks that a report lists the events that did not happen because the run ended before
// them.
func TestEventsBehindTheEnd(t *testing.T) {
	const text = `
fabric: {kind: rail, hosts: 2, segments: 2, spines: 2, uplinks: 0, host_link: {rate: 100Gbps}}
server: {gpus: 1, nics: 1}
workload: {traffic: {permutation: {bytes: 1MB}}}
events:
  - {switch: spine-2, at: 10us, up: false}
  - {switch: spine-2, at: 3s, up: true}
  - {nic: host-1/nic-1, at: 2s, storm: true}
`
	_, s, _ := runAll(t, text)
	if len(s.LinkEvents) != 1 || s.Missed == nil || s.Missed.Events != 2 || s.Missed.First.At != 2e12 {
		t.Errorf("happened: %+v, missed: %+v", s.LinkEvents, s.Missed)
	}
}

// TestRepaired checks that capacity costs time if it is down from the beginning and comes back later. Without the
// failure, connections take the paths that they have after the repair.
func TestRepaired(t *testing.T) {
	const text = `
seed: 6
fabric: {kind: rail, hosts: 8, segments: 2, spines: 2, uplinks: 0,
  host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
server: {gpus: 1, nics: 1}
transport: {recovery: selective, write: only}
cc: {algorithm: none}
workload: {traffic: {permutation: {bytes: 4MB}}}
`
	_, broken, _ := runAll(t, text+`events:
  - {switch: spine-2, at: 0s, up: false, converge: 0s}
  - {switch: spine-2, at: 600us, up: true, converge: 0s}
`)
	_, healthy, _ := runAll(t, text)
	if saved, said := broken.StepTime-healthy.StepTime, broken.Chain.Saving[cause.FailedCapacity]; 4*said < saved {
		t.Errorf("a run without the failure saves %d ps, %d are said", saved, said)
	}
}

// TestEvidenceNamesFailures checks that evidence of congestion names the failed link on the paths of the flow, and
// the time of its failure; of a link that carried nothing it says that it had spare capacity. The evidence never says
// that one flow shares a link. Three flows of one leaf lose an uplink, permanently or for a while.
func TestEvidenceNamesFailures(t *testing.T) {
	const text = `
seed: 14
fabric: {kind: rail, hosts: 4, spines: 2, uplinks: 1, host_link: {rate: 400Gbps, cable: 3m},
  fabric_link: {rate: 400Gbps, cable: 30m}}
server: {gpus: 2, nics: 2}
lb: ecmp
fidelity: %s
events: [{link: "%s", at: 200us, up: false}%s]
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-4/gpu-2, bytes: 16MiB},
  {from: host-2/gpu-1, to: host-3/gpu-2, bytes: 16MiB}, {from: host-3/gpu-1, to: host-2/gpu-2, bytes: 16MiB}]}}
`
	names := map[string]string{"rail-1:Eth5": "rail-1:Eth5 – spine-1:Eth1", "rail-1:Eth6": "",
		"rail-2:Eth5": "rail-2:Eth5 – spine-1:Eth2"}
	for _, fidelity := range []string{"packet", "flow"} {
		for link, name := range names {
			for again, when := range map[string]string{"": " since 200 µs",
				fmt.Sprintf(", {link: %q, at: 1ms, up: true}", link): " from 200 µs to 1 ms"} {
				if when = name + when; name == "" {
					when = "other links of the group have spare capacity"
				}
				_, s, tables := runAll(t, fmt.Sprintf(text, fidelity, link, again))
				for _, why := range []string{s.Slowest.Why, tables.Collectives[0].Why} {
					congested := regexp.MustCompile("collision|oversubscription|failed|timeout").MatchString(why)
					if strings.Contains(why, "1 flow") || congested && !strings.Contains(why, when) {
						t.Errorf("%s, %s without %q: %s", fidelity, link, when, why)
					}
				}
			}
		}
	}
}

// TestSlowLater checks that a link which slows down after the run's end is no cause of it.
func TestSlowLater(t *testing.T) {
	_, s, _ := runAll(t, `
fabric: {kind: rail, hosts: 4, segments: 2, spines: 2, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
workload: {traffic: {permutation: {bytes: 1MB}}}
events: [{switch: spine-1, at: 100ms, rate_share: 0.3}]
`)
	if a := s.Chain; a.Own[cause.SlowLink]+a.Saving[cause.SlowLink] > 0 || a.Own[cause.Oversubscription]+
		a.Own[cause.Collision] == 0 {
		t.Errorf("at %d ps: %+v", s.StepTime, a)
	}
}

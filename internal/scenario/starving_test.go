package scenario_test

import (
	"strings"
	"testing"
)

// With more senders than the ratio of packet to header length, headers alone fill a receiver's cable, or slow
// uplinks. A note warns before such a run, unless senders are on credit. The numbers: 4,226 bytes of wire of a
// packet at most 4 KB long, 148 of its headers.
func TestNoteOnStarving(t *testing.T) {
	const incast = `
name: x
fabric: {kind: rail-only, hosts: 97, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
switch: {pfc: false, queues: {3: {lossless: false, trim: true, limit: 100KB}}}
cc: {algorithm: none}
transport: {recovery: selective, write: only}
workload: {traffic: {incast: {bytes: 1MB, fan_in: 28}}}
`
	const narrow = `
name: x
fabric: {kind: rail, hosts: 4, spines: 2, uplinks: 1, host_link: {rate: 400Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 2, nics: 2}
cc: {algorithm: none}
switch: {pfc: false, queues: {3: {trim: true, lossless: false, alpha: 1}}}
transport: {recovery: selective, mtu: 256}
workload: {traffic: {ring-allreduce: {bytes: 1MB}}}
`
	for _, c := range []struct{ text, sets, want string }{
		{incast, "", ""},
		{incast, "workload.traffic.incast.fan_in=29",
			"host-1/nic-1's cable can get 29.0 times what it takes, and from 28.6 times on the headers"},
		{incast, "workload.traffic.incast.fan_in=29 cc.algorithm=nscc", "can get 29.0 times"},
		{incast, "workload.traffic.incast.fan_in=96 cc.algorithm=ndp", ""},
		{incast, "workload.traffic.incast.fan_in=29 switch.trim.size=64B", ""},
		{incast, "workload.traffic.incast.fan_in=29 switch.queues.3.trim=false", ""},
		{incast, "workload.traffic.incast.fan_in=28 switch.trim.size=1KiB", "from 4.0 times on the headers"},
		{narrow, "", "what leads from rail-1 to other switches can get 8.0 times what it takes, and from"},
		{narrow, "fabric.uplinks=4", ""},
	} {
		p, err := resolveLB(c.text, strings.Fields(c.sets)...)
		if err != nil {
			t.Fatal(c.sets, err)
		}
		notes := strings.Join(p.Notes, "\n")
		if got := strings.Contains(notes, "no data get through"); got != (c.want != "") ||
			!strings.Contains(notes, c.want) {
			t.Errorf("%s: %q, want %q", c.sets, notes, c.want)
		}
	}
}

// Trimming reports a gap to go-back-N once, and nothing of packets trimmed again; a note says so beforehand.
func TestNoteOnTrimmingUnderGoBackN(t *testing.T) {
	const text = `
name: x
fabric: {kind: rail-only, hosts: 3, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
switch: {pfc: false, queues: {3: {lossless: false, trim: true, limit: 100KB}}}
cc: {algorithm: none}
workload: {traffic: {incast: {bytes: 1MB, fan_in: 2}}}
`
	for sets, want := range map[string]bool{"": true, "transport.recovery=selective": false,
		"switch.queues.3.trim=false": false} {
		p, err := resolveLB(text, strings.Fields(sets)...)
		if err != nil {
			t.Fatal(sets, err)
		}
		notes := strings.Join(p.Notes, "\n")
		if got := strings.Contains(notes, "after the time-out of 67.109ms"); got != want {
			t.Errorf("%q: the note is there: %v\n%s", sets, got, notes)
		}
	}
}

package scenario

import (
	"strings"
	"testing"
)

// What is given for something that is not chosen is noted; what is chosen, by the file or by --set, is not,
// nor what a resolved file says anyway.
func TestIdleKeysAreNoted(t *testing.T) {
	const work = "fabric: {kind: rail, hosts: 2, spines: 2}\n" +
		"workload: {traffic: {permutation: {bytes: 1MB}}}\n"
	for _, c := range []struct{ text, set, want string }{
		{"server: {rx_xoff: 1MB}", "", "server.rx_xoff has no effect: no server.pcie"},
		{"server: {rx_xoff: 1MB, pcie: 64GB/s}", "", ""},
		{"server: {rx_xoff: 512KiB}", "", ""},
		{"switch: {watchdog: {on: false, poll: 1ms, restore: 1s}}", "",
			"switch.watchdog.poll, switch.watchdog.restore have no effect: no watchdog is on"},
		{"switch: {watchdog: {on: true, poll: 1ms}}", "", ""},
		{"lb: ecmp\nlb_options: {flowlet_gap: 7us}", "", "lb_options.flowlet_gap has no effect: lb is ecmp"},
		{"lb: flowlet\nlb_options: {flowlet_gap: 7us}", "", ""},
		{"lb: flowlet\nlb_options: {flowlet_gap: 7us}", "lb=ecmp", ""},
		{"cc: {algorithm: none, dcqcn: {cnp_interval: 9us}}", "",
			"cc.dcqcn.cnp_interval has no effect: cc.algorithm is none"},
		{"cc: {algorithm: dcqcn, dcqcn: {cnp_interval: 9us}}", "cc.algorithm=none", ""},
	} {
		var sets []string
		if c.set != "" {
			sets = append(sets, c.set)
		}
		p, err := resolved(t, work+c.text+"\n", sets...)
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(p.Notes, "\n")
		if strings.Contains(notes, "no effect") != (c.want != "") || !strings.Contains(notes, c.want) {
			t.Errorf("%s --set %s: notes %q, want %q", c.text, c.set, p.Notes, c.want)
		}
	}
}

// A scenario's placement that no job takes, as each has its own, has no effect, however it is given.
func TestIdlePlacementIsNoted(t *testing.T) {
	const site = "fabric: {kind: rail, hosts: 4, spines: 2}\n"
	const work = "traffic: {permutation: {bytes: 1MB}}"
	for _, c := range []struct {
		jobs string
		sets []string
		note bool
	}{
		{"a: {gpus: 2, placement: rack, " + work + "}", []string{"placement=spread"}, true},
		{"a: {on: [host-1, host-2], " + work + "}", []string{"placement=spread"}, true},
		{"a: {gpus: 2, placement: rack, " + work + "}", nil, false},
		{"a: {gpus: 2, placement: rack, " + work + "}, b: {gpus: 2, " + work + "}",
			[]string{"placement=spread"}, false},
	} {
		p, err := resolved(t, site+"jobs: {"+c.jobs+"}\n", c.sets...)
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(p.Notes, "\n")
		if strings.Contains(notes, "placement has no effect: each job sets its GPUs") != c.note {
			t.Errorf("%s --set %s: notes %q", c.jobs, c.sets, p.Notes)
		}
	}
}

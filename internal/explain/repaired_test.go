package explain_test

import "testing"

// TestRepairedNIC checks that the busiest NIC is also known at the rates of a run without slow links.
func TestRepairedNIC(t *testing.T) {
	const text = `
fabric: {kind: single-rail, hosts: 4, host_link: {rate: 200Gbps, cable: 5m}}
server: {gpus: 1, nics: 1}
workload: {traffic: {collective: {kind: all-reduce, algorithm: ring, channels: 1, bytes: 4MB}}}
`
	_, whole, _ := runAll(t, text)
	_, slow, _ := runAll(t, text+"events: [{nic: host-1/nic-1, rate_share: 0.5, at: 0s}]\n")
	w, s := whole.Busiest, slow.Busiest
	if w.Repaired != w.Time || s.Time != 2*w.Time || s.Repaired != w.Time || s.Name != "host-1/nic-1" {
		t.Errorf("%+v, with a slow NIC %+v", w, s)
	}
}

package sim

import "testing"

// A cable fails. Converging routes avoid it, static routes of segments use it for ever, and MRC skips its entropy
// values.
func TestStaticRoutes(t *testing.T) {
	const text = `name: x
fabric: {kind: rail, segments: 2, hosts: 4, spines: 4, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
transport: mrc
workload: {traffic: {permutation: {bytes: 2MB}}}
failures: [{link: 'seg-1-rail-1:Eth5', at: 5us, converge: 1us}]
`
	drops := map[string]int64{}
	for _, how := range []string{"hash", "srv6"} {
		r := load(t, text, "transport.forwarding="+how)
		if err := r.Go(nil); err != nil {
			t.Fatal(err)
		}
		drops[how] = r.Net.DownDrops
		if r.Failed() != nil || r.Hosts.Placed(0) != 2_000_000 {
			t.Errorf("%s: %v, %v placed", how, r.Failed(), r.Hosts.Placed(0))
		}
	}
	if drops["hash"] >= drops["srv6"] || drops["srv6"] == 0 {
		t.Errorf("%v packets went into the cable", drops)
	}
}

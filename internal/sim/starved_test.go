package sim

import (
	"strings"
	"testing"
)

// If headers of trimmed packets alone fill a cable, no data arrive. A run of senders without congestion control
// ends with this reason. Senders with congestion control complete the run.
func TestHeadersLeaveNoRoomForData(t *testing.T) {
	const text = `
fabric: {kind: rail, hosts: 4, spines: 2, uplinks: 1, host_link: {rate: 400Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 2, nics: 2}
cc: {algorithm: none}
switch:
  pfc: false
  buffer: 100KB
  queues: {3: {trim: true, lossless: false, alpha: 1, wred_max: 80KB, wred_min: 20KB}}
transport: {recovery: selective, mtu: 256}
workload: {traffic: {ring-allreduce: {bytes: 1MB}}}
`
	run := load(t, text, "seed=60")
	err := run.Go(nil)
	if err == nil || !strings.Contains(err.Error(), "packets were trimmed since the last byte arrived") ||
		!strings.Contains(err.Error(), "switch.trim.size") {
		t.Errorf("it ended with %v", err)
	}
	for _, set := range []string{"cc.algorithm=nscc", "cc.algorithm=uec"} {
		if err := load(t, text, "seed=60", set).Go(nil); err != nil {
			t.Errorf("%s: %v", set, err)
		}
	}
}

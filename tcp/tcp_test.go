package tcp

import (
	"maps"
	"testing"

	"railyard/transport/transporttest"
	"railyard/unit"
)

func TestConformance(t *testing.T) {
	values := maps.Clone(Protocol.Defaults)
	values["rto_min"] = 5 * unit.Millisecond // the suite has a second after its last fault
	values["copy"], values["receive_packet"] = 800*unit.Gbps, unit.Time(0)
	values["stage"], values["send_packet"] = 800*unit.Gbps, unit.Time(0)
	transporttest.Run(t, transporttest.Suite{Protocol: &Protocol, Values: values, Planes: []int{1}}) // one path
}

package table

import (
	"strings"
	"testing"

	"railyard/internal/speed"
	"railyard/unit"
)

// Other simulators are below the run with the same work, with their relative time and a source.
func TestSpeed(t *testing.T) {
	var out strings.Builder
	Speed(&out, []speed.Row{
		{Name: "small", Wall: 0.5, Events: 0.25, CPU: 0.5, Memory: 70 * unit.MB, Rate: 8e6, Peers: []speed.Peer{
			{Name: "peer", Wall: 1.5, Memory: 16 * unit.MB, Rate: 1e6, Source: "somewhere"}}},
		{Name: "flows", Wall: 1, Memory: 100 * unit.MB, Peers: []speed.Peer{{Name: "another", Rate: 2e6, Source: "elsewhere"}}},
	})
	const want = `small: 500 ms, 8 M packet-hops/s; peer: 1.5 s (reference)

Run              wall     CPU  event loop  memory  M hops/s  × Railyard
small          500 ms  500 ms      250 ms   70 MB         8
  peer [1]      1.5 s       –           –   16 MB         1         3 ×
flows             1 s       –           –  100 MB         –
  another [2]       –       –           –       –         2           –

Measured on this computer: Railyard, whole process. Reference figures, measured
elsewhere:
[1] somewhere
[2] elsewhere
docs/comparison/run builds uet-htsim and HPCC's ns-3 and runs the same work on
this computer.
`
	if out.String() != want {
		t.Errorf("it prints\n%s", out.String())
	}
}

package dialect_test

import (
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/dialect"
)

// If a port with guaranteed bandwidth and one without share a profile, the finding is at the second.
func TestFloorOfAnotherPort(t *testing.T) {
	c, err := dialect.Parse("eos.cfg", []byte(`hostname x
qos map dscp 26 to traffic-class 3
qos profile R
   qos trust dscp
   priority-flow-control on
   priority-flow-control priority 3 no-drop
   uc-tx-queue 3
      bandwidth percent 95
priority-flow-control pause watchdog default timeout 0.20
interface Ethernet1
   service-profile R
   uc-tx-queue 3
      random-detect ecn count
   tx-queue 3
      bandwidth guaranteed 100
interface Ethernet2
   service-profile R
`), "eos")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range swconf.Lint(swconf.Input{Configs: []*swconf.Config{c}, DataDSCP: 26, CNPDSCP: 48,
		PathMTU: 4096, Base: spec()}) {
		if f.Rule == "watchdog-floor" {
			if found++; f.Line != 16 {
				t.Errorf("line %d: %s", f.Line, f.Message)
			}
		}
	}
	if found != 1 {
		t.Errorf("%d findings", found)
	}
}

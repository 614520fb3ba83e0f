package scenario

import (
	"strings"
	"testing"
)

// TestPoolFirst checks which switch pauses by a full buffer before xOFF, and that none does whose ports fit.
func TestPoolFirst(t *testing.T) {
	const text = `
name: incast
fabric: {kind: rail-only, hosts: 8}
server: {gpus: 1, nics: 1}
switch: {buffer: 64MB, queues: {3: {xoff: XOFF, xon: 100KB}}}
workload: {traffic: {incast: {fan_in: 7, bytes: 1MB}}}
`
	for xoff, want := range map[string]string{
		"8MB":    "",
		"10MB":   "xOFF 10 MB on 8 ports of rail-1 is 80 MB together, above its buffer of 64 MB: if more than 6 are congested",
		"3500KB": "",
	} {
		doc, err := Parse("x.yaml", []byte(strings.Replace(text, "XOFF", xoff, 1)), nil)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := doc.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.PoolFirst(); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q", xoff, got)
		}
	}
}

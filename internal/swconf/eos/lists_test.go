package eos

import (
	"strings"
	"testing"

	"railyard/internal/queue"
)

// Classes by access lists match RoCE's packets by their DSCP, or by their common UDP port. Other conditions of such
// lists are reported and ignored.
func TestClassesByAccessList(t *testing.T) {
	const text = `hostname x
ip access-list L
   10 ENTRY
!
class-map type quality-of-service match-any ROCE
   10 match ip access-group L
!
policy-map type quality-of-service P
   class ROCE
      set traffic-class 3
   class class-default
      set traffic-class 0
!
interface Ethernet1
   service-policy type quality-of-service input P
`
	for _, c := range []struct {
		entry string
		is    [3]uint8 // the queues of DSCP 0, 26 and 48
		note  string
	}{
		{"permit udp any any eq 4791", [3]uint8{3, 3, 3}, "takes RoCE's packets by their UDP port"},
		{"permit udp any any eq 4791 dscp 26", [3]uint8{0, 3, 0}, "takes RoCE's packets by their UDP port"},
		{"permit ip any any dscp cs6", [3]uint8{0, 0, 3}, ""},
		{"permit udp 10.0.0.0/8 any eq 4791", [3]uint8{}, "not simulated: class-map ROCE matches more"},
		{"permit tcp any any", [3]uint8{}, ""},
	} {
		cfg, err := Parse("x", []byte(strings.Replace(text, "ENTRY", c.entry, 1)))
		if err != nil {
			t.Fatal(err)
		}
		q := cfg.Ports[0].QoS
		if got := [3]uint8{q.DSCP[0].V, q.DSCP[26].V, q.DSCP[48].V}; got != c.is {
			t.Errorf("%s: queues %v", c.entry, got)
		}
		_, notes, err := cfg.Spec(queue.Default())
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(notes, "\n")
		if c.note != "" && !strings.Contains(said, c.note) || c.note == "" &&
			strings.Contains(said, "class-map ROCE") {
			t.Errorf("%s: %s", c.entry, said)
		}
	}
}

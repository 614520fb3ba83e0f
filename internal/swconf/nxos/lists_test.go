package nxos

import (
	"strings"
	"testing"

	"railyard/internal/queue"
)

// Classes by access lists match RoCE's packets by their DSCP, or by their common UDP port. A class that requires
// all its matches takes what both permit.
func TestClassesByAccessList(t *testing.T) {
	const text = `hostname x
ip access-list L
  10 ENTRY
class-map type qos HOW ROCE
  match access-group name L
  ALSO
policy-map type qos P
  class ROCE
    set qos-group 3
  class class-default
    set qos-group 0
interface Ethernet1/1
  service-policy type qos input P
`
	for _, c := range []struct {
		entry, how, also string
		is               [3]uint8 // the groups of DSCP 0, 26 and 48
		note             string
	}{
		{"permit udp any any eq 4791", "match-any", "", [3]uint8{3, 3, 3}, "by their UDP port"},
		{"permit udp any any eq 4791", "match-all", "match dscp 26", [3]uint8{0, 3, 0}, "by their UDP port"},
		{"permit ip any any dscp 48", "match-any", "match dscp 26", [3]uint8{0, 3, 3}, ""},
		{"permit udp any any eq 4791 dscp af31", "match-all", "", [3]uint8{0, 3, 0}, "by their UDP port"},
		{"permit udp 10.0.0.0/8 any eq 4791", "match-any", "", [3]uint8{}, "not simulated: class-map ROCE matches more"},
		{"deny udp any any eq 4791", "match-any", "", [3]uint8{}, ""},
		{"permit tcp any any", "match-any", "", [3]uint8{}, ""},
	} {
		text := strings.NewReplacer("ENTRY", c.entry, "HOW", c.how, "ALSO", c.also).Replace(text)
		cfg, err := Parse("x", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		q := cfg.Ports[0].QoS
		if got := [3]uint8{q.DSCP[0].V, q.DSCP[26].V, q.DSCP[48].V}; got != c.is {
			t.Errorf("%s: groups %v", c.entry, got)
		}
		_, notes, err := cfg.Spec(queue.Default())
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(notes, "\n"); !strings.Contains(said, c.note) {
			t.Errorf("%s: %s", c.entry, said)
		}
	}
	missing := strings.NewReplacer("ENTRY", "permit ip any any", "HOW", "match-all", "ALSO",
		"match dscp 26", "ip access-list L\n", "ip access-list other\n").Replace(text)
	cfg, err := Parse("x", []byte(missing))
	if err != nil {
		t.Fatal(err)
	}
	if q := cfg.Ports[0].QoS; q.DSCP[26].V != 0 {
		t.Error("a class takes packets by a list that is not there")
	}
}

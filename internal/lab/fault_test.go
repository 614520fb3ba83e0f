package lab

import (
	"fmt"
	"strings"
	"testing"
)

// What breaks is found at its end nearer to the sender, and what shows that traffic has left it comes before.
func TestFault(t *testing.T) {
	// leaves seg-1-rail-1 to seg-2-rail-2 with a port to each of four hosts' NICs and two spines
	s, err := plan(fabric(t, "rail", nil), options)
	if err != nil {
		t.Fatal(err)
	}
	from, to, err := s.Ends()
	if err != nil || s.Nodes[from].Name != "host-1" || s.Nodes[to].Name != "host-4" {
		t.Fatal(from, to, err)
	}
	addrs, ports := s.Planes(to)
	if len(addrs) != 2 || fmt.Sprint(ports) != "[host-4:nic1 host-4:nic2]" {
		t.Errorf("%v %v", addrs, ports)
	}
	cut, drained, lossy, err := s.Usual(from, to)
	if err != nil || drained != "host-4:nic2" {
		t.Error(cut, drained, lossy, err)
	}
	for port, want := range map[string]string{
		"spine-1:Eth3":      "spine-1:Eth3 by [seg-1-rail-1:Eth3] in 0", // towards seg-2-rail-1
		"seg-2-rail-1:Eth3": "spine-1:Eth3 by [seg-1-rail-1:Eth3] in 0", // the same cable
		"seg-1-rail-1:Eth3": "seg-1-rail-1:Eth3 by [seg-1-rail-1:Eth3] in 0",
		drained:             "host-4:nic2 by [host-1:nic2] in 1",
		"host-1:nic1":       "host-1:nic1 by [host-1:nic1] in 0",
	} {
		f, err := s.Fault(port, from, to)
		if err != nil {
			t.Error(port, err)
		} else if got := fmt.Sprintf("%s by %v in %d", f.Port, f.Path, f.Plane); got != want {
			t.Errorf("%s: %s, want %s", port, got, want)
		}
	}
	for port, want := range map[string]string{"nowhere:Eth1": "no port", "host-2:nic1": "is on no path from host-1"} {
		if _, err := s.Fault(port, from, to); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", port, err)
		}
	}
}

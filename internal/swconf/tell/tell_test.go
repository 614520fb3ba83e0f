package tell_test

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/tell"
	"railyard/unit"
)

// said walks through all values that a text may say below v, by their paths.
func said(v reflect.Value, path string, visit func(path string, said reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			said(v.Elem(), path, visit)
		}
	case reflect.Slice, reflect.Array:
		for i := range min(v.Len(), 1) { // one stands for all
			said(v.Index(i), path, visit)
		}
	case reflect.Struct:
		if strings.HasPrefix(v.Type().Name(), "Said[") {
			visit(path, v)
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				said(v.Field(i), strings.TrimPrefix(path+"."+f.Name, "."), visit)
			}
		}
	}
}

// say puts something into a value, as if a line had said it.
func say(v reflect.Value) {
	x := v.FieldByName("V")
	switch p := x.Addr().Interface().(type) {
	case *netip.Prefix:
		*p = netip.MustParsePrefix("10.1.2.3/31")
	case *netip.Addr:
		*p = netip.MustParseAddr("10.1.2.3")
	default:
		fill(x)
	}
	v.FieldByName("At").Set(reflect.ValueOf(swconf.Place{File: "x", Line: 7, Col: 1}))
}

// fill sets a value, or every field in it, to something other than its zero.
func fill(x reflect.Value) {
	switch x.Kind() {
	case reflect.Bool:
		x.SetBool(true)
	case reflect.String:
		x.SetString("words")
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		x.SetUint(1)
	case reflect.Int, reflect.Int64:
		x.SetInt(77)
	case reflect.Float64:
		x.SetFloat(0.5)
	case reflect.Struct:
		for i := range x.NumField() {
			if x.Type().Field(i).IsExported() {
				fill(x.Field(i))
			}
		}
	}
}

// whole is a configuration with one element in each of its lists: a port, an address, a neighbour, a network. Of
// the values only the watchdog is set: it runs.
func whole() *swconf.Config {
	return &swconf.Config{OS: swconf.NXOS, DLB: &swconf.DLB{Ports: []swconf.Said[string]{{}}},
		Watchdog: swconf.Watchdog{On: swconf.Say(true, swconf.Place{Line: 1})},
		Ports: []*swconf.Port{{Name: "Ethernet1/1", Number: 1, QoS: &swconf.QoS{},
			Addrs: []swconf.Said[netip.Prefix]{{}}}},
		BGP: &swconf.BGP{NeedsPolicy: true, Neighbors: []*swconf.Neighbor{{}},
			Networks: []swconf.Said[netip.Prefix]{{}}}}
}

// Each value that a text may set changes the facts. A value without a fact would not be compared.
func TestEverythingIsTold(t *testing.T) {
	before := tell.Facts(whole())
	var silent []string
	paths := 0
	said(reflect.ValueOf(whole()), "", func(path string, _ reflect.Value) {
		paths++
		c := whole()
		said(reflect.ValueOf(c), "", func(p string, v reflect.Value) {
			if p == path {
				say(v)
			}
		})
		if tell.Facts(c) == before {
			silent = append(silent, path)
		}
	})
	if paths < 40 {
		t.Errorf("%d values were found", paths)
	}
	if !slices.Equal(silent, []string{"Watchdog.On"}) { // which is said already
		t.Errorf("nothing tells %v", silent)
	}
}

// Facts are in the order of the text. A port with the treatment of an earlier port only names that port, and each
// fault has its place.
func TestFacts(t *testing.T) {
	at := swconf.Place{File: "leaf.cfg", Line: 3, Col: 2}
	q := &swconf.QoS{Input: swconf.Say("ROCE", at)}
	q.DSCP[24], q.DSCP[26] = swconf.Say(uint8(3), at), swconf.Say(uint8(3), at)
	q.Queues[3].Pause = swconf.Say(3, at)
	q.Queues[3].WRED = swconf.Say(swconf.WRED{Min: 1000, Max: 3000, Percent: 5, ECN: true}, at)
	q.Queues[7].Strict = swconf.Say(true, at)
	c := &swconf.Config{OS: swconf.EOS, Hostname: swconf.Say("leaf-1", at),
		Ports: []*swconf.Port{{Name: "Ethernet2", Number: 2, QoS: q}, {Name: "Ethernet1", Number: 1, QoS: q,
			MTU: swconf.Say(unit.Bytes(9214), at), PFC: swconf.Say(swconf.PFCOn, at)}, {Name: "Ethernet3"}},
		BGP: &swconf.BGP{ASN: swconf.Say(uint32(65001), at), MaxPaths: swconf.Say(16, at),
			Neighbors: []*swconf.Neighbor{{Port: "Ethernet1", Remote: swconf.Say("external", at)}}},
		Unknown: []swconf.Unknown{{At: at, Why: "no such command"}},
		Faults:  []swconf.Finding{{Line: 5, Column: 9, Message: "a class twice"}}}
	want := `called leaf-1
Ethernet2 is port 2
  classified by ROCE
  queue 3: DSCP 24,26, marks, from 1000 to 3000 with 5 %, weight 0, lossless by priority 3
  queue 7: strict
Ethernet1 is port 1, MTU 9214, PFC on
  as Ethernet2
Ethernet3 is port 0
AS 65001, 16 paths
neighbour Ethernet1 in AS external inactive
line 3 is unknown: no such command
line 5 column 9: a class twice`
	if got := tell.Facts(c); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := tell.Facts(&swconf.Config{}); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}

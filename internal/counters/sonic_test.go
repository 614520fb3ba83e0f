package counters

import (
	"strings"
	"testing"
)

const pfcText = `admin@leaf1:~$ show pfc counters
  Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7
---------  ------  ------  ------  ------  ------  ------  ------  ------
Ethernet0       0       1       2   1,203       4       5       6       7
Ethernet4     N/A     N/A     N/A     N/A     N/A     N/A     N/A     N/A

  Port Tx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7
---------  ------  ------  ------  ------  ------  ------  ------  ------
Ethernet0      10      11      12  13,123,456      14      15      16      17
Ethernet4       0       0       0       0       0       0       0       0
`

func TestSonicPFC(t *testing.T) {
	text := strings.ReplaceAll(pfcText, "  13,123,456", "      13")
	all, unknown, err := Read("x.txt", []byte(text))
	if err != nil || len(unknown) > 0 || len(all) != 1 {
		t.Fatal(all, unknown, err)
	}
	s := all[0]
	p := s.Find("Ethernet0")
	if s.Device != "leaf1" || s.Format != "sonic-pfc" || p.RxPFC[3] != (Count{V: 1203, Line: 4, Is: true}) ||
		p.TxPFC[7].V != 17 || s.Find("Ethernet4").RxPFC[0].Is || !s.Find("Ethernet4").TxPFC[0].Is {
		t.Errorf("%+v", s)
	}
}

func TestDelta(t *testing.T) {
	port := func(v uint64, bits uint8) Port {
		p := Port{Name: "Ethernet0", Line: 3}
		p.RxPFC[3] = Count{V: v, Is: true, Bits: bits}
		return p
	}
	snap := func(v uint64, bits uint8) Snapshot {
		return Snapshot{Device: "leaf1", File: "f", Ports: []Port{port(v, bits)}}
	}
	for _, c := range []struct {
		before, after uint64
		bits          uint8
		want          uint64
		notes         int
	}{
		{10, 25, 0, 15, 0},
		{1<<32 - 5, 7, 32, 12, 0}, // wrapped
		{1<<32 - 5, 7, 0, 7, 1},   // cleared: this counter does not wrap there
		{100, 7, 32, 7, 1},        // cleared: it was far from its maximum
	} {
		d, err := Delta(snap(c.before, c.bits), snap(c.after, c.bits))
		if err != nil || d.Ports[0].RxPFC[3].V != c.want || len(d.Notes) != c.notes {
			t.Errorf("%+v: %d, %v, %v", c, d.Ports[0].RxPFC[3].V, d.Notes, err)
		}
	}
	other := snap(1, 0)
	other.Device = "leaf2"
	if _, err := Delta(snap(1, 0), other); err == nil || !strings.Contains(err.Error(), "leaf2") {
		t.Error("a difference of two devices:", err)
	}
}

// TestSonicPFCPriority: a port without pfc_enable, or with an empty one, runs no PFC.
func TestSonicPFCPriority(t *testing.T) {
	const text = `admin@leaf1:~$ show pfc priority

Interface    Lossless priorities
-----------  ---------------------
Ethernet0    3,4
Ethernet4    N/A
Ethernet8
Ethernet12   5
`
	all, unknown, err := Read("x.txt", []byte(text))
	if err != nil || len(unknown) > 0 || len(all) != 1 || all[0].Format != "sonic-pfc-priority" {
		t.Fatal(all, unknown, err)
	}
	for name, want := range map[string]uint8{"Ethernet0": 0x18, "Ethernet4": 0, "Ethernet8": 0,
		"Ethernet12": 32} {
		p := all[0].Find(name)
		if p == nil || !p.Lossless.Is || p.Lossless.V != want || !p.PFC.Is || p.PFC.V != (want != 0) {
			t.Errorf("%s: %+v", name, p)
		}
	}
	whole, _, _ := strings.Cut(text, "Ethernet8")
	if _, _, err := Read("x.txt", []byte(whole+"Ethernet8")); err == nil || !strings.Contains(err.Error(), "truncated") {
		t.Errorf("the file ends where priorities may stand: %v", err)
	}
	_, unknown, _ = Read("x.txt", []byte(strings.Replace(text, "3,4", "3,9", 1)))
	if len(unknown) != 1 {
		t.Error(unknown)
	}
}

// TestGroups: commas group by three digits. Other groups are a truncated number, not a smaller one.
func TestGroups(t *testing.T) {
	for text, want := range map[string]uint64{"1": 1, "999": 999, "1,234": 1234, "12,345,678": 12345678, "1234": 1234} {
		if c, ok := number(text, line{n: 1}); !ok || !c.Is || c.V != want {
			t.Errorf("%s is %d (%v), want %d", text, c.V, ok, want)
		}
	}
	for _, text := range []string{"1,000,2", "100,00", "9,268,21", ",123", "1234,567", "1,", "1,,234", "-1,234", "+5", "1_000"} {
		if c, ok := number(text, line{n: 1}); ok && c.Is {
			t.Errorf("%q is %d", text, c.V)
		}
	}
}

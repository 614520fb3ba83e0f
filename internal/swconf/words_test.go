package swconf

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// members lists what a set holds.
func members(set [64]bool) (list []int) {
	for i, in := range set {
		if in {
			list = append(list, i)
		}
	}
	return list
}

// DSCPs by number, range and name (RFC 2474, RFC 4594), and what is none.
func TestDSCPs(t *testing.T) {
	for text, want := range map[string][]int{"24": {24}, "24-26": {24, 25, 26}, "26, 24": {24, 26},
		"cs3 EF":  {24, 46},
		"af31-28": {26, 27, 28}, "default": {0}} {
		if set, err := DSCPs(text); err != nil || !slices.Equal(members(set), want) {
			t.Errorf("%q: %v, %v, want %v", text, members(set), err, want)
		}
	}
	for _, text := range []string{"64", "-1", "26-24", "af51", "1-", "3.5"} {
		if set, err := DSCPs(text); err == nil {
			t.Errorf("%q is taken as %v", text, members(set))
		}
	}
}

// An IP precedence is the upper three bits of a DSCP (RFC 2474, 4.2.2).
func TestPrecedences(t *testing.T) {
	for text, want := range map[string][]int{"flash": {24, 25, 26, 27, 28, 29, 30, 31},
		"3":   {24, 25, 26, 27, 28, 29, 30, 31},
		"0-1": {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}} {
		if set, err := Precedences(text); err != nil || !slices.Equal(members(set), want) {
			t.Errorf("%q: %v, %v, want %v", text, members(set), err, want)
		}
	}
	for _, text := range []string{"8", "2-1", "gold", "-1"} {
		if set, err := Precedences(text); err == nil {
			t.Errorf("%q is taken as %v", text, members(set))
		}
	}
}

// The text that is written of a classification reads back as the same classification.
func TestDSCPSetReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m [64]uint8
		for i := range m {
			m[i] = uint8(rapid.IntRange(0, 2).Draw(t, "queue"))
		}
		for q := range uint8(3) {
			set, err := DSCPs(DSCPSet(m, q))
			if err != nil {
				t.Fatal(err)
			}
			for i := range m {
				if set[i] != (m[i] == q) {
					t.Fatalf("queue %d is written as %s, and %d is wrong", q, DSCPSet(m, q), i)
				}
			}
		}
	})
}

// Port names are shortened where their numbers are consecutive. Host names are written as Slurm's hostlists.
func TestShortLists(t *testing.T) {
	for _, c := range []struct {
		names           []string
		ports, brackets string
	}{
		{[]string{"Ethernet1/1", "Ethernet1/2", "Ethernet1/3", "Ethernet1/9"}, "Ethernet1/1-3, Ethernet1/9",
			"Ethernet1/[1-3,9]"},
		{[]string{"host-2", "host-1", "login"}, "host-2, host-1, login", "host-[1-2],login"},
		{[]string{"Ethernet1/48", "Ethernet2/49"}, "Ethernet1/48, Ethernet2/49", "Ethernet1/48,Ethernet2/49"},
		{[]string{"n01", "n02"}, "n01-2", "n01,n02"},
		{nil, "", ""},
	} {
		if got := Compress(c.names); got != c.ports {
			t.Errorf("Compress(%v) is %q, want %q", c.names, got, c.ports)
		}
		if got := Brackets(c.names); got != c.brackets {
			t.Errorf("Brackets(%v) is %q, want %q", c.names, got, c.brackets)
		}
	}
}

// Findings come in the order of the text, each once.
func TestSort(t *testing.T) {
	f := func(file string, line, col int, rule string) Finding {
		return Finding{File: file, Line: line, Column: col, Rule: rule}
	}
	got := Sort([]Finding{f("b", 1, 1, "x"), f("a", 10, 1, "x"), f("a", 9, 5, "y"), f("a", 9, 1, "y"),
		f("a", 10, 1, "x")})
	if want := []Finding{f("a", 9, 1, "y"), f("a", 10, 1, "x"), f("b", 1, 1, "x")}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

package diagnose_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"railyard/internal/counters/planted"
	"railyard/internal/diagnose"
	"railyard/internal/long"
)

// again are commands that share their format with another of the same round, which printed the output whose first
// port they show again; those of Next are of this kind.
var again = map[string]map[string]string{
	"sonic": {"show interfaces counters rates": "show interfaces counters",
		"show interfaces counters -i Ethernet0": "show interfaces counters",
		"portstat":                              "show interfaces counters",
		"show queue counters Ethernet0":         "show queue counters",
		"show interfaces status Ethernet0":      "show interfaces status"},
	"eos": {"show interfaces ethernet1": "show interfaces",
		"show interfaces ethernet1 counters queue detail": "show interfaces counters queue detail",
		"show interfaces ethernet1 counters errors":       "show interfaces counters errors"},
	"nxos": {"show interface ethernet1/1": "show interface",
		"show queuing interface ethernet1/1":                       "show queuing interface",
		"show interface ethernet1/1 priority-flow-control detail":  "show interface priority-flow-control detail",
		"show interface ethernet1/1 counters errors":               "show interface counters errors",
		"show policy-map interface ethernet1/1 type queuing":       "show policy-map interface",
		"show interface ethernet1/1 priority-flow-control":         "show interface priority-flow-control",
		"show interface counters errors | egrep Port|Eth1/1|-----": "show interface counters errors"},
}

var typedLine = regexp.MustCompile(`(?m)^(?:admin@\S+:~\$|\S+#) (\S.*)$`)

// first returns what a command printed up to the second port.
func first(t *testing.T, text, command string) string {
	t.Helper()
	for _, at := range typedLine.FindAllStringSubmatchIndex(text, -1) {
		if text[at[2]:at[3]] != command {
			continue
		}
		out := text[at[1]+1:]
		if next := typedLine.FindStringIndex(out); next != nil {
			out = out[:next[0]]
		}
		if end := regexp.MustCompile(`(?m)^(?:slot.*\n(?:=+\n)?\n*)?(?:.* for )?(?:Ethernet(?:1/2|2|4|8)|E(?:t|th)(?:1/)?2)\b`).FindStringIndex(out); end != nil {
			out = out[:end[0]]
		}
		return out
	}
	t.Fatalf("no %s", command)
	return ""
}

// TestMoreCommandsInARound: a further command of a round, before, among or behind the others, takes no finding away
// and adds none: whether the rounds are in two folders or in one file, with a clock or without.
func TestMoreCommandsInARound(t *testing.T) {
	for _, name := range []string{"incast-rail", "lossy-cable-rail-host-8"} {
		fault := planted.Faults[slices.IndexFunc(planted.Faults, func(f planted.Fault) bool { return f.Name == name })]
		seen, err := fault.Simulate("sonic")
		if err != nil {
			t.Fatal(err)
		}
		for system, more := range again {
			as, err := seen.As(system)
			if err != nil {
				t.Fatal(err)
			}
			before, after := as.Sessions(system)
			want := summary(t, before, after)
			if want == "" {
				t.Fatalf("%s %s: nothing found", name, system)
			}
			for n, extra := range slices.Sorted(maps.Keys(more)) {
				like := more[extra]
				for where := range 3 {
					if !long.On() && where != n%3 {
						continue
					}
					was, is := maps.Clone(before), maps.Clone(after)
					both := map[string][]byte{}
					for device := range is {
						if !typedLine.Match(is[device]) || strings.HasPrefix(device, "host") {
							both[device] = slices.Concat(was[device], is[device])
							continue
						}
						was[device] = insert(t, string(was[device]), device, extra, like, where)
						is[device] = insert(t, string(is[device]), device, extra, like, where)
						both[device] = slices.Concat(was[device], is[device])
					}
					for what, got := range map[string]string{"two folders": summary(t, was, is),
						"one file": summary(t, nil, both), "no clocks": summary(t, clockless(was), clockless(is)),
						"clocks before each command": summary(t, nil, clocks(both))} {
						if got != want {
							t.Errorf("%s %s: %s at %d, %s:\n%swant\n%s", name, system, extra, where, what, got, want)
						}
					}
				}
			}
		}
	}
}

// insert types a command behind the clock, in the middle, or at the end.
func insert(t *testing.T, text, device, command, like string, where int) []byte {
	all := typedLine.FindAllStringSubmatchIndex(text, -1)
	at := []int{all[1][0], all[len(all)/2][0], len(text)}[where]
	prompt := text[all[0][0]:all[0][2]]
	return []byte(text[:at] + prompt + command + "\n" + first(t, text, like) + "\n" + text[at:])
}

var clock = regexp.MustCompile(`(?m)^.*date \+%s\.%N\n.*\n`)

func clockless(all map[string][]byte) map[string][]byte {
	out := map[string][]byte{}
	for name, text := range all {
		out[name] = clock.ReplaceAll(text, nil)
	}
	return out
}

// clocks reads the clock before each command, and behind the last.
func clocks(all map[string][]byte) map[string][]byte {
	out := map[string][]byte{}
	for name, text := range all {
		text := string(text)
		parts := clock.FindAllStringIndex(text, -1)
		var b strings.Builder
		for i, at := range parts {
			end := len(text)
			if i+1 < len(parts) {
				end = parts[i+1][0]
			}
			c := text[at[0]:at[1]]
			b.WriteString(typedLine.ReplaceAllString(text[at[1]:end], c+"$0") + c)
		}
		out[name] = []byte(b.String())
	}
	return out
}

// summary is the findings that a diagnosis makes, who and what.
func summary(t *testing.T, before, after map[string][]byte) (s string) {
	t.Helper()
	in := diagnose.Input{After: readable("after", after, nil)}
	if before != nil {
		in.Before = readable("before", before, nil)
	}
	r, err := diagnose.Diagnose(in)
	if err != nil {
		return err.Error()
	}
	for _, x := range r.Findings {
		s += fmt.Sprintf("%s at %s %s (%v)\n", x.Cause, x.Device, x.Port, x.Sure)
	}
	return s
}

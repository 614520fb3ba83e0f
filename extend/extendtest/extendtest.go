// Package extendtest tests what extensions add to Railyard: All for everything that is registered, Path, Importer and
// Cause for one. Congestion controls are tested by railyard/cc/cctest, transports by railyard/transport/transporttest.
package extendtest

import (
	"slices"
	"testing"

	"railyard/cc"
	"railyard/cc/cctest"
	"railyard/extend"
	"railyard/internal/route"
	"railyard/transport/protocols"
	"railyard/transport/transporttest"
	"railyard/unit"
)

// line is the rate of the ports of tests.
const line = 100 * unit.Gbps

// All tests all that extensions have added.
func All(t *testing.T) {
	for _, name := range extend.All().Controls {
		a := cc.Lookup(name)
		profiles := []string{""}
		for _, p := range a.Profiles {
			profiles = append(profiles, p.Name)
		}
		for _, p := range profiles {
			t.Run(name+"/"+p, func(t *testing.T) { cctest.Run(t, a, line, a.Use(p, line)) })
		}
	}
	for _, name := range extend.All().Paths {
		t.Run(name, func(t *testing.T) { Path(t, route.Lookup(name)) })
	}
	for _, name := range extend.All().Transports {
		p := protocols.All.Lookup(name)
		t.Run(name, func(t *testing.T) { transporttest.Run(t, transporttest.Suite{Protocol: p}) })
	}
	for _, key := range extend.All().Causes {
		t.Run(key, func(t *testing.T) { Cause(t, key) })
	}
}

// Path tests a policy's choosers: every pick is a port of the group, the same packets take the same ports, a new table
// is accepted, and no pick allocates memory.
func Path(t *testing.T, p *extend.Policy) {
	t.Helper()
	if p.New == nil || p.Title == "" {
		t.Fatalf("path choice %s has no New or no Title", p.Name)
	}
	if err := p.Defaults.Fits(p.Params); err != nil {
		t.Fatalf("path choice %s: %v", p.Name, err)
	}
	ports := make([]extend.Port, 8)
	for i := range ports {
		ports[i] = extend.Port{Rate: line, PsPerByte: 80}
	}
	table := route.NewTable(4)
	group := table.Add([]int32{1, 3, 4, 6})
	table.Set(0, group)
	a, b := p.Make(p.Defaults, extend.Site{Seed: 7, Tier: 1}), p.Make(p.Defaults, extend.Site{Seed: 7, Tier: 1})
	a.Renew(table)
	b.Renew(table)
	for i := range uint32(4000) {
		now := unit.Time(i) * unit.Microsecond
		ports[i%8].Queued = int32(i * 2654435761 % 90_000)
		flow := i * 40503 % 97
		x := a.Pick(now, table.Ports(group), int(group), flow, ports)
		y := b.Pick(now, table.Ports(group), int(group), flow, ports)
		if !slices.Contains(table.Ports(group), x) {
			t.Fatalf("path choice %s picks port %d, which is not in the group %v", p.Name, x, table.Ports(group))
		}
		if x != y {
			t.Fatalf("path choice %s picks port %d and port %d for the same packets", p.Name, x, y)
		}
		if i == 2000 {
			a.Renew(table)
			b.Renew(table)
		}
	}
	if a.Moved() != b.Moved() || a.Moved() < 0 {
		t.Errorf("path choice %s counts %d and %d moves for the same packets", p.Name, a.Moved(), b.Moved())
	}
	n := uint32(0)
	if got := testing.AllocsPerRun(1000, func() {
		n++
		a.Pick(unit.Time(n)*unit.Millisecond, table.Ports(group), int(group), n%97, ports)
	}); got > 0 {
		t.Errorf("path choice %s allocates memory for a packet", p.Name)
	}
}

// Importer tests an importer with a file of its format: the file is recognized by its first bytes, another text is not,
// and all flows are between different GPUs of those that it counts.
func Importer(t *testing.T, i extend.Importer, name string, text []byte) {
	t.Helper()
	if !i.Is(name, text[:min(len(text), 4096)]) || i.Is("notes.txt", []byte("a letter to nobody\n")) {
		t.Errorf("importer %s does not tell its files from others", i.Name)
	}
	gpus, flows, err := i.Read(name, text)
	if err != nil || len(flows) == 0 {
		t.Fatalf("importer %s reads %d flows: %v", i.Name, len(flows), err)
	}
	for n, f := range flows {
		if f.Src == f.Dst || min(f.Src, f.Dst) < 0 || max(f.Src, f.Dst) >= gpus || f.Bytes < 1 || f.Start < 0 {
			t.Errorf("importer %s: flow %d of %d GPUs is %+v", i.Name, n, gpus, f)
		}
	}
	for n := range len(text) {
		i.Read(name, text[:n]) // returns an error or less, and does not panic
	}
}

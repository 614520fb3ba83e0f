package diagnose_test

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/internal/counters"
	"railyard/internal/counters/planted"
	"railyard/internal/diagnose"
	"railyard/internal/long"
)

// A blind fabric is a scenario whose first lines say what is wrong with it. They were written before anybody
// looked how diagnose works (docs/diagnose.md has the scores of before and after):
//
//	culprit: CAUSE at DEVICE to PEER   must be found, and its cause first among faults of that place
//	also: CAUSE at DEVICE              may be found beside
//	healthy                            nothing but congestion may be found
//	unseen: SYSTEM ... (why)           what these systems print cannot tell it
//	without: NAME                      these devices gave no outputs, * stands for anything
//	systems: mixed                     devices are of three systems by turn
//	counters: wrap                     every counter wraps in between
//	beside: FILE                       the scenario of what was planned
type blind struct {
	name, text    string
	culprit, also []accusation
	of            map[string][]string
	kept          map[string][]counters.Snapshot // of its files, once they are read
}

// accusation is a cause and who; to is the other end where it is a cable.
type accusation struct{ cause, at, to string }

func accuse(s string) (a accusation) {
	w := strings.Fields(s)
	a.cause = w[0]
	for i := 1; i+1 < len(w); i += 2 {
		switch w[i] {
		case "at":
			a.at = w[i+1]
		case "to":
			a.to = w[i+1]
		}
	}
	return a
}

// fits reports whether a finding is what was said.
func (a accusation) fits(x *diagnose.Finding) bool {
	peer, _, _ := strings.Cut(x.Peer, " ")
	is := func(name string) bool { return name == "" || name == x.Device || name == peer }
	return a.cause == x.Cause && is(a.at) && is(a.to)
}

func readBlind(t *testing.T, file string) *blind {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b := &blind{name: strings.TrimSuffix(filepath.Base(file), ".yaml"), text: string(text),
		of: map[string][]string{}}
	for l := range strings.Lines(b.text) {
		l, is := strings.CutPrefix(strings.TrimSpace(l), "# ")
		key, value, _ := strings.Cut(l, ":")
		if value = strings.TrimSpace(value); !is {
			break
		}
		switch key {
		case "culprit":
			b.culprit = append(b.culprit, accuse(value))
		case "also":
			b.also = append(b.also, accuse(value))
		default:
			b.of[key] = append(b.of[key], value)
		}
	}
	if len(b.culprit) == 0 && b.of["healthy"] == nil {
		t.Fatalf("%s does not say what is to be found", file)
	}
	return b
}

// few are fabrics that every run of the tests looks at: small ones, one of each kind of fault, of one system
// by turn. Long tests look at all of them, of all systems.
var few = []string{"01-", "03-", "13-", "20-", "23-", "27-", "38-", "43-", "45-", "47-", "51-",
	"102-", "107-", "113-", "202-", "216-", "221-", "237-", "241-"}

// TestBlind: what blind fabrics have is found, whatever their systems are, and nobody else is named.
func TestBlind(t *testing.T) {
	files, err := filepath.Glob("testdata/blind/*.yaml")
	if err != nil || len(files) < 130 {
		t.Fatal(len(files), err)
	}
	looked := 0
	for _, file := range files {
		name := filepath.Base(file)
		chosen := slices.ContainsFunc(few, func(s string) bool { return strings.HasPrefix(name, s) })
		if strings.Contains(name, ".plan.") || !chosen && !long.On() {
			continue
		}
		looked++
		t.Run(strings.TrimSuffix(name, ".yaml"), func(t *testing.T) {
			b := readBlind(t, file)
			systems := []string{"nxos", "eos", "sonic"}
			if !long.On() {
				systems = slices.DeleteFunc(systems, func(s string) bool { return slices.Contains(b.unseen(), s) })
				systems = systems[looked%len(systems):][:1]
			}
			f := planted.Fault{Name: b.name, Changes: b.text, Open: true}
			seen, err := f.Simulate("nxos")
			if err != nil {
				t.Fatal(err)
			}
			for _, system := range systems {
				b.check(t, system, b.diagnosed(t, seen, system))
			}
		})
	}
}

// unseen are the systems whose outputs cannot tell what is wrong.
func (b *blind) unseen() (systems []string) {
	for _, s := range b.of["unseen"] {
		named, _, _ := strings.Cut(s, "(")
		systems = append(systems, strings.Fields(named)...)
	}
	return systems
}

// check compares a diagnosis with what is true.
func (b *blind) check(t *testing.T, system string, r *diagnose.Report) {
	t.Helper()
	for _, c := range b.culprit {
		found := slices.ContainsFunc(r.Findings, func(x diagnose.Finding) bool { return c.fits(&x) })
		if !found && !slices.Contains(b.unseen(), system) {
			t.Errorf("%s: %s of %s is not found, but %s", system, c.cause, c.at, told(r))
		}
	}
	for i := range r.Findings {
		x := &r.Findings[i]
		fits := func(a accusation) bool { return a.fits(x) }
		if x.Grade == diagnose.Fault && !slices.ContainsFunc(slices.Concat(b.culprit, b.also), fits) {
			t.Errorf("%s: a wrong culprit: %s of %s %s: %s", system, x.Cause, x.Device, x.Port, x.Says)
		}
	}
}

func told(r *diagnose.Report) string {
	s := ""
	for i := range r.Findings {
		x := &r.Findings[i]
		s += fmt.Sprintf("%s of %s %s (%v, %v); ", x.Cause, x.Device, x.Port, x.Grade, x.Sure)
	}
	return "found: " + s
}

// diagnosed returns what diagnose says of the outputs of a fabric.
func (b *blind) diagnosed(t *testing.T, seen *planted.Seen, system string) *diagnose.Report {
	t.Helper()
	as := b.as(t, seen, system)
	if b.of["counters"] != nil {
		for i := range as.Before {
			wrap(&as.Before[i], &as.After[i])
		}
	}
	in := diagnose.Input{}
	before, after := map[string][]byte{}, map[string][]byte{}
	for i, d := range as.Before {
		if b.mute(d.Device) {
			continue
		}
		prints := b.system(i, system)
		if d.Kind == counters.Host {
			prints = "host"
		}
		before[d.Device], after[d.Device] = counters.Show(prints, d), counters.Show(prints, as.After[i])
	}
	in.Before, in.After = read(t, "before", before), read(t, "after", after)
	for _, file := range b.of["beside"] {
		in.Simulated = b.planned(t, filepath.Join("testdata", "blind", file), system)
		in.SimTook = as.After[0].At.Sub(as.Before[0].At)
	}
	r, err := diagnose.Diagnose(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range r.Findings {
		of := slices.IndexFunc(diagnose.Causes(), func(c *diagnose.Cause) bool { return c.Name == x.Cause })
		lists := diagnose.Causes()[of].By
		for _, e := range x.Evidence {
			listed := func(by string) bool { return strings.Contains(e.Counter, by) }
			if e.Says == "" && !slices.ContainsFunc(lists, listed) {
				t.Errorf("%s rests on %q, which it does not list: %q", x.Cause, e.Counter, lists)
			}
		}
	}
	return r
}

// system is that of the device of a number.
func (b *blind) system(i int, system string) string {
	if b.of["systems"] == nil {
		return system
	}
	all := []string{"nxos", "eos", "sonic"}
	return all[(i+slices.Index(all, system))%len(all)]
}

// as is a fabric whose switches are of a system, or of all by turn, who name each other's ports as each of
// them does.
func (b *blind) as(t *testing.T, seen *planted.Seen, system string) *planted.Seen {
	t.Helper()
	of := map[string]*planted.Seen{}
	for _, s := range []string{"nxos", "eos", "sonic"} {
		as, err := seen.As(s)
		if err != nil {
			t.Fatal(err)
		}
		of[s] = as
	}
	mixed := *of[system]
	mixed.Before, mixed.After = slices.Clone(mixed.Before), slices.Clone(mixed.After)
	if b.of["systems"] == nil {
		return &mixed
	}
	at := map[string]int{}
	for i := range mixed.Before {
		at[mixed.Before[i].Device] = i
	}
	for i := range mixed.Before {
		own := of[b.system(i, system)]
		mixed.Before[i], mixed.After[i] = own.Before[i], own.After[i]
		for k := range mixed.After[i].Ports {
			for _, p := range []*counters.Port{&mixed.Before[i].Ports[k], &mixed.After[i].Ports[k]} {
				if far, ok := at[p.Peer.Device]; ok {
					p.Peer.Port = of[b.system(far, system)].After[i].Ports[k].Peer.Port
				}
			}
		}
	}
	return &mixed
}

func (b *blind) mute(device string) bool {
	return slices.ContainsFunc(b.of["without"], func(pattern string) bool {
		ok, _ := path.Match(pattern, device)
		return ok
	})
}

// planned returns what a scenario's devices count, from nothing.
func (b *blind) planned(t *testing.T, file, system string) (all []counters.Snapshot) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f := planted.Fault{Name: filepath.Base(file), Changes: string(text)}
	seen, err := f.Simulate(system)
	if err != nil {
		t.Fatal(err)
	}
	for i := range seen.After {
		d, err := counters.Delta(seen.Before[i], seen.After[i])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d.Snapshot)
	}
	return all
}

// wrap has every counter that counted pass the end of its bits in between.
func wrap(before, after *counters.Snapshot) {
	for i := range before.Ports {
		var was []*counters.Count
		before.Ports[i].Each(func(_ string, c *counters.Count, _ bool) { was = append(was, c) })
		k := 0
		after.Ports[i].Each(func(name string, c *counters.Count, gauge bool) {
			from := was[k]
			k++
			if gauge || !c.Is || c.V == from.V {
				return
			}
			grew, top := c.V-from.V, ^uint64(0)
			if counters.Wraps(name) {
				top = 1<<32 - 1
			}
			from.V = top - grew/3
			c.V = (from.V + grew) & top
		})
	}
}

// TestBlindHeads keeps the sets whole: kinds of fabrics, of faults and of workloads.
func TestBlindHeads(t *testing.T) {
	files, _ := filepath.Glob("testdata/blind/*.yaml")
	causes, all := map[string]bool{}, ""
	for _, file := range files {
		if strings.Contains(file, ".plan.") {
			continue
		}
		b := readBlind(t, file)
		all += b.text
		for _, c := range b.culprit {
			causes[c.cause] = true
		}
	}
	for _, c := range diagnose.Causes() {
		if !causes[c.Name] && c.Name != "incast" && c.Name != "pause-ring" && c.Name != "link-pause" {
			t.Errorf("no blind fabric has %s; there are %v", c.Name, slices.Sorted(maps.Keys(causes)))
		}
	}
	for _, s := range []string{"alltoall", "incast", "permutation", "ring-allreduce", "storage:", "dual-rail",
		"rail-only", "fat-tree", "graph", "100Gbps", "200Gbps", "400Gbps", "800Gbps"} {
		if !strings.Contains(all, s) {
			t.Errorf("no blind fabric has %s", s)
		}
	}
}

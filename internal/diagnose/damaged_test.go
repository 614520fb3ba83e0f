package diagnose_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"railyard/internal/counters"
	"railyard/internal/counters/planted"
	"railyard/internal/diagnose"
	"railyard/internal/long"
)

// damages are the ways in which the outputs of one device lose something between the device and the reader.
var damages = []struct {
	name string
	do   func(r *rand.Rand, text []byte) []byte // nil: the file is missing
}{
	{"missing file", func(*rand.Rand, []byte) []byte { return nil }},
	{"cut file", func(r *rand.Rand, text []byte) []byte { return text[:r.IntN(max(1, len(text)))] }},
	{"missing lines", func(r *rand.Rand, text []byte) []byte {
		at := counted.FindAllIndex(text, -1)
		lines := bytes.SplitAfter(text, []byte("\n"))
		share := []int{40, 4}[r.IntN(2)]
		return bytes.Join(slices.DeleteFunc(lines, func(l []byte) bool {
			return counted.Match(l) && len(at) > 0 && r.IntN(share) == 0
		}), nil)
	}},
	{"unreadable tokens", func(r *rand.Rand, text []byte) []byte {
		share := []int{40, 4}[r.IntN(2)]
		return counted.ReplaceAllFunc(text, func(n []byte) []byte {
			if r.IntN(share) > 0 {
				return n
			}
			return append(bytes.Repeat([]byte("?"), len(n)-1), n[len(n)-1])
		})
	}},
	{"a character", numbers(func(r *rand.Rand, n []byte) []byte {
		at := r.IntN(len(n))
		return slices.Concat(n[:at], []byte([]string{"?", "O"}[r.IntN(2)]), n[at+1:])
	})},
	{"a sign", numbers(func(_ *rand.Rand, n []byte) []byte { return append([]byte("-"), n...) })},
	{"no value", numbers(func(r *rand.Rand, n []byte) []byte {
		none := []string{"-", "N/A", "", strings.Repeat(" ", len(n))}
		return []byte(none[r.IntN(len(none))])
	})},
	{"divided numbers", numbers(func(r *rand.Rand, n []byte) []byte {
		at := 1 + r.IntN(len(n)-1)
		return slices.Concat(n[:at], []byte([]string{" ", "\n"}[r.IntN(2)]), n[at:])
	})},
	{"narrow terminal", func(r *rand.Rand, text []byte) (out []byte) {
		width := 30 + r.IntN(50)
		for l := range bytes.Lines(text) {
			for ; len(l) > width+1; l = l[width:] {
				out = append(append(out, l[:width]...), '\n')
			}
			out = append(out, l...)
		}
		return out
	}},
	{"joined spaces", func(_ *rand.Rand, text []byte) []byte { return spaces.ReplaceAll(text, []byte(" ")) }},
	{"messages between", func(r *rand.Rand, text []byte) (out []byte) {
		message := []string{" --More-- \r          \r", "--More--\n",
			"2026 Nov 30 06:00:00 leaf %ETHPORT-5-IF_DOWN: Interface Ethernet1/1 is down 17\n"}[r.IntN(3)]
		for l := range bytes.Lines(text) {
			if r.IntN(20) == 0 {
				out = append(out, message...)
			}
			out = append(out, l...)
		}
		return out
	}},
}

// spaces are the columns of a table.
var spaces = regexp.MustCompile(` {2,}`)

// numbers damages some counters of a text.
func numbers(damage func(r *rand.Rand, n []byte) []byte) func(r *rand.Rand, text []byte) []byte {
	return func(r *rand.Rand, text []byte) []byte {
		share := []int{40, 4}[r.IntN(2)]
		return counted.ReplaceAllFunc(text, func(n []byte) []byte {
			if r.IntN(share) > 0 {
				return n
			}
			return slices.Concat(damage(r, n[:len(n)-1]), n[len(n)-1:])
		})
	}
}

// counted is a number that stands alone, as counters do, and what is behind it: no list of priorities ("3,4"), which
// is a setting, empty or not.
var counted = regexp.MustCompile(`\b([0-9]{2,}|[0-9]{1,3}(,[0-9]{3})+)\s`)

// readable reads what can be read; a file that is refused as a whole says nothing. kept are the snapshots of files
// that were read before, by name and text.
func readable(dir string, sessions map[string][]byte, kept map[string][]counters.Snapshot) (all []counters.Snapshot) {
	for _, name := range slices.Sorted(maps.Keys(sessions)) {
		file := dir + "/" + name + ".txt"
		got, ok := kept[file+string(sessions[name])]
		if !ok {
			got, _, _ = counters.Read(file, sessions[name])
		}
		all = append(all, got...)
	}
	return all
}

// TestDamagedSnapshots: what is missing from snapshots, or cannot be read, is no evidence. Outputs of blind
// fabrics lose files, lines, ends and numbers, in the earlier snapshot or the later one, and no fault is named
// that the fabric does not have.
func TestDamagedSnapshots(t *testing.T) {
	files, err := filepath.Glob("testdata/blind/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	chosen, draws, systems := []string{"13-", "27-", "45-", "107-"}, 3, 1
	if long.On() {
		chosen, draws, systems = few, 3, 3
	}
	wrong, looked, found, faults := map[string]int{}, 0, 0, 0
	for n, file := range files {
		is := func(s string) bool { return bytes.HasPrefix([]byte(filepath.Base(file)), []byte(s)) }
		if !slices.ContainsFunc(chosen, is) || bytes.Contains([]byte(file), []byte(".plan.")) {
			continue
		}
		b := readBlind(t, file)
		f := planted.Fault{Name: b.name, Changes: b.text, Open: true}
		seen, err := f.Simulate("nxos")
		if err != nil {
			t.Fatal(err)
		}
		for i := range systems {
			system := counters.Systems[(n+i)%3]
			as, err := seen.As(system)
			if err != nil {
				t.Fatal(err)
			}
			before, after := as.Sessions(system)
			names := slices.Sorted(maps.Keys(before))
			names = slices.DeleteFunc(names, b.mute)
			neighbours := neighbours(as)
			b.kept = map[string][]counters.Snapshot{}
			for dir, sessions := range map[string]map[string][]byte{"before": before, "after": after} {
				for name, text := range sessions {
					file := dir + "/" + name + ".txt"
					b.kept[file+string(text)], _, _ = counters.Read(file, text)
				}
			}
			whole, all := b.accused(t, before, after, names, neighbours, nil)
			r := rand.New(rand.NewPCG(uint64(n)+long.Seed(), uint64(i)))
			for range draws {
				for _, d := range damages {
					looked++
					was, is := maps.Clone(before), maps.Clone(after)
					at := was
					if r.IntN(2) == 0 {
						at = is
					}
					for range 1 + r.IntN(len(names)/2) {
						name := names[r.IntN(len(names))]
						if text := d.do(r, at[name]); text != nil {
							at[name] = text
						} else {
							delete(at, name)
						}
					}
					accused, still := b.accused(t, was, is, names, neighbours, whole)
					found, faults = found+still, faults+all
					for x := range accused {
						if wrong[x]++; wrong[x] == 1 {
							t.Errorf("%s, %s, %s: %s", b.name, system, d.name, x)
						}
					}
				}
			}
		}
	}
	t.Logf("figure: %d diagnoses of damaged snapshots, seed %d: %d wrong names, %d of %d faults found", looked,
		long.Seed(), len(wrong), found, faults)
	if looked < 4*len(damages)*draws*systems {
		t.Errorf("only %d diagnoses of damaged snapshots", looked)
	}
}

// neighbours are the devices at the other ends of ports.
func neighbours(as *planted.Seen) map[string]string {
	of := map[string]string{}
	for _, d := range as.After {
		for _, p := range d.Ports {
			of[d.Device+" "+p.Name] = p.Peer.Device
		}
	}
	return of
}

// accused judges what the outputs of devices say.
func (b *blind) accused(t *testing.T, before, after map[string][]byte, names []string,
	neighbours map[string]string, known map[string]bool) (out map[string]bool, found int) {
	t.Helper()
	mute := func(m map[string][]byte) map[string][]byte {
		m = maps.Clone(m)
		maps.DeleteFunc(m, func(name string, _ []byte) bool { return !slices.Contains(names, name) })
		return m
	}
	was, is := readable("before", mute(before), b.kept), readable("after", mute(after), b.kept)
	return b.judge(t, was, is, neighbours, known)
}

// judge returns the faults that a diagnosis names and that the fabric does not have, without those of known, and
// what is called proven though the truth is another, and how many of its faults are found.
func (b *blind) judge(t *testing.T, was, is []counters.Snapshot, neighbours map[string]string,
	known map[string]bool) (out map[string]bool, found int) {
	t.Helper()
	r, err := diagnose.Diagnose(diagnose.Input{Before: was, After: is})
	if err != nil {
		return nil, 0 // refused: nobody is named
	}
	for _, c := range b.culprit {
		if slices.ContainsFunc(r.Findings, func(x diagnose.Finding) bool { return c.fits(&x) }) {
			found++
		}
	}
	out = map[string]bool{}
	for i := range r.Findings {
		x := &r.Findings[i]
		place := *x
		if at, ok := strings.CutPrefix(x.Device, "neighbor of "); ok { // who that is, LLDP does not say any more
			place.Device = neighbours[at]
		}
		// What tells one cause from another may be what is missing: at its own place, another is possible.
		fits := func(a accusation) bool {
			if place.Sure == diagnose.Possible {
				a.cause = place.Cause
			}
			return a.fits(&place)
		}
		who := fmt.Sprintf("%s of %s", x.Cause, x.Device)
		if x.Grade == diagnose.Fault && !known[who] && !slices.ContainsFunc(slices.Concat(b.culprit, b.also), fits) {
			out[who] = true
			if known != nil {
				t.Logf("%v: %s", x.Sure, x.Says)
			}
		}
	}
	return out, found
}

package diagnose_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/internal/counters"
	"railyard/internal/counters/planted"
	"railyard/internal/diagnose"
	"railyard/internal/diagnose/readings"
)

// TestIncompleteSnapshots: a device whose output is missing, empty, no text or cut in one snapshot is named as
// incomplete with the counters that it lacks, on every system, and nothing says that it needs no repair. Whole outputs
// are not incomplete.
func TestIncompleteSnapshots(t *testing.T) {
	files, err := filepath.Glob("testdata/blind/13-*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	b := readBlind(t, files[0])
	seen, err := (&planted.Fault{Name: b.name, Changes: b.text, Open: true}).Simulate("nxos")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, system := range counters.Systems[:3] {
		as, err := seen.As(system)
		if err != nil {
			t.Fatal(err)
		}
		before, after := as.Sessions(system)
		names := slices.Sorted(maps.Keys(before))
		if x := incomplete(t, before, after); len(x.Incomplete) > 0 {
			t.Errorf("%s: whole outputs are incomplete: %v", system, x.Incomplete)
		}
		for _, name := range []string{names[0], names[len(names)-1]} {
			for at, of := range map[string]map[string][]byte{"earlier": before, "later": after} {
				whole := of[name]
				for _, text := range [][]byte{nil, {}, {0, 1, 2}, cutAtLine(r, whole), cutAtLine(r, whole),
					whole[:len(whole)*r.IntN(50)/100]} {
					if text == nil {
						delete(of, name)
					} else {
						of[name] = text
					}
					x := incomplete(t, before, after)
					i := slices.IndexFunc(x.Incomplete, func(x diagnose.Incomplete) bool { return x.Device == name })
					if i < 0 || x.Incomplete[i].Why == "" || len(x.Incomplete) != 1 {
						t.Errorf("%s: %d of %d bytes of the %s output of %s: incomplete are %v", system, len(text),
							len(whole), at, name, x.Incomplete)
					}
					if all, err := json.Marshal(x); err != nil || bytes.Contains(all, []byte("Nothing needs repair")) {
						t.Errorf("%s: %s of %s: nothing needs repair, %v", system, at, name, err)
					}
				}
				of[name] = whole
			}
		}
	}
}

// cutAtLine returns the beginning of an output, up to the end of a line, without its last counters.
func cutAtLine(r *rand.Rand, text []byte) []byte {
	at := counted.FindAllIndex(text, -1)
	n := at[r.IntN(len(at)*3/4)][0]
	return text[:bytes.LastIndexByte(text[:n], '\n')+1]
}

// incomplete diagnoses outputs that are read from folders.
func incomplete(t *testing.T, before, after map[string][]byte) *diagnose.Report {
	t.Helper()
	dir := t.TempDir()
	for at, of := range map[string]map[string][]byte{"before": before, "after": after} {
		if err := os.Mkdir(filepath.Join(dir, at), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range of {
			if err := os.WriteFile(filepath.Join(dir, at, name+".txt"), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	in, _, err := readings.Snapshots("", []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	x, err := diagnose.Diagnose(in)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestIncompleteCounters: a counter that one of the snapshots lacks is named, and so is one that another output of the
// port shows in neither.
func TestIncompleteCounters(t *testing.T) {
	const before = "h1# ethtool -S eth0\n     rx_packets: 1000\n     rx_crc_errors_phy: 7\n     rx_prio3_pause: 5\n"
	const sent, crc, pause = "     rx_packets: 2000\n", "     rx_crc_errors_phy: 7\n", "     rx_prio3_pause: 5\n"
	for after, want := range map[string]string{
		sent + crc + pause: "",
		sent + crc:         "the later snapshot lacks PFC pauses received",
		sent + "     rx_crc_errors_phy: 7?\n" + pause:    "the later snapshot lacks CRC errors",
		sent + crc + pause + "     rx_discards_phy: 0\n": "the earlier snapshot lacks input discards",
	} {
		var of [2][]counters.Snapshot
		for i, text := range []string{before, "h1# ethtool -S eth0\n" + after} {
			var err error
			if of[i], _, err = counters.Read("h1.txt", []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		r, err := diagnose.Diagnose(diagnose.Input{Before: of[0], After: of[1]})
		if err != nil {
			t.Fatal(err)
		}
		why := ""
		for _, x := range r.Incomplete {
			why += x.Why
		}
		if why != want {
			t.Errorf("after\n%s: incomplete: %q, want %q (%s)", after, why, want, strings.Join(r.Notes, "; "))
		}
	}
}

// TestIdenticalSnapshots: the same outputs twice are no evidence of a healthy fabric; a device that is the same in both
// next to others that went on is incomplete. Time stamps that are equal are not called missing.
func TestIdenticalSnapshots(t *testing.T) {
	read := func(sent int, clock string) (all []counters.Snapshot) {
		for i, name := range []string{"h1", "h2"} {
			text := clock + name + "# ethtool -S eth0\n     rx_packets_phy: " + strings.Repeat("1", 3+i*sent) + "\n"
			got, _, err := counters.Read(name+".txt", []byte(strings.ReplaceAll(text, "$", name)))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, got...)
		}
		return all
	}
	const clock = "$# date +%s.%N\n1700000000.5\n"
	for _, c := range []struct {
		clock      string
		sent       int
		undecided  bool
		incomplete int
	}{{"", 0, true, 0}, {clock, 0, true, 0}, {"", 2, false, 0}, {clock, 2, false, 1}} {
		r, err := diagnose.Diagnose(diagnose.Input{Before: read(0, c.clock), After: read(c.sent, c.clock)})
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(r.Notes, "; "); strings.Contains(r.Undecided, "identical") != c.undecided ||
			len(r.Incomplete) != c.incomplete || c.clock != "" && strings.Contains(notes, "no time stamps") {
			t.Errorf("%+v: %q, %v, %s", c, r.Undecided, r.Incomplete, notes)
		}
	}
}

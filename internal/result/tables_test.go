package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"railyard/internal/long"

	"pgregory.net/rapid"
)

// Properties are drawn 40 times, or 400 when long tests run.
var _ = long.Draws(40, 400)

// random fills a struct of plain fields.
func random(t *rapid.T, v reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Int64, reflect.Int32:
			bits := f.Type().Bits()
			f.SetInt(rapid.Int64Range(-1<<(bits-1), 1<<(bits-1)-1).Draw(t, "int"))
		case reflect.Float64:
			f.SetFloat(rapid.Float64().Draw(t, "float"))
		case reflect.Struct: // stored in a separate table
		case reflect.String:
			f.SetString(rapid.SampledFrom([]string{"", "host-1/gpu-1", "leaf:Eth3", "ä → ü",
				"\"\n\\"}).Draw(t, "text"))
		default:
			t.Fatalf("a table has a %v", f.Kind())
		}
	}
}

func rows[T any](t *rapid.T) []T {
	out := make([]T, rapid.IntRange(0, 40).Draw(t, "rows"))
	for i := range out {
		random(t, reflect.ValueOf(&out[i]).Elem())
	}
	return out
}

func back[T any](t *rapid.T, dir, name string, want []T) {
	got, err := ReadTable[T](dir, name)
	if err != nil || len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: %v\n%v\n%v", name, err, got, want)
	}
	if n, err := TableRows(dir, name); err != nil || n != int64(len(want)) {
		t.Fatalf("%s has %d rows, says %d: %v", name, len(want), n, err)
	}
}

// Every table reads back as it was written, for any content: no column is lost, swapped or truncated.
func TestTablesRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		w := &Tables{Flows: rows[FlowRow](rt), Links: rows[LinkRow](rt), Ports: rows[PortRow](rt),
			Pauses: rows[PauseRow](rt), Ranks: rows[RankRow](rt), Paths: rows[PathRow](rt),
			QPs:     rows[QPRow](rt),
			Signals: rows[SignalRow](rt), Collectives: rows[CollectiveRow](rt), Causes: rows[CauseRow](rt),
			Critical: rows[CriticalRow](rt)}
		if err := fill(dir, manifest(1), &Summary{Version: "x"}, w); err != nil {
			rt.Fatal(err)
		}
		back(rt, dir, "flows", w.Flows)
		back(rt, dir, "links", w.Links)
		back(rt, dir, "ports", w.Ports)
		back(rt, dir, "pauses", w.Pauses)
		back(rt, dir, "ranks", w.Ranks)
		back(rt, dir, "paths", w.Paths)
		back(rt, dir, "qps", w.QPs)
		back(rt, dir, "signals", w.Signals)
		back(rt, dir, "collectives", w.Collectives)
		back(rt, dir, "causes", w.Causes)
		back(rt, dir, "critical", w.Critical)
	})
}

// A table's JSON names are its columns; the page's contract depends on that.
func TestColumnsAreNames(t *testing.T) {
	for _, row := range []any{FlowRow{}, LinkRow{}, PortRow{}, PauseRow{}, RankRow{}, PathRow{},
		QPRow{}, SignalRow{},
		CollectiveRow{}, CauseRow{}, CriticalRow{}} {
		r := reflect.TypeOf(row)
		seen := map[string]bool{}
		for i := range r.NumField() {
			column, _, _ := strings.Cut(r.Field(i).Tag.Get("parquet"), ",")
			if name := r.Field(i).Tag.Get("json"); column != "-" && (name != column || name == "" || seen[name]) {
				t.Errorf("%v.%s is %q in JSON, %q in Parquet", r, r.Field(i).Name, name, column)
			}
			seen[column] = true
		}
	}
}

// A truncated or damaged file is an error or gives other rows, and never a panic.
func TestDamagedTables(t *testing.T) {
	dir := t.TempDir()
	w := &Tables{}
	for i := range int64(300) {
		w.Flows = append(w.Flows, FlowRow{Message: i, From: fmt.Sprint("host-", i%7), To: "x",
			Bytes: i * i, Done: -1})
	}
	if err := fill(dir, manifest(1), &Summary{Version: "x"}, w); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "flows.parquet")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	try := func(b []byte) error {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := TableRows(dir, "flows"); err != nil {
			return err
		}
		_, err := ReadTable[FlowRow](dir, "flows")
		return err
	}
	for n := 0; n < len(whole); n += 1 + len(whole)/150 {
		if try(whole[:n]) == nil {
			t.Errorf("the first %d of %d bytes are read as a table", n, len(whole))
		}
	}
	for n := 0; n < len(whole); n += 1 + len(whole)/400 {
		for _, flip := range []byte{1, 0x80, 0xff} {
			b := slices.Clone(whole)
			b[n] ^= flip
			_ = try(b)
		}
	}
	if err := try(whole); err != nil {
		t.Error(err)
	}
	if _, err := ReadTable[FlowRow](dir, "nothing"); err == nil ||
		!strings.Contains(err.Error(), "nothing.parquet") {
		t.Errorf("%v", err)
	}
}

// event is a line of a trace.
type event struct {
	Ph, Name, Cat string
	Pid, Tid      int
	Ts, Dur       float64
	Args          map[string]string
}

func trace(t testing.TB, w *Tables) (slices []event, tracks map[[2]int]string) {
	t.Helper()
	var b bytes.Buffer
	if err := Trace(&b, w); err != nil {
		t.Fatal(err)
	}
	var all struct{ TraceEvents []event }
	if err := json.Unmarshal(b.Bytes(), &all); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	tracks = map[[2]int]string{}
	for _, e := range all.TraceEvents {
		switch {
		case e.Ph == "X":
			slices = append(slices, e)
		case e.Name == "thread_name":
			tracks[[2]int{e.Pid, e.Tid}] = e.Args["name"]
		}
	}
	return slices, tracks
}

// A port that is paused in two priorities shows both, each for its duration. A port paused at the end of the run is
// shown paused to the end, as in a deadlock.
func TestTracePausesByPriority(t *testing.T) {
	us := int64(1_000_000)
	slices, tracks := trace(t, &Tables{Ports: []PortRow{{Name: "a:Eth1"}, {Name: "b:Eth2"}},
		Ranks: []RankRow{{Start: 0, End: 100 * us, Class: "forward", Name: "forward"}},
		Pauses: []PauseRow{
			{At: 10 * us, What: "xoff", Port: 0, Priority: 3}, // at the ingress: none of the sender's
			{At: 11 * us, What: "pause", Port: 1, Priority: 3},
			{At: 12 * us, What: "pause", Port: 1, Priority: 4},
			{At: 15 * us, What: "pause", Port: 1, Priority: 3}, // refreshed
			{At: 20 * us, What: "resume", Port: 1, Priority: 3},
			{At: 31 * us, What: "resume", Port: 1, Priority: 4},
			{At: 40 * us, What: "resume", Port: 1, Priority: 4},
			{At: 60 * us, What: "pause", Port: 0, Priority: 3},
		}})
	var got []string
	for _, s := range slices {
		got = append(got, fmt.Sprintf("%s %g-%g", tracks[[2]int{s.Pid, s.Tid}], s.Ts, s.Ts+s.Dur))
	}
	want := "rank 0 compute 0-100, b:Eth2 priority 3 11-20, b:Eth2 priority 4 12-31, a:Eth1 priority 3 60-100"
	if strings.Join(got, ", ") != want {
		t.Errorf("%s\nwant\n%s", strings.Join(got, ", "), want)
	}
}

// For any tables a trace is JSON, every track has a name, and slices have exact lengths, to the picosecond.
func TestTraceShowsEverything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := &Tables{Ports: []PortRow{{Name: "a:Eth1"}, {Name: `"b"`}, {Name: "c\n"}}}
		var ran, paused int64
		at := int64(0)
		for range rapid.IntRange(0, 30).Draw(rt, "operations") {
			at += rapid.Int64Range(0, 1e9).Draw(rt, "gap")
			d := rapid.Int64Range(0, 1e12).Draw(rt, "length")
			class := rapid.SampledFrom([]string{"forward", "tensor"}).Draw(rt, "class")
			w.Ranks = append(w.Ranks, RankRow{Rank: rapid.Int32Range(0, 5).Draw(rt, "rank"),
				Start: at, End: at + d,
				Class: class, Name: rapid.SampledFrom([]string{class, "layer \"3\""}).Draw(rt, "name")})
			ran += d
		}
		at = 0
		for range rapid.IntRange(0, 20).Draw(rt, "pauses") {
			p := PauseRow{Port: rapid.Int32Range(0, 2).Draw(rt, "port"),
				Priority: rapid.Int32Range(0, 7).Draw(rt, "priority")}
			d := rapid.Int64Range(0, 1e12).Draw(rt, "length")
			from, to := p, p
			from.What, from.At = "pause", at
			to.What, to.At = "resume", at+d
			w.Pauses = append(w.Pauses, from, to)
			at, paused = at+d+1, paused+d
		}
		slices, tracks := trace(t, w)
		var gotRan, gotPaused int64
		for _, s := range slices {
			ps := int64(math.Round(s.Dur * 1e6))
			if tracks[[2]int{s.Pid, s.Tid}] == "" || s.Dur < 0 {
				rt.Fatalf("%+v", s)
			}
			if s.Pid == 1 {
				gotRan += ps
			} else {
				gotPaused += ps
			}
		}
		if len(slices) != len(w.Ranks)+len(w.Pauses)/2 || gotRan != ran || gotPaused != paused {
			rt.Fatalf("%d slices, %d and %d ps, want %d and %d", len(slices), gotRan, gotPaused, ran, paused)
		}
	})
}

package trace

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/story"
)

// dump is a rank's Flight Recorder from a short text. Lines are
//
//	group NAME DESC [ranks]
//	NUMBER COLLECTIVE GROUP dims dtype at state     at in us
func dump(text string) map[string]any {
	config, entries := map[string]any{}, []any{}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		var name, desc, ranks, what, dims, kind, state string
		var seq, at int64
		if n, _ := fmt.Sscanf(line, "group %s %s %s", &name, &desc, &ranks); n == 3 {
			config[name] = map[string]any{"name": name, "desc": desc, "ranks": ranks}
			continue
		}
		if n, err := fmt.Sscanf(line, "%d %s %s %s %s %d %s", &seq, &what, &name, &dims, &kind, &at,
			&state); n != 7 {
			panic(fmt.Sprint(line, err))
		}
		shape := []any{}
		for _, d := range strings.Split(dims, "x") {
			var n int64
			fmt.Sscan(d, &n)
			shape = append(shape, n)
		}
		desc = ""
		if g, ok := config[name].(map[string]any); ok {
			desc = g["desc"].(string)
		}
		entries = append(entries, map[string]any{"record_id": int64(len(entries)), "pg_id": int64(0),
			"process_group": []any{name, desc}, "collective_seq_id": seq, "p2p_seq_id": int64(0),
			"profiling_name": "nccl:" + strings.ReplaceAll(what, "~", " "), "state": state,
			"time_created_ns": 1724779239936775119 + 1000*at, "input_sizes": []any{shape},
			"input_dtypes": []any{kind}, "output_sizes": []any{shape}, "output_dtypes": []any{kind},
			"time_discovered_started_ns": nil, "retired": true, "frames": []any{
				map[string]any{"name": "all_reduce", "filename": "/x/torch/distributed/c10d.py",
					"line": int64(2)},
				map[string]any{"name": "step", "filename": "/home/me/train.py", "line": int64(44)}}})
	}
	return map[string]any{"version": "2.5", "pg_config": config, "entries": entries}
}

// pickle writes values as PyTorch's own writer does: protocol 2, without memoization.
func pickle(v any) []byte {
	var b []byte
	var put func(v any)
	put = func(v any) {
		switch v := v.(type) {
		case nil:
			b = append(b, 'N')
		case bool:
			b = append(b, map[bool]byte{true: 0x88, false: 0x89}[v])
		case int64:
			if v == int64(int32(v)) {
				b = binary.LittleEndian.AppendUint32(append(b, 'J'), uint32(v))
			} else {
				b = binary.LittleEndian.AppendUint64(append(b, 0x8a, 8), uint64(v))
			}
		case string:
			b = append(binary.LittleEndian.AppendUint32(append(b, 'X'), uint32(len(v))), v...)
			b = append(b, 'q', byte(len(b)))
		case []any:
			b = append(b, ']', '(')
			for _, x := range v {
				put(x)
			}
			b = append(b, 'e')
		case map[string]any:
			var keys []string
			for k := range v {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			b = append(b, '}', '(')
			for _, k := range keys {
				put(k)
				put(v[k])
			}
			b = append(b, 'u')
		}
	}
	b = append(b, 0x80, 2)
	put(v)
	return append(b, '.')
}

// The report of dumps on a hang, and the workload made of them; equal for JSON and pickle.
func TestRecorderStories(t *testing.T) {
	story.Cases(t, "recorder", func(input string) string {
		var said []string
		for _, form := range []string{"json", "pickle"} {
			var files []File
			for i, text := range strings.Split(input, "and\n") {
				d := dump(text)
				b, err := json.Marshal(d)
				if form == "pickle" {
					b = pickle(d)
				}
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, File{fmt.Sprintf("nccl_trace_rank_%d", i), b})
			}
			x, err := Read("", files...)
			if err != nil {
				said = append(said, err.Error())
				continue
			}
			text := ""
			for _, f := range x.Findings {
				text += "finding   " + f + "\n"
			}
			said = append(said, text+graph(x.DAG)+reported(x.Report))
		}
		if said[0] != said[1] {
			t.Errorf("as JSON\n%s\nas a pickle\n%s", said[0], said[1])
		}
		return said[0]
	})
}

// A file that is no dump is named as what it is.
func TestBadRecorder(t *testing.T) {
	for text, want := range map[string]string{
		`{"entries": []`:         "is not JSON: it ends within a value",
		`{"entries": 3}`:         "is not a dump of the Flight Recorder: it has no entries",
		`[]`:                     "is not a dump of the Flight Recorder",
		`{"entries": [3, {}]}`:   "no rank does anything",
		"\x80\x02cos\nsystem\n.": "GLOBAL would run code",
		"\x80\x02}":              "the file is truncated",
		`{"rank": 1e300, "entries":[{"profiling_name":"nccl:send 0->9"}]}`: "no rank does anything",
		`{"entries": [{"profiling_name": "nccl:all_reduce", "collective_seq_id": 99999999999999,
 "process_group": ["0", "x"], "input_sizes": [[1e40, -5]], "input_dtypes": ["Float"]}],
 "pg_config": {"0": {"ranks": [0, 1]}}}`: "no rank does anything",
	} {
		_, err := Read("flight-recorder", File{"f", []byte(text)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// Any dump ends in a graph or an error.
func FuzzRecorder(f *testing.F) {
	d := dump("group 0 default_pg [0,1]\n1 all_reduce 0 3x4 Float 0 completed\n" +
		"2 send~0->1 0 4 Half 10 scheduled")
	b, _ := json.Marshal(d)
	f.Add(b)
	f.Add(pickle(d))
	f.Fuzz(func(t *testing.T, text []byte) {
		if x, err := Read("flight-recorder", File{"f0", text}); err == nil && x.DAG == nil {
			t.Error("no graph")
		}
	})
}

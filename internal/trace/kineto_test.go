package trace

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"railyard/internal/story"
	"railyard/internal/workload"
	"railyard/unit"
)

// profile is a rank's profile as Kineto writes it, built from a short text. Lines are
//
//	rank R of N
//	step N from to
//	run name from to stream launch          a kernel; times in us
//	nccl name elements group from to stream launch
func profile(text string) []byte {
	type object = map[string]any
	out := object{"schemaVersion": 1}
	var events []object
	link := 100
	add := func(cat, name string, from, to float64, args object) {
		ts := json.Number(fmt.Sprintf("%.3f", 4e12+from))
		events = append(events, object{"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": to - from,
			"args": args})
	}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		var name, group string
		var n, world, stream int
		var from, to, launch float64
		scan := func(want int, format string, args ...any) {
			if got, err := fmt.Sscanf(strings.TrimSpace(line), format, args...); got != want {
				panic(fmt.Sprint(line, err))
			}
		}
		launched := func() object {
			link++
			add("cuda_runtime", "cudaLaunchKernel", launch, launch+5, object{"correlation": link})
			return object{"correlation": link, "stream": stream}
		}
		switch strings.Fields(line)[0] {
		case "rank":
			scan(2, "rank %d of %d", &n, &world)
			out["distributedInfo"] = object{"backend": "nccl", "rank": n, "world_size": world}
		case "step":
			scan(3, "step %d %f %f", &n, &from, &to)
			add("user_annotation", fmt.Sprintf("ProfilerStep#%d", n), from, to, object{})
		case "run":
			scan(5, "run %s %f %f %d %f", &name, &from, &to, &stream, &launch)
			add("kernel", name, from, to, launched())
		case "nccl":
			scan(7, "nccl %s %d %s %f %f %d %f", &name, &n, &group, &from, &to, &stream, &launch)
			args := launched()
			maps.Copy(args, object{"Collective name": name, "In msg nelems": n, "Out msg nelems": n,
				"dtype": "BFloat16", "Process Group Name": "7", "Process Group Description": "dp",
				"Process Group Ranks": "[" + group + "]"})
			add("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)", from, to, args)
		}
	}
	out["traceEvents"] = events
	b, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		panic(err)
	}
	return b
}

// graph describes a graph operation by operation, without those of zero time or bytes.
func graph(d *workload.DAG) string {
	waits := make([][]int32, len(d.Ops))
	for i := range d.Ops {
		for _, s := range d.Succ[d.First[i]:d.First[i+1]] {
			waits[s] = append(waits[s], int32(i))
		}
	}
	var real func(i int32) []int32 // dependencies of an operation, through operations of zero time
	real = func(i int32) (all []int32) {
		for _, w := range waits[i] {
			if o := &d.Ops[w]; o.Compute() && o.Dur == 0 {
				all = append(all, real(w)...)
			} else {
				all = append(all, w)
			}
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	var b strings.Builder
	for i := range d.Ops {
		o := &d.Ops[i]
		if o.Compute() && o.Dur == 0 {
			continue
		}
		if o.Compute() {
			fmt.Fprintf(&b, "%d: rank %d computes %v", i, o.Rank, o.Dur)
		} else {
			fmt.Fprintf(&b, "%d: %s: %v from %d to %d", i, d.Colls[o.Coll].Name, o.Bytes, o.Rank, o.Peer)
		}
		for k, w := range real(int32(i)) {
			sep := ", "
			if k == 0 {
				sep = " after "
			}
			fmt.Fprintf(&b, "%s%d", sep, w)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// reported returns the report's lines on the parts of a trace.
func reported(r Report) string {
	var b strings.Builder
	for _, part := range []struct {
		name string
		all  []Count
	}{{"mapped", r.Mapped}, {"assumed", r.Guessed}, {"left out", r.Left}} {
		for _, c := range part.all {
			fmt.Fprintf(&b, "%-9s %s\n", part.name, c.Words())
		}
	}
	return b.String()
}

// The operations made of a profile's kernels; each case has the profiles of one rank or several.
func TestKinetoStories(t *testing.T) {
	story.Cases(t, "kineto", func(input string) string {
		var files []File
		for i, text := range strings.Split(input, "and\n") {
			files = append(files, File{fmt.Sprintf("rank%d.json", i), profile(text)})
		}
		x, err := Read("", files...)
		if err != nil {
			return err.Error()
		}
		return graph(x.DAG) + reported(x.Report)
	})
}

// Gzipped, truncated or misplaced input: what is accepted and what is rejected.
func TestKinetoFiles(t *testing.T) {
	whole := profile("rank 0 of 2\nstep 3 0 500\nrun gemm 10 110 7 5\nstep 4 500 900\nrun gemm 510 610 7 505")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(whole)
	z.Close()
	for name, text := range map[string][]byte{"a.json": whole, "b.json.gz": packed.Bytes()} {
		x, err := Read("", File{name, text})
		if err != nil || x.DAG.Critical() != 100*unit.Microsecond || x.Format != "kineto" || x.Ranks != 2 {
			t.Errorf("%s: %+v, %v", name, x, err)
		}
	}
	cut := whole[:bytes.LastIndex(whole, []byte("cuda_runtime"))]
	x, err := Options{Step: 3}.Read(File{"a.json", cut})
	if err != nil || !strings.Contains(reported(x.Report), "truncated at the end of the file") {
		t.Error(x, err)
	}
	twice := bytes.Replace(whole, []byte(`"rank": 0`), []byte(`"rank": 1`), 1)
	for want, files := range map[string][]File{
		"b.json: is of a job of 3 ranks (world_size), and a.json of one of 2; accepted: files of one job": {
			{"a.json", whole}, {"b.json", bytes.Replace(twice, []byte(`"world_size": 2`),
				[]byte(`"world_size": 3`), 1)}},
		"a.json: has rank 7 and world_size 2 in distributedInfo": {
			{"a.json", bytes.Replace(whole, []byte(`"rank": 0`), []byte(`"rank": 7`), 1)}},
	} {
		if _, err := Read("kineto", files...); err == nil || err.Error() != want {
			t.Errorf("expected %q, found %v", want, err)
		}
	}
	other := func(was, is string) []byte { return bytes.Replace(whole, []byte(was), []byte(is), 1) }
	for _, c := range []struct {
		step int
		text []byte
		want string
	}{
		{9, whole, "step 9 is missing in some files; common steps: 3, 4"},
		{4, cut, "has no kernel in step 4"},
		{3, other(`"dur": 100`, `"dur": -100`), "has no kernel in step 3 that can be read; left out: events with an impossible time"},
		{0, whole[:20], "ends within a value of JSON"},
		{0, []byte(`{"schemaVersion": 1, "deviceProperties": []}`), "has no list of events"},
		{0, other(`"rank": 0`, `"rank": 999999`), "is of rank 999999 of 2, at most 131072 are read"},
		{0, other(`"world_size": 2`, `"world_size": 1000000`), "is of rank 0 of 1000000"},
		{0, other("},", "};"), "expected \",\": this is not JSON"},
		{0, profile("rank 0 of 3\nstep 1 0 50\nnccl allreduce 8 0,2 1 9 9 1"),
			"no file is of rank 1, and the groups of rank 0 follow no pattern"},
	} {
		_, err := Options{Step: c.step, Format: "kineto"}.Read(File{"a.json", c.text})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("expected %q, found %v", c.want, err)
		}
	}
}

// For any content of a profile, reading it returns a graph or an error.
func FuzzKineto(f *testing.F) {
	f.Add(profile("rank 0 of 2\nstep 3 0 500\nrun gemm 10 110 7 5\nnccl allreduce 1000 0,1 120 300 9 20"))
	f.Add(profile("rank 1 of 4\nnccl send 1000 1,2 120 300 9 20\nrun gemm 310 320 7 30"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if x, err := Read("kineto", File{"f", text}); err == nil && (x.DAG == nil || x.DAG.Critical() < 0) {
			t.Error("no graph")
		}
	})
}

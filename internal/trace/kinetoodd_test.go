package trace

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// odd is a profile of two steps, the second without a kernel, with replaced values.
func odd(stream, dur, last string) []byte {
	return []byte(`{"distributedInfo": {"rank": 0, "world_size": 2}, "traceEvents": [
		{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "ts": 1000, "dur": 900},
		{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "ts": 1900, "dur": ` + last + `},
		{"ph": "X", "cat": "cuda_runtime", "name": "launch", "ts": 1010, "dur": 5, "args": {"correlation": 1}},
		{"ph": "X", "cat": "cuda_runtime", "name": "launch", "ts": 1020, "dur": 5, "args": {"correlation": 2}},
		{"ph": "X", "cat": "cuda_runtime", "name": "launch", "ts": 1910, "dur": 5, "args": {"correlation": 3}},
		{"ph": "X", "cat": "kernel", "name": "gemm", "ts": 1050, "dur": ` + dur + `, "args": {"stream": ` + stream +
		`, "correlation": 1}},
		{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_Generic", "ts": 1150, "dur": 400, "args": {"stream": "0x9",
		 "correlation": 2, "Collective name": "allreduce", "In msg nelems": "8000000", "Out msg nelems": 8000000,
		 "dtype": "BFloat16", "Group size": 2, "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}}]}`)
}

// Profiles of ROCm and of a profiler that stopped early are accepted, and their oddities are reported.
func TestOddKineto(t *testing.T) {
	for _, c := range []struct{ stream, dur, last, want string }{
		{`7`, "100", "100", "step 4, in which rank0.json has no kernel: the previous step is used"},
		{`"0x0"`, "100", "100", "step 4, in which rank0.json has no kernel"},
		{`"0xffffffffffffff00"`, "100", "100", "step 4, in which rank0.json has no kernel"},
		{`null`, "100", "100", "step 4, in which rank0.json has no kernel"},
		{`7`, "null", "100", "kernels without a duration (dur), simulated without one: 1"},
		{`7`, "100", "null", "steps that have not ended (no dur): 1"},
		{`7`, "100", "-5", "steps with an impossible time: 1"},
	} {
		for _, keep := range []bool{false, true} {
			var kept bytes.Buffer
			o := Options{}
			if keep {
				o.Keep = func(string) io.Writer { return &kept }
			}
			x, err := o.Read(File{"rank0.json", odd(c.stream, c.dur, c.last)})
			if err != nil {
				t.Errorf("%+v: %v", c, err)
				continue
			}
			if s := reported(x.Report); !strings.Contains(s, c.want) || len(x.DAG.Colls) != 1 {
				t.Errorf("%+v: %s", c, s)
			}
			if !keep {
				continue
			}
			if !json.Valid(kept.Bytes()) {
				t.Errorf("%+v: what is kept is not JSON: %s", c, &kept)
			}
			y, err := Read("", File{"kept.json", kept.Bytes()})
			if err != nil || graph(y.DAG) != graph(x.DAG) {
				t.Errorf("%+v: what is kept is another: %v", c, err)
			}
		}
	}
	_, err := Options{Step: 4}.Read(File{"rank0.json", odd("7", "100", "100")})
	if err == nil || !strings.Contains(err.Error(), "has no kernel in step 4") {
		t.Error(err)
	}
	for _, size := range []string{`-5`, `1e30`, `8e6`, `"many"`, `99999999999999999999`} {
		text := bytes.ReplaceAll(odd("7", "100", "100"), []byte(`"In msg nelems": "8000000"`), []byte(`"In msg nelems": `+size))
		x, err := Read("", File{"rank0.json", text})
		if err != nil || len(x.DAG.Colls) > 0 ||
			!strings.Contains(reported(x.Report), "of unknown or impossible size, kept as computing of its length: 1") {
			t.Errorf("%s: %v, %s", size, err, reported(x.Report))
		}
	}
}

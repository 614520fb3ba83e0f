package trace

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// annotated is a profile as PyTorch wrote before 2.2: kernels of NCCL have no collective, no size and no group, and
// PyTorch's annotations have the first two. Each call is name, dims, type and stream.
func annotated(calls ...[4]string) []byte {
	var b strings.Builder
	b.WriteString(`{"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 8}, "traceEvents": [
		{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "tid": 7, "ts": 0, "dur": 9000}`)
	for i, c := range calls {
		at := 100 * (i + 1)
		fmt.Fprintf(&b, `,
		{"ph": "X", "cat": "kernel", "name": "gemm", "ts": %[1]d, "dur": 20, "args": {"stream": 3, "correlation": %[2]d}},
		{"ph": "X", "cat": "cuda_runtime", "name": "launch", "tid": 7, "ts": %[3]d, "dur": 2, "args": {"correlation": %[2]d}},
		{"ph": "X", "cat": "user_annotation", "name": "%[5]s", "tid": 8, "ts": %[4]d, "dur": 9, "args": {"Input Dims": [[1]], "Input type": ["int"]}},
		{"ph": "X", "cat": "user_annotation", "name": "%[5]s", "tid": 7, "ts": %[4]d, "dur": 9, "args": {"Input Dims": %[6]s, "Input type": %[7]s}},
		{"ph": "X", "cat": "cuda_runtime", "name": "launch", "tid": 7, "ts": %[4]d, "dur": 2, "args": {"correlation": %[9]d}},
		{"ph": "X", "cat": "kernel", "name": "ncclKernel_SendRecv(ncclDevComm*)", "ts": %[4]d, "dur": 40, "args": {"External id": %[9]d, "stream": %[8]s, "correlation": %[9]d}}`,
			at, 2*i+1, at-50, at+30, c[0], c[1], c[2], c[3], 2*i+2)
	}
	return append([]byte(b.String()), "]}"...)
}

// Calls of profiles before PyTorch 2.2 take collective and size from PyTorch's annotations, if those have them and
// one stream means one group.
func TestAnnotatedKineto(t *testing.T) {
	const groups = "calls without a group in the profile, assumed to be of all ranks: 1"
	const unknown = "a kernel of NCCL of unknown size, kept as computing of its length: 1"
	for _, c := range []struct {
		call [4]string
		want string
		size int64 // bytes of the operations of all ranks; 0: no collective
	}{
		{[4]string{"nccl:all_reduce", `[[394241]]`, `["float"]`, "84"}, groups, 14 * 394241 * 4},
		{[4]string{"nccl:all_to_all", `[[24, 2]]`, `["long int"]`, "84"}, groups, 7 * 48 * 8},
		{[4]string{"nccl:_all_gather_base", `[[1000]]`, `["c10::BFloat16"]`, "84"}, groups, 7 * 8 * 2000},
		{[4]string{"nccl:_reduce_scatter_base", `[[8000]]`, `["c10::Half"]`, "84"}, groups, 7 * 16000},
		{[4]string{"nccl:all_reduce", `[[8], [16]]`, `["float", "float"]`, "84"}, groups, 14 * 96},
		{[4]string{"nccl:all_reduce", `[[8], [16]]`, `["float", "int"]`, "84"}, unknown, 0},
		{[4]string{"nccl:all_reduce", `[]`, `[]`, "84"}, unknown, 0},
		{[4]string{"nccl:all_reduce", `[[-8]]`, `["float"]`, "84"}, unknown, 0},
		{[4]string{"nccl:all_reduce", `[[1e30]]`, `["float"]`, "84"}, unknown, 0},
		{[4]string{"nccl:all_reduce", `"many"`, `7`, "84"}, unknown, 0},
		{[4]string{"nccl:all_reduce", `[[8]]`, `["quaternion"]`, "84"}, "a kernel of NCCL of unknown or impossible size", 0},
		{[4]string{"nccl:coalesced", `[[8]]`, `["float"]`, "84"}, `a kernel of NCCL of the unknown collective "nccl:coalesced"`, 0},
		{[4]string{"nccl:send 0->1", `[[8]]`, `["float"]`, "84"}, "a send or receive without a peer", 0},
	} {
		x, err := Read("", File{"rank0.json", annotated(c.call)})
		if err != nil {
			t.Errorf("%v: %v", c.call, err)
			continue
		}
		var size int64
		for i := range x.DAG.Ops {
			if o := &x.DAG.Ops[i]; !o.Compute() {
				size += int64(o.Bytes)
			}
		}
		s, calls := reported(x.Report), min(1, int(c.size))
		if !strings.Contains(s, c.want) || size != c.size || len(x.DAG.Colls) != calls {
			t.Errorf("%v: %d bytes instead of %d\n%s", c.call, size, c.size, s)
		}
	}
	call := [4]string{"nccl:all_reduce", `[[8]]`, `["float"]`, "84"}
	other := call
	other[3] = "85"
	x, err := Read("", File{"rank0.json", annotated(call, other)})
	if err != nil || len(x.DAG.Colls) > 0 || !strings.Contains(reported(x.Report), "of a group of unknown ranks, kept as computing of its length: 2") {
		t.Errorf("two streams: %v\n%s", err, reported(x.Report))
	}
	x, err = Read("", File{"rank0.json", bytes.ReplaceAll(annotated(call), []byte(`"tid": 7, "ts": 130, "dur": 2`),
		[]byte(`"tid": 9, "ts": 130, "dur": 2`))})
	if err != nil || len(x.DAG.Colls) > 0 {
		t.Errorf("launched by another thread: %v\n%s", err, reported(x.Report))
	}
}

package identify

import (
	"strings"
	"testing"

	"railyard/internal/calibrate/fitting"
	"railyard/internal/coll"
	"railyard/internal/measured"
)

// TestJudge checks the verdict and the first command for measurements that are slow at large sizes, slow at small
// sizes, fast, or as expected. It also checks the count of rows that are not simulated.
func TestJudge(t *testing.T) {
	set, err := measured.Read(measured.File{Name: "nccl.txt", Text: strings.NewReader(
		"$ all_reduce_perf -b 1M -e 256M\n#  Rank  0 on a device 0 [0x01] NVIDIA H100\n#  Rank  1 on b device 0 [0x01] NVIDIA H100\n" +
			" 1048576 262144 float sum -1 57.9 18.11 18.11 0 57.9 18.11 18.11 0\n" +
			" 16777216 4194304 float sum -1 402 41.7 41.7 0 402 41.7 41.7 0\n" +
			" 268435456 67108864 float sum -1 3618 74.19 74.19 0 3618 74.19 74.19 0\n")})
	if err != nil || len(set.Table()) == 0 {
		t.Fatal(err, set)
	}
	for _, c := range []struct {
		small, large      float64 // simulated, measured is 100
		algorithm         string
		verdict, next, by string
	}{
		{100, 70, "auto", "below expectation in bandwidth: large takes 100 µs, simulated 70 µs (−30.0 %)", "diagnose ",
			"--algorithm ring"},
		{70, 95, "ring", "below expectation in launches and latency of sizes up to 1 MiB: small", "run net", ""},
		{70, 130, "ring", "faster than simulated, so the scenario is not the cluster (algorithm, channels, NICs, links): " +
			"large takes 100 µs, simulated 130 µs (+30.0 %); 1 size slower than simulated: small", "check net", ""},
		{100, 130, "ring", "faster than simulated", "check net", ""},
		{70, 200, "ring", "faster than simulated, so the scenario is not the cluster (algorithm, channels, NICs, links): " +
			"large takes 100 µs, simulated 200 µs (+100.0 %); 1 size slower than simulated: small", "check net", ""},
		{95, 105, "ring", "as expected up to 16 MiB: all 2 points within 10 %", "run net", ""},
	} {
		a := &Account{Path: "nccl.txt", Measured: set, Algorithm: "ring", Next: []Next{{Command: "calibrate"}}}
		a.Judge([]fitting.Point{{Name: "large", Bytes: 1 << 24, Measured: 100, Before: c.large},
			{Name: "small", Bytes: 1 << 20, Measured: 100, Before: c.small}}, "net", c.algorithm, "of the fidelity")
		last := a.Next[len(a.Next)-2].Command
		if !strings.HasPrefix(a.Verdict, c.verdict) || !strings.HasPrefix(a.Next[0].Command, c.next) ||
			!strings.Contains(last, c.by) || a.Next[len(a.Next)-1].Command != "calibrate" ||
			!strings.Contains(a.Assumed, c.algorithm) || !strings.Contains(a.Skipped, " above 16 MiB (of the fidelity)") ||
			!strings.HasSuffix(a.Verdict, "; not judged: 1 row above 16 MiB") {
			t.Errorf("%+v", a)
		}
	}
	a2a := &Account{Path: "alltoall_perf.txt", Measured: &measured.Set{Collectives: []measured.Collective{
		{Kind: coll.ToAll, Ranks: 16, Nodes: 2, Bytes: 1 << 28}}}}
	a2a.Judge([]fitting.Point{{Name: "small", Bytes: 1 << 23, Measured: 100, Before: 70}, {Name: "middle", Bytes: 1 << 24,
		Measured: 100, Before: 140}, {Name: "large", Bytes: 1 << 24, Measured: 100, Before: 100}}, "net", "auto", "")
	if !strings.HasPrefix(a2a.Verdict, "bandwidth of 16 MiB as expected; 1 smaller size slower: small takes") ||
		!strings.Contains(a2a.Verdict, "; 1 size faster than simulated: middle takes 100 µs, simulated 140 µs (+40.0 %)") ||
		strings.Contains(a2a.Assumed, "all-reduce") {
		t.Errorf("%+v", a2a)
	}
	late := &Account{Measured: set} // ib_write_lat: hosts and NICs take 2 us longer, and links have their rate
	var sizes []fitting.Point
	for i, us := range []float64{1.04, 1.12, 1.37, 3.87} {
		sizes = append(sizes, fitting.Point{Name: "write latency", Bytes: 64 << (4 * i), Measured: us + 1.97, Before: us})
	}
	late.Judge(sizes, "net", "", "")
	if !strings.HasPrefix(late.Verdict, "below expectation in latency: each size takes 1.97 µs longer") {
		t.Error(late.Verdict)
	}
	sizes[3].Measured = 2 * 3.87 // its bytes take longer too
	if late.Judge(sizes, "net", "", ""); !strings.HasPrefix(late.Verdict, "below expectation in bandwidth") {
		t.Error(late.Verdict)
	}
	a := &Account{Path: "nccl.txt", Measured: set}
	if a.Judge(nil, "net", "ring", "of the fidelity"); a.Verdict != "not judged: no row was simulated" || a.Skipped == "" {
		t.Errorf("%+v", a)
	}
	a.Judge([]fitting.Point{{Name: "small", Bytes: 1 << 20, Measured: 100, Before: 100},
		{Name: "large", Bytes: 1 << 28, Measured: 100, Before: 95}}, "net", "ring", "")
	if !strings.HasPrefix(a.Verdict, "as expected: all 2 points within 10 %, 1 MiB to 256 MiB; ") {
		t.Errorf("%+v", a)
	}
	a.Judge([]fitting.Point{{Name: "small", Bytes: 1 << 20, Measured: 100, Before: 100},
		{Name: "healthy", Bytes: 1 << 28, Measured: 4425, Before: 3860, Algorithm: "nvls-tree", Model: 4430}}, "net", "auto", "")
	if !strings.HasPrefix(a.Verdict, "as expected: all 2 points within 10 % of the expected times, 1 MiB to 256 MiB; ") {
		t.Errorf("%+v", a)
	}
	a.Judge([]fitting.Point{{Name: "slow", Bytes: 1 << 28, Measured: 6000, Before: 3860, Algorithm: "nvls-tree", Model: 4430}},
		"net", "auto", "")
	if a.Verdict != "below expectation in bandwidth: slow takes 6 ms, simulated 3.86 ms (−35.7 %), expected 3.77 ms to 4.43 ms" {
		t.Errorf("%+v", a)
	}
	a.Judge([]fitting.Point{{Name: "untested", Bytes: 1 << 26, Measured: 420, Before: 264, Algorithm: "nvls-tree", Model: 339},
		{Name: "healthy", Bytes: 1 << 30, Measured: 4425, Before: 3860, Algorithm: "nvls-tree", Model: 4430}}, "net", "auto", "")
	if !strings.HasPrefix(a.Verdict, "bandwidth of 1 GiB as expected; 1 smaller size slower: untested takes 420 µs, ") ||
		!strings.HasSuffix(a.Verdict, "validates the simulator's nvls-tree below 512 MiB") {
		t.Errorf("%+v", a)
	}
}

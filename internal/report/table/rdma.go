package table

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"railyard/internal/allreduce"
	"railyard/internal/perftest"
	"railyard/internal/perftest/bench"
	"railyard/internal/report/screen"
	"railyard/roce"
	"railyard/unit"
	"railyard/verbs"
)

// maxExplained is the maximum number of queue pairs in the table of a set-up.
const maxExplained = 8

// Setup prints how the queue pairs of a session were connected: the calls for one of them in order, and each end's
// state of the other.
func Setup(w io.Writer, s *perftest.Setup) {
	fmt.Fprintln(w, "Connection setup of a queue pair: calls on this host")
	t := screen.Table{Columns: []screen.Column{{}, {Left: true}, {Head: "µs"}, {Left: true}}}
	for i, step := range s.Steps {
		t.Add(fmt.Sprint(i+1), step.Call, unit.Digits(step.Micros), strings.Join(step.Says, ", "))
	}
	t.Print(w)
	fmt.Fprintf(w, "\nState that the ends exchanged: local %v, remote %v\n", s.Here[0].Addr, s.There[0].Addr)
	fmt.Fprintf(w, "%8s  %10s %10s %18s %12s %12s\n", "", "QPN", "PSN", "VA", "rkey", "bytes")
	for i := range min(len(s.Here), len(s.There), maxExplained) {
		knows(w, "here", &s.There[i])
		knows(w, "there", &s.Here[i])
	}
	if n := len(s.Here) - maxExplained; n > 0 {
		fmt.Fprintf(w, "%10s%s more (--json has all)\n", "", unit.Plural(n, "pair"))
	}
	fmt.Fprintf(w, "\nData uses UDP port %d; the TCP connection only ends the session.\n\n", roce.Port)
}

// knows prints an end's information about its peer's queue pair.
func knows(w io.Writer, end string, of *verbs.Info) {
	fmt.Fprintf(w, "%8s  %#10x %10d %#18x %#12x %12d\n", end, of.QPN, of.PSN, of.VA, of.RKey, of.Length)
}

// micros formats a time in microseconds.
func micros(us float64) string { return unit.FromSeconds(us / 1e6).Show() }

// Transfers prints the sizes of a session: the highest bandwidth or the lowest latency first.
func Transfers(w io.Writer, s *perftest.Spec, from, to netip.Addr, rows []perftest.Result) {
	if len(rows) == 0 {
		return
	}
	if s.Op == perftest.OpLat {
		latencies(w, from, to, rows)
		return
	}
	best := slices.MaxFunc(rows, func(a, b perftest.Result) int { return cmp.Compare(a.Gbps, b.Gbps) })
	screen.Painted(w, screen.Answer, "", fmt.Sprintf("RDMA %s %v to %v: %s Gbit/s with messages of %s",
		strings.ToUpper(string(s.Op)), from, to, unit.Digits(best.Gbps), unit.Bytes(best.Size).ShowSet()))
	t := screen.Table{Columns: []screen.Column{{Head: "size"}, {Head: "messages"}, {Head: "Gbit/s"},
		{Head: "messages/s"}, {Head: "p50"}, {Head: "p99"}, {Head: "retx.", Rare: true},
		{Head: "timeouts", Rare: true}, {Head: "CNPs", Rare: true}, {Head: "reductions", Rare: true}}}
	for _, r := range rows {
		t.Add(unit.Bytes(r.Size).ShowSet(), unit.ShowCount(r.Iters), unit.Digits(r.Gbps),
			unit.ShowCount(int64(r.MsgRate)), micros(r.P50), micros(r.P99), unit.ShowCount(r.Retransmissions),
			unit.ShowCount(r.Timeouts), unit.ShowCount(r.CNPs), unit.ShowCount(r.Cuts))
	}
	t.Print(w)
	screen.Wrap(w, "", fmt.Sprintf("%s, %d requests in flight each, path MTU %d. Latency is from post to completion.",
		unit.Plural(s.QPs, "queue pair"), s.Depth, rows[0].MTU))
}

// latencies prints half of the round trip of WRITEs.
func latencies(w io.Writer, from, to netip.Addr, rows []perftest.Result) {
	screen.Painted(w, screen.Answer, "", fmt.Sprintf("WRITE latency %v to %v: p50 %s with %s", from, to, micros(rows[0].P50),
		unit.Bytes(rows[0].Size).ShowSet()))
	t := screen.Table{Columns: []screen.Column{{Head: "size"}, {Head: "messages"}, {Head: "min"}, {Head: "p50"},
		{Head: "mean"}, {Head: "p99"}, {Head: "p99.9"}, {Head: "max"}, {Head: "retx.", Rare: true}}}
	for _, r := range rows {
		t.Add(unit.Bytes(r.Size).ShowSet(), unit.ShowCount(r.Iters), micros(r.Min), micros(r.P50), micros(r.Mean),
			micros(r.P99), micros(r.P999), micros(r.Max), unit.ShowCount(r.Retransmissions))
	}
	t.Print(w)
	fmt.Fprintf(w, "Half of a round trip; path MTU %d\n", rows[0].MTU)
}

// AllReduce prints the head of a table as nccl-tests has it.
func AllReduce(w io.Writer, s *allreduce.Spec) {
	fmt.Fprintf(w, "# all-reduce, %s, ring, %s per neighbour, %s after %d\n#\n",
		unit.Plural(s.World, "rank"), unit.Plural(s.QPs, "queue pair"), unit.Plural(s.Iters, "iteration"),
		s.Warmup)
	fmt.Fprintf(w, "# %12s %12s %8s %6s %11s %8s %8s %7s\n", "size", "count", "type", "redop", "time",
		"algbw", "busbw", "#wrong")
	fmt.Fprintf(w, "# %12s %12s %8s %6s %11s %8s %8s %7s\n", "(B)", "(elements)", "", "", "(us)", "(GB/s)",
		"(GB/s)", "")
}

// AllReduceRow prints a size's row.
func AllReduceRow(w io.Writer, r allreduce.Row) {
	fmt.Fprintf(w, "  %12d %12d %8s %6s %11.1f %8.3f %8.3f %7d\n", r.Bytes, r.Count, r.Type, r.Op, r.TimeUS,
		r.AlgBW, r.BusBW, r.Wrong)
}

var errWrong = errors.New("the result has wrong elements")

// AllReduceFoot prints the totals of all sizes; wrong elements are an error.
func AllReduceFoot(w io.Writer, rows []allreduce.Row) error {
	var t allreduce.Stats
	mean, wrong := 0.0, int64(0)
	for _, r := range rows {
		t.Add(r.Stats)
		mean += r.BusBW / float64(len(rows))
		wrong += r.Wrong
	}
	verdict := "OK"
	if wrong > 0 {
		verdict = "FAILED"
	}
	fmt.Fprintf(w, "# Out of bounds values : %d %s\n# Avg bus bandwidth    : %.3f\n", wrong, verdict, mean)
	fmt.Fprintf(w,
		"# Transport            : %d retransmissions, %d timeouts, %d CE marks, %d CNPs, %d kernel drops\n"+
			"# Congestion control   : %d rate reductions\n",
		t.Retransmissions, t.Timeouts, t.CE, t.CNPs, t.Drops, t.Cuts)
	if wrong > 0 {
		return errWrong
	}
	return nil
}

// Bench prints measurements as bars, each unit with its own scale.
func Bench(w io.Writer, rows []bench.Row) {
	ratio := func(a, b int) float64 { return bench.Ratio(rows, a, b) }
	most := map[string]float64{}
	for _, r := range rows {
		most[r.Unit] = max(most[r.Unit], r.Median)
	}
	t := screen.Table{Columns: []screen.Column{{Head: "Measurement"}, {Head: "median"}, {Left: true},
		{Left: true, Spare: true}, {Head: "range", Left: true}}}
	for _, r := range rows {
		if len(r.Values) > 0 {
			t.Add(r.Name, unit.Digits(r.Median), strings.Replace(r.Unit, "us", "µs", 1),
				screen.Of(w).Bar(r.Median/most[r.Unit], 20),
				unit.Digits(slices.Min(r.Values))+"–"+unit.Digits(slices.Max(r.Values)))
		}
	}
	t.Print(w)
	if ratio(bench.Write, bench.UDP) > 0 {
		fmt.Fprintf(w, "Throughput of WRITE: %s of iperf3 over UDP, %s of TCP\n",
			unit.ShowFactor(ratio(bench.Write, bench.UDP)), unit.ShowFactor(ratio(bench.Write, bench.TCP)))
	}
	fmt.Fprintf(w, "Latency of WRITE: %s of UDP, %s of TCP\n", unit.ShowFactor(ratio(bench.Lat, bench.UDPLat)),
		unit.ShowFactor(ratio(bench.Lat, bench.TCPLat)))
	screen.Wrap(w, "", fmt.Sprintf("CPU time of WRITE: %s of TCP, %s of it in the kernel; the process does the work of the NIC. %s of TCP's CPU time is in the kernel; four memory copies would take %s of it.",
		unit.ShowFactor(ratio(bench.WriteCPU, bench.TCPCPU)), unit.ShowShare(rows[bench.WriteCPU].Kernel),
		unit.ShowShare(rows[bench.TCPCPU].Kernel), unit.ShowFactor(4*ratio(bench.Copy, bench.TCPCPU))))
	if keys := bench.TCPKeys(rows); keys != nil {
		screen.Wrap(w, "", "Simulations of kernel TCP on this host: --set transport=tcp --set "+strings.Join(keys, " --set "))
	}
}

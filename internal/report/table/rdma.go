package table

import (
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

// maxExplained is how many queue pairs the table of a set-up shows.
const maxExplained = 8

// stepIndent is the column in which the words of a step begin.
const stepIndent = 37

// Setup tells how a session's queue pairs came about: the calls of one in their order, and what each
// end then knows of the other.
func Setup(w io.Writer, s *perftest.Setup) {
	fmt.Fprintf(w, "Set-up of a queue pair (these calls, on this host, just now)\n\n")
	for i, step := range s.Steps {
		fmt.Fprintf(w, "%3d  %-18s %8.1f us", i+1, step.Call, step.Micros)
		column := stepIndent
		for k, say := range step.Says {
			switch sep := ", "; {
			case k == 0:
				fmt.Fprintf(w, "  %s", say)
				column += len(say)
			case column+len(sep)+len(say) > 98:
				fmt.Fprintf(w, ",\n%*s%s", stepIndent, "", say)
				column = stepIndent + len(say)
			default:
				fmt.Fprintf(w, "%s%s", sep, say)
				column += len(sep) + len(say)
			}
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "\nState that the ends exchanged: local %v, remote %v\n\n", s.Here[0].Addr,
		s.There[0].Addr)
	fmt.Fprintf(w, "%8s  %10s %10s %18s %12s %12s\n", "", "QPN", "PSN", "VA", "rkey", "bytes")
	for i := range min(len(s.Here), len(s.There), maxExplained) {
		knows(w, "here", &s.There[i])
		knows(w, "there", &s.Here[i])
	}
	if n := len(s.Here) - maxExplained; n > 0 {
		fmt.Fprintf(w, "%10s%s more (--json has all)\n", "", unit.Plural(n, "pair"))
	}
	fmt.Fprintf(w, "\nFrom here on memory moves by UDP port %d; TCP carries the goodbye.\n\n", roce.Port)
}

// knows is what an end knows of its peer's queue pair.
func knows(w io.Writer, end string, of *verbs.Info) {
	fmt.Fprintf(w, "%8s  %#10x %10d %#18x %#12x %12d\n", end, of.QPN, of.PSN, of.VA, of.RKey, of.Length)
}

// Bandwidth prints the head of a session's table.
func Bandwidth(w io.Writer, s *perftest.Spec, from, to netip.Addr, mtu int) {
	if s.Op == perftest.OpLat {
		fmt.Fprintf(w, "WRITE latency %v to %v, path MTU %d, half a round trip in us\n\n", from, to,
			mtu)
		fmt.Fprintf(w, "%10s %10s %9s %9s %9s %9s %9s %9s %8s\n", "bytes", "iterations", "min", "p50", "mean",
			"p99", "p99.9", "max", "retrans")
		return
	}
	fmt.Fprintf(w, "RDMA %s %v to %v, %s, %d in flight each, path MTU %d\n\n",
		strings.ToUpper(string(s.Op)), from, to, unit.Plural(s.QPs, "queue pair"), s.Depth, mtu)
	fmt.Fprintf(w, "%10s %10s %9s %9s %10s %10s %8s %8s %7s %7s\n", "bytes", "iterations", "Gbit/s",
		"Mmsg/s", "p50 us", "p99 us", "retrans", "timeouts", "CNPs", "reduced")
}

// BandwidthRow prints a size's row.
func BandwidthRow(w io.Writer, r perftest.Result) {
	if r.Op == perftest.OpLat {
		fmt.Fprintf(w, "%10d %10d %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f %8d\n", r.Size, r.Iters, r.Min, r.P50,
			r.Mean, r.P99, r.P999, r.Max, r.Retransmissions)
		return
	}
	fmt.Fprintf(w, "%10d %10d %9.2f %9.4f %10.1f %10.1f %8d %8d %7d %7d\n", r.Size, r.Iters,
		r.Gbps, r.MsgRate/1e6, r.P50, r.P99, r.Retransmissions, r.Timeouts, r.CNPs, r.Cuts)
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

// AllReduceFoot prints what all sizes came to; wrong elements are an error.
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

// Bench prints what was measured as bars, each unit to its own scale.
func Bench(w io.Writer, rows []bench.Row) {
	ratio := func(a, b int) float64 { return bench.Ratio(rows, a, b) }
	most := map[string]float64{}
	for _, r := range rows {
		most[r.Unit] = max(most[r.Unit], r.Median)
	}
	for i, r := range rows {
		if len(r.Values) == 0 {
			continue
		}
		if i > 0 && rows[i-1].Unit != r.Unit {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%-28s %8.2f %-6s %-21s (%.2f to %.2f in %d)\n", r.Name, r.Median, r.Unit,
			screen.Of(w).Bar(r.Median/most[r.Unit], 20), slices.Min(r.Values), slices.Max(r.Values),
			len(r.Values))
	}
	fmt.Fprintln(w)
	if ratio(bench.Write, bench.UDP) > 0 {
		fmt.Fprintf(w, "WRITE over iperf3 UDP %.2fx (aim: at least 1), over TCP %.2fx\n",
			ratio(bench.Write, bench.UDP), ratio(bench.Write, bench.TCP))
	}
	fmt.Fprintf(w, "latency over bare UDP %.2fx (aim: at most 2), over TCP %.2fx\n",
		ratio(bench.Lat, bench.UDPLat), ratio(bench.Lat, bench.TCPLat))
	fmt.Fprintf(w, "of TCP's CPU time the kernel takes %.0f %%; four copies through memory would be %.2fx of it\n", 100*rows[bench.TCPCPU].Kernel, 4*ratio(bench.Copy, bench.TCPCPU))
	fmt.Fprintf(w, "WRITE's CPU time is %.2fx TCP's, %.0f %% of it the kernel's: here a process is the NIC\n", ratio(bench.WriteCPU, bench.TCPCPU), 100*rows[bench.WriteCPU].Kernel)
}

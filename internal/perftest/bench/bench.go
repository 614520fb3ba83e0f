// Package bench compares RDMA over loopback with iperf3, bare UDP and bare TCP, in turn (Bench.Run): throughput,
// latency, and the CPU time of both ends. The other ends are processes of this program (package ranks).
package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"railyard/internal/perftest"
)

// Bench is the measurements and their number of rounds.
type Bench struct {
	Iperf    string // program; without it its rows stay empty
	Rounds   int
	Duration time.Duration // of a measurement
}

// Row is one measurement: its value in each round.
type Row struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`
	Values []float64 `json:"values"`
	Median float64   `json:"median"`
	// Kernel is the kernel's share of the processor time, 0 to 1, in the median.
	Kernel float64 `json:"kernel_share,omitempty"`

	kernel []float64
}

// Rows of the bench.
const (
	Write = iota
	UDP
	TCP
	Lat
	UDPLat
	TCPLat
	WriteCPU
	TCPCPU
	Copy
)

func newRows() []Row {
	return []Row{
		Write:    {Name: "RDMA WRITE 1 MiB", Unit: "Gbit/s"},
		UDP:      {Name: "iperf3 UDP, equal datagrams", Unit: "Gbit/s"},
		TCP:      {Name: "iperf3 TCP", Unit: "Gbit/s"},
		Lat:      {Name: "RDMA WRITE 4 KiB p50", Unit: "us"},
		UDPLat:   {Name: "bare UDP 4 KiB p50", Unit: "us"},
		TCPLat:   {Name: "bare TCP 4 KiB p50", Unit: "us"},
		WriteCPU: {Name: "RDMA WRITE, CPU", Unit: "ns/KiB"},
		TCPCPU:   {Name: "bare TCP, CPU", Unit: "ns/KiB"},
		Copy:     {Name: "one copy in memory, CPU", Unit: "ns/KiB"},
	}
}

// measuring measures one value of a row.
type measuring func(context.Context) (float64, error)

// measure returns the measurement of each row; a by-product of another is nil.
func (b *Bench) measure(rows []Row) []measuring {
	cpu := func(row int, used cpuTime, bytes float64) {
		r := &rows[row]
		r.Values = append(r.Values, used.total()/bytes*1024)
		r.kernel = append(r.kernel, used.system/used.total())
	}
	return []measuring{
		Write: func(ctx context.Context) (float64, error) {
			r, used, err := b.ours(ctx, perftest.OpWrite, 1<<20)
			if err == nil {
				cpu(WriteCPU, used, float64(r.Iters*r.Size))
			}
			return r.Gbps, err
		},
		UDP: func(ctx context.Context) (float64, error) { return b.iperf(ctx, true) },
		TCP: func(ctx context.Context) (float64, error) { return b.iperf(ctx, false) },
		Lat: func(ctx context.Context) (float64, error) {
			r, _, err := b.ours(ctx, perftest.OpLat, 4096)
			return r.P50, err
		},
		UDPLat: func(ctx context.Context) (float64, error) { return barePingPong(ctx, "udp4", b.Duration) },
		TCPLat: func(ctx context.Context) (float64, error) { return barePingPong(ctx, "tcp4", b.Duration) },
		TCPCPU: func(ctx context.Context) (float64, error) {
			bytes, used, err := bareStream(ctx, b.Duration)
			if err == nil {
				cpu(TCPCPU, used, bytes)
			}
			return 0, err
		},
		Copy: func(context.Context) (float64, error) { return bareCopy(b.Duration / 10), nil },
	}
}

// Run measures each row in each round; progress is called before each with the completed share.
func (b *Bench) Run(ctx context.Context, progress func(share float64, row string)) ([]Row, error) {
	rows := newRows()
	measure := b.measure(rows)
	for round := range b.Rounds {
		for i, f := range measure {
			progress(float64(round*len(measure)+i)/float64(b.Rounds*len(measure)), rows[i].Name)
			if f == nil || b.Iperf == "" && (i == UDP || i == TCP) {
				continue
			}
			v, err := f(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", rows[i].Name, err)
			}
			if i != TCPCPU {
				rows[i].Values = append(rows[i].Values, v)
			}
		}
	}
	for i := range rows {
		rows[i].Median, rows[i].Kernel = median(rows[i].Values), median(rows[i].kernel)
	}
	return rows, nil
}

// Ratio returns a row's median over another's; 0 if the other was not measured.
func Ratio(rows []Row, a, b int) float64 {
	if rows[b].Median == 0 {
		return 0
	}
	return rows[a].Median / rows[b].Median
}

// Ratios returns the results of the comparison.
func Ratios(rows []Row) map[string]float64 {
	return map[string]float64{
		"write_over_iperf3_udp": Ratio(rows, Write, UDP),
		"write_over_iperf3_tcp": Ratio(rows, Write, TCP),
		"latency_over_bare_udp": Ratio(rows, Lat, UDPLat),
		"latency_over_bare_tcp": Ratio(rows, Lat, TCPLat),
		"cpu_over_bare_tcp":     Ratio(rows, WriteCPU, TCPCPU),
	}
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

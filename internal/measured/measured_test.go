package measured

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"railyard/internal/coll"
	"railyard/internal/story"
	"railyard/unit"
)

// told returns what was parsed from a text, and the report on its parts.
func told(name, text string) string {
	set, err := Read(File{name, strings.NewReader(text)})
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, c := range set.Collectives {
		fmt.Fprintf(&b, "%v", &c)
		if c.InPlace {
			fmt.Fprint(&b, ", in place")
		}
		if c.Samples > 0 {
			fmt.Fprintf(&b, ", of %d", c.Samples)
		}
		fmt.Fprintln(&b)
	}
	for _, p := range set.Pairs {
		fmt.Fprintf(&b, "%v (%d QPs, MTU %v, %s, %s, %s)\n", &p, p.QPs, p.MTU, p.Transport, p.Link, p.Device)
	}
	for _, c := range set.Report.Mapped {
		fmt.Fprintln(&b, "mapped   ", c.Words())
	}
	for _, c := range set.Report.Guessed {
		fmt.Fprintln(&b, "assumed  ", c.Words())
	}
	for _, c := range set.Report.Left {
		fmt.Fprintln(&b, "left out ", c.Words())
	}
	return b.String()
}

// Output of each source, and the parsed result.
func TestReads(t *testing.T) {
	story.Cases(t, "reads", func(input string) string { return told("out.txt", input) })
}

// The computed bus bandwidths equal those that nccl-tests printed next to the times.
func TestBusBW(t *testing.T) {
	set, err := Read(File{"t", strings.NewReader(`# Collective test starting: all_gather_perf
#  Rank  0 Group  0 Pid 1 on a device  0 [0x18] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid 2 on a device  1 [0x2a] NVIDIA H100 80GB HBM3
#  Rank  2 Group  0 Pid 3 on b device  0 [0x18] NVIDIA H100 80GB HBM3
#  Rank  3 Group  0 Pid 4 on b device  1 [0x2a] NVIDIA H100 80GB HBM3
67108864       4194304  float  none    -1    830.4   80.81   60.61       0   829.1   80.94   60.71       0
`)})
	if err != nil || len(set.Collectives) != 2 {
		t.Fatal(set, err)
	}
	for i, want := range []float64{60.61, 60.71} {
		if c := set.Collectives[i]; math.Abs(c.BusBW()-want) > 0.01 || c.Kind != coll.AllGather ||
			c.Ranks != 4 || c.Nodes != 2 || c.GPU != "NVIDIA H100 80GB HBM3" {
			t.Errorf("%+v: %v, printed %v", c, c.BusBW(), want)
		}
	}
}

// Equal points, measured at different times, in place or not, become their median.
func TestTable(t *testing.T) {
	s := &Set{}
	for i, us := range []int64{30, 10, 20, 40} {
		s.Collectives = append(s.Collectives, Collective{Kind: coll.AllReduce, Bytes: 1000, Ranks: 8,
			Time: unit.Time(us) * unit.Microsecond, InPlace: i%2 == 1, Samples: 20})
	}
	s.Collectives = append(s.Collectives, Collective{Kind: coll.AllReduce, Bytes: 10, Ranks: 8, Time: 5})
	got := s.Table()
	if len(got) != 2 || got[0].Time != 5 || got[1].Time != 25*unit.Microsecond || got[1].Samples != 80 ||
		got[1].Low != 10*unit.Microsecond || got[1].High != 30*unit.Microsecond {
		t.Errorf("%+v", got)
	}
}

// Files that hold no measurement are named; the kinds may be mixed.
func TestFiles(t *testing.T) {
	row := " 1048576 262144 float sum -1 100.0 10.49 15.73 0 101.0 10.38 15.57 0\n"
	_, err := Read(File{"all_reduce_perf.log", strings.NewReader(row)},
		File{"notes.txt", strings.NewReader("x\n")})
	if err == nil || !strings.HasPrefix(err.Error(), "notes.txt: contains no measurement") {
		t.Error(err)
	}
	set, err := Read(File{"all_reduce_perf.log", strings.NewReader(row)})
	if err != nil || set.Collectives[0].Kind != coll.AllReduce || set.Collectives[0].Ranks != 4 {
		t.Errorf("%+v, %v", set, err)
	}
	if _, err := Read(); err == nil {
		t.Error("no file is enough")
	}
}

// No input makes the reader panic.
func FuzzRead(f *testing.F) {
	f.Add([]byte("# nThread 1 nGpus 8 iters: 20\n 8 2 float sum -1 9.5 0.00 0.00 0 9.4 0.00 0.00 N/A\n"))
	f.Add([]byte(" RDMA_Write Latency Test\n #bytes #iterations t_min[usec] t_max[usec] t_typical[usec]\n" +
		" 2 10 1 2 1.5\n"))
	f.Add([]byte(`{"header":{"id":"0x1","rank":0,"n_ranks":2,"nnodes":1},"coll_perf":{"coll":"AllReduce",` +
		`"coll_sn":1,"coll_msg_size_bytes":8,"coll_exec_time_us":3}}`))
	f.Add([]byte(`{"config":{"devices":[]},"results":[{"size":8,"type":"float","out_of_place":{"time":3}}]}`))
	f.Add([]byte(`{"test_info":{"test":"RDMA_Write_BW_Test"},"results":{"MsgSize":8,"BW_average":-3}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		set, err := Read(File{"f", bytes.NewReader(text)})
		if err != nil {
			return
		}
		for _, c := range set.Table() {
			if c.Time <= 0 || c.Bytes <= 0 || math.IsNaN(c.BusBW()) || c.Ranks < 0 {
				t.Errorf("%+v", c)
			}
		}
		for _, p := range set.Pairs {
			if p.Bytes <= 0 || p.Latency && p.Time <= 0 || !p.Latency && p.Rate <= 0 {
				t.Errorf("%+v", p)
			}
		}
	})
}

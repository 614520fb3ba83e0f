package measured

import (
	"fmt"
	"strings"
	"testing"
)

// If one half of a row is wrong, it is reported, and the other half is used, in text and in JSON.
func TestHalves(t *testing.T) {
	const head = `# Collective test starting: all_reduce_perf
#  Rank  0 Group  0 Pid 1 on a device  0 [0x18] NVIDIA H100
#  Rank  1 Group  0 Pid 2 on b device  0 [0x2a] NVIDIA H100
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
`
	const right = "74.7 14.04 14.04 0"
	for _, c := range []struct {
		row  string
		kept int
	}{
		{right + " " + right, 2}, {right + " 74.7 14.04 14.04 N/A", 2}, {right, 1},
		{right + " 74.7 14.04 14.04 7", 1}, {right + " 74.7 14.04 14.04 err", 1}, {right + " x 14.04 14.04 0", 1},
		{right + " 74.7 x 14.04 0", 1}, {right + " 74.7 14.04 x 0", 1}, {right + " nan nan nan nan", 1},
		{right + " 74.7 14.04", 1}, {right + " 74.7", 1}, {right + " 0 0 0 0", 1}, {right + " -1 14.04 14.04 0", 1},
		{"74.7 14.04 14.04 3 " + right, 1}, {"err 14.04 14.04 0 " + right, 1}, {"74.7 14.04", 0},
		{right + " " + right + " 5", 1}, {right + " 74.7 14.04 14.04 3 2026-01-02T03:04:05", 1},
	} {
		for _, before := range []string{"float sum -1 ", "float none -1 "} {
			text := head + "1048576 262144 " + before + c.row + "\n"
			set, err := Read(File{"t", strings.NewReader(text)})
			got := 0
			if err == nil {
				got = len(set.Collectives)
				for _, x := range set.Collectives {
					if x.Time.Micros() != 74.7 || x.Bytes != 1<<20 {
						t.Errorf("%s: %v", c.row, x.Time)
					}
				}
			}
			if got != c.kept {
				t.Errorf("%s: %d kept, want %d (%v)", c.row, got, c.kept, err)
			}
			if set != nil && c.kept == 1 && c.row != right && len(set.Report.Left) == 0 {
				t.Errorf("%s: nothing is said of the other half", c.row)
			}
		}
	}
	for _, in := range []string{`{"time": "x"}`, `{"time": 0}`, `[]`, `{"time": 74.7, "nwrong": 3}`,
		`{"time": 74.7, "nwrong": "N/A"}`} {
		text := `{"args": ["all_reduce_perf"], "config": {"devices": [{"hostname": "a"}, {"hostname": "b"}]},
			"results": [{"size": 1048576, "type": "float", "redop": "sum", "out_of_place": {"time": 74.7, "nwrong": 0},
			"in_place": ` + in + `}]}`
		set, err := Read(File{"t", strings.NewReader(text)})
		if err != nil || len(set.Collectives) != 1 || fmt.Sprint(set.Collectives[0].Time) != "74.7us" ||
			set.Collectives[0].InPlace || len(set.Report.Left) == 0 {
			t.Errorf("%s: %v, %v", in, set, err)
		}
	}
}

// A half that contradicts itself by its time, its size or a bandwidth is omitted with its line. It does not hide
// the other rows.
func TestContradictions(t *testing.T) {
	row := func(size, time, algbw, busbw string) string {
		return fmt.Sprintf("  %s 262144 float sum -1 %s %s %s 0 %[2]s 14.77 27.69 0\n", size, time, algbw, busbw)
	}
	good := row("1048576", "71.0", "14.77", "27.69")
	for _, bad := range []string{
		row("1048576", "0.71", "14.77", "27.69"), row("10485760", "71.0", "14.77", "27.69"),
		row("1048576", "71.0", "14.77", "77.69"), row("1048576", "71.0", "4.77", "27.69"),
	} {
		for _, head := range []string{"", "# Collective test starting: all_reduce_perf\n"} {
			set, err := Read(File{"t", strings.NewReader(head + good + good + bad + good)})
			if err != nil {
				t.Errorf("%s%s: %v", head, bad, err)
				continue
			}
			place := fmt.Sprintf("t:%d", 3+strings.Count(head, "\n"))
			if left := fmt.Sprint(set.Report.Left); !strings.Contains(left, "nccl-tests whose") ||
				!strings.Contains(left, place) && !strings.Contains(left, strings.Replace(place, ":", " ", 1)) {
				t.Errorf("%s%s: left out %s", head, bad, left)
			}
			for _, c := range set.Collectives {
				if c.Time.Micros() != 71 || c.Bytes != 1<<20 || c.Ranks != 16 {
					t.Errorf("%s%s: %+v", head, bad, c)
				}
			}
		}
	}
}

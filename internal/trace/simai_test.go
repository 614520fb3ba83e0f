package trace

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/published"
	"railyard/unit"
)

const simaiHead = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 " +
	"all_gpus: 8 " +
	"checkpoints: 0 checkpoint_initiates: 0\n"

// A step by hand: transfers take 1 us each, and ranks compute for the times in the rows.
func TestSimAI(t *testing.T) {
	for name, c := range map[string]struct {
		rows string
		want unit.Time
	}{
		"computing": {"1\na -1 1000 NONE 0 2000 NONE 0 4000 NONE 0 0\n", 7 * unit.Microsecond},
		// a ring of two: each half goes around twice
		"a blocking sum": {"1\na -1 1000 ALLREDUCE 64 2000 NONE 0 4000 NONE 0 0\n", 9 * unit.Microsecond},
		"two of them": {"1\na -1 1000 ALLREDUCE 64 2000 ALLREDUCE 64 4000 NONE 0 0\n",
			11 * unit.Microsecond},
		"a gather":   {"1\na -1 1000 ALLGATHER 64 2000 NONE 0 4000 NONE 0 0\n", 8 * unit.Microsecond},
		"all to all": {"1\na -1 1000 ALLTOALL_EP 64 2000 NONE 0 4000 NONE 0 0\n", 8 * unit.Microsecond},
		"gradients' sum": {"1\na -1 1000 NONE 0 2000 NONE 0 4000 ALLREDUCE 64 500\n",
			13500 * unit.Nanosecond},
		"of experts": {"1\na -1 1000 NONE 0 2000 NONE 0 4000 ALLREDUCE_DP_EP 64 0\n",
			9 * unit.Microsecond},
		"layers go back": {"2\na -1 1000 NONE 0 2000 NONE 0 4000 NONE 0 0\nb 0 10 NONE 0 20 NONE 0 40 " +
			"NONE 0 0\n", 7070 * unit.Nanosecond},
		"sums go beside": {"2\na -1 0 NONE 0 9000 NONE 0 0 NONE 0 0\nb 0 0 NONE 0 1000 NONE 0 0 " +
			"ALLREDUCE 64 0\n", 10 * unit.Microsecond},
		"the last counts": {"2\na -1 0 NONE 0 9000 NONE 0 0 ALLREDUCE 64 0\nb 0 0 NONE 0 1000 NONE 0 0 " +
			"NONE 0 0\n", 16 * unit.Microsecond},
	} {
		x, err := Read("", File{"w.txt", []byte(simaiHead + c.rows)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if last, _ := ends(t, x.DAG,
			unit.Microsecond); last != c.want || x.Ranks != 8 || x.Format != "simai" {
			t.Errorf("%s: %v, want %v", name, last, c.want)
		}
	}
}

// Who exchanges with whom: Megatron's order.
func TestSimAIGroups(t *testing.T) {
	s := &simai{tp: 2, ep: 2, pp: 2, dp: 4, ranks: 16}
	for name, want := range map[string]string{
		"TP":    "[[0 1] [2 3] [4 5] [6 7] [8 9] [10 11] [12 13] [14 15]]",
		"DP":    "[[0 2 4 6] [1 3 5 7] [8 10 12 14] [9 11 13 15]]",
		"EP":    "[[0 2] [1 3] [4 6] [5 7] [8 10] [9 11] [12 14] [13 15]]",
		"DP_EP": "[[0 4] [1 5] [2 6] [3 7] [8 12] [9 13] [10 14] [11 15]]",
	} {
		if got := fmt.Sprint(s.groups(name)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestBadSimAI(t *testing.T) {
	row := "a -1 1 NONE 0 2 NONE 0 4 NONE 0 0"
	for text, want := range map[string]string{
		"HYBRID_DLRM x: 3\n": `w.txt:1:1: the policy "HYBRID_DLRM" is not one whose steps are built`,
		strings.Replace(simaiHead, "all_gpus: 8", "all_gpus: 9", 1): "w.txt:1:1: all_gpus 9 is not a " +
			"multiple of model_parallel_NPU_group 2 x pp 1",
		strings.Replace(simaiHead, "all_gpus: 8", "all_gpus: 0", 1): "all_gpus is 0, expected 1 to 131072",
		strings.Replace(simaiHead, "all_gpus: 8", "", 1):            "all_gpus is 0, expected 1 to 131072",
		strings.Replace(simaiHead, "all_gpus: 8", "all_gpus: -8",
			1): `all_gpus is "-8", expected a whole number`,
		strings.Replace(simaiHead, "ep: 2", "ep: 3", 1): "ep 3 does not divide the 4 data " +
			"parallel ranks",
		simaiHead:                      "w.txt:1:1: ends after 0 layers of 1",
		simaiHead + "layers\n":         `w.txt:2:1: found "layers", expected how many layers follow`,
		simaiHead + "2\n" + row + "\n": "w.txt:3:1: ends after 1 layers of 2",
		simaiHead + "1\na b c\n":       "12 fields, not 3",
		simaiHead + "1\n" + strings.Replace(row, "NONE", "SUM",
			1): `"SUM" is not a collective: NONE, ALLREDUCE`,
		simaiHead + "1\n" + strings.Replace(row, "NONE", "NONE_EP", 1):  `"NONE_EP" is not a collective`,
		simaiHead + "1\n" + strings.Replace(row, " 1 ", " -1 ", 1):      `"-1" is not a time in ns`,
		simaiHead + "1\n" + strings.Replace(row, "NONE 0", "NONE x", 1): `"x" are not bytes`,
	} {
		if _, err := Read("simai", File{"w.txt",
			[]byte(text)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
	large := strings.Replace(simaiHead, "all_gpus: 8", "all_gpus: 131072", 1) + "1\n" +
		strings.Replace(row, "4 NONE 0 0", "4 ALLREDUCE 9999999 0", 1)
	if _, err := Read("simai", File{"w.txt", []byte(large)}); err == nil || !strings.Contains(err.Error(),
		"w.txt:3:1: the workload up to here takes 1.72e+10 operations, more than the 20000000") {
		t.Error(err)
	}
	// computations count too; a hostile file would otherwise build for minutes
	wide := strings.Replace(simaiHead, "all_gpus: 8", "all_gpus: 131072", 1)
	if !strings.Contains(wide, "131072") {
		t.Fatal(simaiHead)
	}
	tall := strings.TrimSpace(wide) + "\n1000\n" + strings.Repeat("a -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n", 1000)
	if _, err := Read("simai", File{"w.txt", []byte(tall)}); err == nil || !strings.Contains(err.Error(),
		"w.txt:41:1: the workload up to here takes 2.01e+07 operations, more than the 20000000") {
		t.Error(err)
	}
}

// Omitted parts are reported.
func TestSimAILeaves(t *testing.T) {
	head := strings.Replace(strings.Replace(simaiHead, "checkpoints: 0", "checkpoints: 1 0", 1),
		"pp: 1", "pp: 2", 1)
	head = strings.TrimSpace(head) + " pp_comm 4096\n"
	x, err := Read("", File{"w.txt", []byte(head + "1\na -1 1 ALLTOALL_EP 8 2 ALLREDUCE 0 4 " +
		"ALLREDUCE_DP_EP 8 0\n\nmore\n")})
	if err != nil {
		t.Fatal(err)
	}
	want := "mapped [all-to-alls of EP groups, as direct exchanges: 1 (first w.txt:3) layers: 1 (first " +
		"w.txt:3)], " +
		"guessed [], left out [layers that are computed again going back: 1 (first w.txt:1) what " +
		"pipeline stages " +
		"send one another: every stage runs the layers concurrently, as SimAI does: 1 (first w.txt:1) " +
		"collectives " +
		"without bytes: 1 (first w.txt:3) lines after the last layer: 1 (first w.txt:5) collectives of " +
		"one rank: " +
		"1 (first w.txt:3)]"
	if got := words(x.Report); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// SimAI's own sample: two all-reduces of eight.
func TestSimAISample(t *testing.T) {
	b := published.Read(t, "simai", "microAllReduce.txt")
	x, err := Read("", File{"microAllReduce.txt", b})
	if err != nil || x.Format != "simai" || x.Ranks != 8 || len(x.Report.Mapped) != 2 {
		t.Errorf("%v %+v", err, x)
	}
}

// A group size of 0 is invalid; the size used instead is reported.
func TestSimAIZero(t *testing.T) {
	head := strings.Replace(simaiHead, "NPU_group: 2", "NPU_group: 0", 1)
	x, err := Read("", File{"w.txt", []byte(head + "1\na -1 1 ALLREDUCE 8 2 NONE 0 4 NONE 0 0\n")})
	if err != nil || head == simaiHead ||
		!strings.Contains(reported(x.Report), "model_parallel_NPU_group of 0, read as 1") {
		t.Errorf("%v", err)
	}
}

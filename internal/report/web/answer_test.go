package web

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"railyard/internal/cause"
	"railyard/internal/report"
	"railyard/internal/result"
	"railyard/unit"
)

// alltoall64 is 64 GPUs that send to one another at once.
const alltoall64 = `name: alltoall64
fabric: {kind: rail, hosts: 8, spines: 4, uplinks: 2, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 8, nics: 8}
workload: {traffic: {alltoall: {bytes: 512KiB}}}
`

// TestAnswer checks every figure of the answer against the files of runs of 3, 8, 10 and 64 GPUs. Parts are the
// critical path's, causes the account's, and pictures those of the tables.
func TestAnswer(t *testing.T) {
	s, name := server(t, "")
	names := []string{name}
	shipped, err := os.ReadFile("../../../scenarios/three-flows.yaml") // its place queues less than WRED min
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{flows, step, alltoall64, string(shipped)} {
		j, err := s.jobs.start(request{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		done := await(t, s, j.ID)
		if done.State != "done" {
			t.Fatalf("%+v", done)
		}
		names = append(names, done.Run)
	}
	for _, name := range names {
		var a Answer
		w := ask(s, "GET", "/api/runs/"+name+"/answer", "", nil)
		if w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &a) != nil {
			t.Fatalf("%s: %d %s", name, w.Code, w.Body)
		}
		checkAnswer(t, filepath.Join(s.Root, name), &a)
	}
}

// TestRemediesAtMost checks that the page has the remedies of summary.json, and that no variant saves more than its
// stated maximum.
func TestRemediesAtMost(t *testing.T) {
	s, _ := server(t, "")
	run := func(r request) (*result.Summary, string) {
		j, err := s.jobs.start(r)
		if err != nil {
			t.Fatal(err)
		}
		done := await(t, s, j.ID)
		if done.State != "done" {
			t.Fatalf("%+v", done)
		}
		sum, err := result.ReadSummary(filepath.Join(s.Root, done.Run))
		if err != nil {
			t.Fatal(err)
		}
		return sum, done.Run
	}
	text, err := os.ReadFile("../../../scenarios/victim.yaml")
	if err != nil {
		t.Fatal(err)
	}
	base, name := run(request{Text: string(text)})
	a := decoded[Answer](t, s, "/api/runs/"+name+"/answer")
	tried := 0
	for _, x := range a.Remedies {
		if !slices.ContainsFunc(base.Remedies, func(o result.Remedy) bool { return reflect.DeepEqual(o, x) }) {
			t.Errorf("%+v is not in summary.json", x)
		}
		if len(x.Set) == 0 {
			continue
		}
		variant, _ := run(request{Text: string(text), Sets: x.Set})
		if saved := base.StepTime - variant.StepTime; saved > x.Expected {
			t.Errorf("%s saves %d, at most %d (%s)", x.Says, saved, x.Expected, x.Limit)
		}
		tried++
	}
	if tried == 0 {
		t.Error("no remedy has settings")
	}
}

// TestAnswerIsTheTerminal checks that the answer has the terminal's rows of time above line rate, savings, expected
// error and counters.
func TestAnswerIsTheTerminal(t *testing.T) {
	s, name := server(t, "")
	names := map[string]bool{name: false}
	for _, r := range []request{{Text: flows}, {Text: step}, {Text: step, Sets: []string{"fidelity=flow"}}} {
		j, err := s.jobs.start(r)
		if err != nil {
			t.Fatal(err)
		}
		names[await(t, s, j.ID).Run] = len(r.Sets) > 0
	}
	for name, approximate := range names {
		var a Answer
		w := ask(s, "GET", "/api/runs/"+name+"/answer", "", nil)
		if w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &a) != nil {
			t.Fatalf("%s: %d %s", name, w.Code, w.Body)
		}
		sum, err := result.ReadSummary(filepath.Join(s.Root, name))
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		report.Text(&text, sum)
		lines := strings.Split(text.String(), "\n")
		flat := strings.Join(strings.Fields(text.String()), " ")
		begin := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "Time above line rate") })
		want := "critical path: " + unit.Time(a.Lost).Show()
		if begin < 0 || !strings.Contains(lines[begin], want) || a.Gain != "" && !strings.Contains(flat, a.Gain) {
			t.Fatalf("%s: %s lost in the answer\n%s", name, want, &text)
		}
		for i, x := range a.Rows {
			got := strings.Join(strings.Fields(lines[begin+1+i]), " ")
			want := strings.TrimSpace(fmt.Sprintf("%s %s %s %s", x.Name, unit.Time(x.Time).Show(),
				unit.ShowShare(float64(x.Time)/float64(sum.StepTime)), x.Saves))
			if got != want {
				t.Errorf("%s: the terminal's row is %q, the answer's %q", name, got, want)
			}
		}
		next := lines[begin+1+len(a.Rows)]
		if len(a.Rows) > 0 && (len(a.Below) > 0) != strings.HasPrefix(next, "  below") {
			t.Errorf("%s: %q follows the rows, below 0.5 %% are %v", name, next, a.Below)
		}
		if a.Ends != nil && a.Ends.First == a.Ends.Last {
			t.Errorf("%s: ranks end at one time: %+v", name, a.Ends)
		}
		if approximate { // lanes would claim that there were none
			v := decoded[Lanes](t, s, "/api/runs/"+name+"/lanes")
			if len(v.Queue)+len(v.Above)+len(v.Paused)+len(v.Marks)+len(v.Drops) > 0 {
				t.Errorf("%s: lanes of flows %+v", name, v)
			}
		}
		if (a.Port == nil) != (a.Link != nil) || approximate && a.Link == nil {
			t.Errorf("%s: port %+v, link %+v", name, a.Port, a.Link)
		} else if a.Link != nil {
			mean := 0.0
			for _, v := range a.Link.Load {
				mean += v / pictureColumns
			}
			if h := sum.Links.Hottest[0]; a.Link.Name != h.Name || math.Abs(a.Link.Mean-h.Utilisation) > 1e-9 ||
				math.Abs(mean-h.Utilisation) > 0.01 {
				t.Errorf("%s: the busiest link is %s at %f, the picture's mean %f: %+v", name, h.Name, h.Utilisation, mean,
					a.Link)
			}
		}
		if approximate != (a.Fidelity != "") || !strings.Contains(lines[0], a.Fidelity) ||
			!strings.Contains(flat, a.Method) || !strings.Contains(flat, a.Signals) {
			t.Errorf("%s: fidelity %q, %q, %q\n%s", name, a.Fidelity, a.Method, a.Signals, &text)
		}
	}
}

func checkAnswer(t *testing.T, dir string, a *Answer) {
	t.Helper()
	sum, err := result.ReadSummary(dir)
	if err != nil {
		t.Fatal(err)
	}
	var path []result.CriticalRow
	var ports []result.PortRow
	var ranks []result.RankRow
	var roots []result.PauseRootRow
	for _, read := range []func() error{
		func() (err error) { path, err = result.ReadTable[result.CriticalRow](dir, "critical"); return err },
		func() (err error) { ports, err = result.ReadTable[result.PortRow](dir, "ports"); return err },
		func() (err error) { ranks, err = result.ReadTable[result.RankRow](dir, "ranks"); return err },
		func() (err error) {
			roots, err = result.ReadTable[result.PauseRootRow](dir, "pause_roots")
			return err
		},
	} {
		if err := read(); err != nil {
			t.Fatal(err)
		}
	}
	classes := map[string]int64{}
	for _, p := range path {
		classes[partOf[partIndex(p.Class)].key] += p.End - p.Start
	}
	if sum.MFU > 0 { // as the terminal divides it
		classes = map[string]int64{"compute": sum.Compute, "tp": sum.ExposedTP, "pp": sum.ExposedPP, "dp": sum.ExposedDP,
			"bubble": sum.Bubble}
	}
	total, causes := int64(0), map[string]int64{}
	for _, p := range a.Parts {
		own := int64(0)
		for _, c := range p.Causes {
			own += c.Time
			causes[c.Key] += c.Time
		}
		if p.Time != classes[p.Key] || own != p.Time {
			t.Errorf("%s: %s takes %d of the step, %d in the answer, its causes %d", dir, p.Key, classes[p.Key],
				p.Time, own)
		}
		total += p.Time
	}
	if total != sum.StepTime {
		t.Errorf("%s: parts sum to %d of %d", dir, total, sum.StepTime)
	}
	for _, c := range cause.All() {
		if causes[c.Key] != sum.Chain.Costs(c.ID) {
			t.Errorf("%s: %s has %d in the parts, %d in the account", dir, c.Key, causes[c.Key], sum.Chain.Costs(c.ID))
		}
	}
	if i := slices.IndexFunc(a.Losses, func(x StepLoss) bool { return x.Name == a.Main }); i > 0 {
		t.Errorf("%s: the main cause is %s, the first loss %s", dir, a.Main, a.Losses[0].Name)
	}
	if p := a.Place; p != nil && a.Losses[0].Key == "rate_not_given_back" && sum.ECNMarks > 0 &&
		ports[p.Port].Marks == 0 {
		t.Errorf("%s: CC recovering after %s, which marks nothing", dir, p.Name)
	}
	for _, x := range append(a.Losses, a.Minor...) {
		c, _ := cause.Find(x.Key)
		if x.Own != sum.Chain.Own[c.ID] || x.Reaction != sum.Chain.Reaction[c.ID] ||
			x.Saving != sum.Chain.Saving[c.ID] {
			t.Errorf("%s: %+v", dir, x)
		}
	}
	peak := int64(0)
	for _, p := range ports {
		if p.Role != "host" {
			peak = max(peak, p.QueuePeak)
		}
	}
	if a.Port == nil || a.Port.Longest != (a.Port.Peak == peak) || ports[a.Port.Port].QueuePeak != a.Port.Peak ||
		slices.Max(a.Port.Queue) > a.Port.Peak || 2*slices.Max(a.Port.Queue) < a.Port.Peak {
		t.Errorf("%s: the longest queue is %d: %+v", dir, peak, a.Port)
	}
	if p := a.Place; p != nil && ports[p.Port].Role != "host" && ports[p.Port].QueuePeak > 0 {
		short := ports[p.Port].QueuePeak < a.Port.WRED && peak >= a.Port.WRED
		if short != (p.Port != a.Port.Port) || short && !a.Port.Longest {
			t.Errorf("%s: the place is %s, the picture's port %s", dir, p.Name, a.Port.Name)
		}
	}
	end := map[int32]int64{}
	for _, x := range ranks {
		end[x.Rank] = max(end[x.Rank], x.End)
	}
	count := 0
	for _, n := range a.Ends.Counts {
		count += n
	}
	for rank, at := range end {
		if at > a.Ends.Last || at < a.Ends.First || rank == a.Ends.Rank && at != a.Ends.Last {
			t.Errorf("%s: rank %d ends at %d, the picture is %+v", dir, rank, at, a.Ends)
		}
	}
	if count != len(end) || count != a.Ends.Ranks || !strings.HasPrefix(a.Ends.Name, "host-") {
		t.Errorf("%s: %d of %d ranks in %+v", dir, count, len(end), a.Ends)
	}
	long := int64(0)
	for _, x := range roots {
		long = max(long, x.To-x.From)
	}
	if (a.Pause != nil) != (sum.PFCPauses > 0) ||
		a.Pause != nil && (a.Pause.Time != long || len(a.Pause.Ports) < 2) {
		t.Errorf("%s: the longest pause takes %d: %+v", dir, long, a.Pause)
	}
	for i, x := range a.Remedies {
		same := func(o result.Remedy) bool { return o.Says == x.Says && slices.Equal(o.Set, x.Set) }
		twice := slices.ContainsFunc(a.Remedies[:i], same)
		if !slices.ContainsFunc(sum.Remedies, same) || twice {
			t.Errorf("%s: %+v", dir, x)
		}
	}
}

// TestFit checks that a table has the sums to which it is scaled, for any seed.
func TestFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(1, 6).Draw(t, "rows"), rapid.IntRange(1, 8).Draw(t, "columns")
		rows, columns, seed := make([]int64, n), make([]int64, m), make([][]float64, n)
		for i := range seed {
			seed[i] = make([]float64, m)
			for j := range seed[i] {
				seed[i][j] = rapid.SampledFrom([]float64{0, 1e-12, 1e-6, 0.3, 1}).Draw(t, "seed")
				x := rapid.Int64Range(0, 1e12).Draw(t, "time")
				rows[i], columns[j] = rows[i]+x, columns[j]+x
			}
		}
		for i, row := range fit(seed, rows, columns) {
			for j, x := range row {
				if x < 0 {
					t.Fatalf("%d at %d, %d", x, i, j)
				}
				rows[i], columns[j] = rows[i]-x, columns[j]-x
			}
		}
		if slices.Max(append(rows, columns...)) != 0 || slices.Min(append(rows, columns...)) != 0 {
			t.Fatalf("left: %v, %v", rows, columns)
		}
	})
}

// TestVariants checks that a variant of a run is the run with further settings, and that it is listed with them.
func TestVariants(t *testing.T) {
	s, name := server(t, "")
	body := fmt.Sprintf(`{"of": %q, "sets": ["cc.algorithm=dcqcn"]}`, name)
	w := ask(s, "POST", "/api/jobs", body, nil)
	var j Simulation
	if w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &j) != nil || j.Of != name ||
		!slices.Equal(j.Sets, []string{"cc.algorithm=dcqcn"}) {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	done := await(t, s, j.ID)
	get := func(run string) (all []Variant) {
		w := ask(s, "GET", "/api/runs/"+run+"/variants", "", nil)
		if w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &all) != nil {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		return all
	}
	sum, err := result.ReadSummary(filepath.Join(s.Root, done.Run))
	if err != nil {
		t.Fatal(err)
	}
	all := get(name)
	if len(all) != 1 || all[0].Run != done.Run || all[0].StepTime != sum.StepTime ||
		!slices.Equal(all[0].Sets, j.Sets) {
		t.Errorf("%+v", all)
	}
	if back := get(done.Run); len(back) != 0 { // the reverse removes a setting
		t.Errorf("%+v", back)
	}
	for body, want := range map[string]string{`{"of": "../x"}`: "not the name of a run", `{"of": "none"}`: "unknown run"} {
		w := ask(s, "POST", "/api/jobs", body, nil)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
}

// TestTiers checks quantiles, shares and culprits of tiers against the samples. A tier's maximum over time is the
// longest queue of its ports, the share above a threshold is a count, and shares of held bytes add up.
func TestTiers(t *testing.T) {
	s, name := server(t, "")
	dir := filepath.Join(s.Root, name)
	var v Tiers
	w := ask(s, "GET", "/api/runs/"+name+"/tiers", "", nil)
	if w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &v) != nil {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	links, err := result.ReadTable[result.LinkRow](dir, "links")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	of, names := r.tierOf()
	longest, held := make([]int64, len(names)), make([]float64, len(r.ports))
	total := 0.0
	for _, l := range links {
		longest[of[l.Port]] = max(longest[of[l.Port]], l.Longest())
		held[l.Port] += float64(l.Queued) * float64(l.Length)
		total += float64(l.Queued) * float64(l.Length)
	}
	flows, err := result.ReadTable[result.FlowRow](dir, "flows")
	if err != nil {
		t.Fatal(err)
	}
	for c, n := range v.Flows { // one by one: in flight for a part of the column
		from, to, want := float64(c)*v.Width, float64(c+1)*v.Width, int64(0)
		for _, x := range flows {
			if float64(x.Posted) < to && (x.Done < 0 || float64(x.Done) > from) {
				want++
			}
		}
		if n != want {
			t.Errorf("column %d: %d messages under way, want %d", c, n, want)
		}
	}
	ports, share := 0, 0.0
	for i, x := range v.Tiers {
		ports, share = ports+x.Ports, share+x.Held
		if x.Name != names[i] || slices.Max(x.Queue[3]) != longest[i] {
			t.Errorf("%s: the longest queue is %d, drawn is %d", x.Name, longest[i], slices.Max(x.Queue[3]))
		}
		for c := range x.Above {
			for q := 1; q < len(quantiles); q++ {
				if x.Queue[q][c] < x.Queue[q-1][c] || x.Load[q][c] < x.Load[q-1][c] {
					t.Errorf("%s: quantiles fall in column %d", x.Name, c)
				}
			}
			count := x.Above[c] * float64(x.Ports)
			if x.WREDMin > 0 && (count > 0.5) != (x.Queue[3][c] >= x.WREDMin) {
				t.Errorf("%s: %.0f ports above %d in column %d, the longest queue is %d", x.Name, count, x.WREDMin, c,
					x.Queue[3][c])
			}
		}
	}
	if ports != len(r.ports) || share < 0.999 || share > 1.001 || len(v.Culprits) == 0 {
		t.Errorf("%d ports hold %.3f of the bytes: %+v", ports, share, v.Culprits)
	}
	for _, c := range v.Culprits {
		if d := c.Held - held[c.Port]/total; d > 1e-6 || d < -1e-6 || c.Peak != r.ports[c.Port].QueuePeak {
			t.Errorf("%s holds %.6f: %+v", c.Name, held[c.Port]/total, c)
		}
	}
	if names[0] != "host → rail" || names[len(names)-1] != "rail → host" {
		t.Errorf("%q", names)
	}
}

// TestFlowsHaveNoQueue checks that rates which recover in a run by flows are not said to follow a queue of a NIC.
func TestFlowsHaveNoQueue(t *testing.T) {
	text, err := os.ReadFile("../../../scenarios/fattree1024-permutation.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := server(t, "")
	j, err := s.jobs.start(request{Text: string(text), Sets: []string{"fidelity=flow"}})
	if err != nil {
		t.Fatal(err)
	}
	name := await(t, s, j.ID).Run
	sum, err := result.ReadSummary(filepath.Join(s.Root, name))
	if err != nil {
		t.Fatal(err)
	}
	a := decoded[Answer](t, s, "/api/runs/"+name+"/answer")
	why := sum.Slowest.Why
	if !strings.Contains(why, "CC recovering") || strings.Contains(why, "queue at") ||
		a.Place == nil || a.Place.Cause != "hash_collision" || strings.Contains(a.Place.Name, "nic") {
		t.Errorf("%q, at %+v", why, a.Place)
	}
}

// TestEndsOfTheStep checks that the picture of the last rank leaves out checkpoints that are written beyond the step.
func TestEndsOfTheStep(t *testing.T) {
	text, err := os.ReadFile("../../../scenarios/storage.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := server(t, "")
	j, err := s.jobs.start(request{Text: string(text) + "fidelity: flow\n"})
	if err != nil {
		t.Fatal(err)
	}
	name := await(t, s, j.ID).Run
	sum, err := result.ReadSummary(filepath.Join(s.Root, name))
	if err != nil {
		t.Fatal(err)
	}
	a := decoded[Answer](t, s, "/api/runs/"+name+"/answer")
	if sum.Recorded() <= sum.StepTime {
		t.Fatal("nothing is written beyond the step")
	}
	if a.Ends == nil || a.Ends.Last > sum.StepTime {
		t.Errorf("the step takes %d ps, the last rank ends at %+v", sum.StepTime, a.Ends)
	}
}

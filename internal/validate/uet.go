package validate

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/rng"
)

// uet-htsim's own results, published in its repository (ultraethernet/uet-htsim, sim/datacenter/results, commit
// 40ccb05; docs/references.md, uet-results): 8,192 hosts below 128 leaves of 64 ports each way, or a quarter or an
// eighth as many upward, 1 us cables. They are a year older than that commit: RCCC's of 30 July 2024 (f1f54d0),
// NSCC's, of the files _2, of 2 August 2024 (1af36c4), when NSCC did not follow UEC's text yet (2658277 and others):
// quick adapt without a gate after any loss, increases cut at 8,000 bytes, twice as many acknowledgements. What
// 40ccb05 has for such runs is in uetpresent.go. Its settings map as follows.
//
//	-sender_cc_only        cc.algorithm nscc, profile trim
//	-receiver_cc_only      cc.algorithm rccc; ports to servers mark nothing (switch.mark_core_only)
//	-q N                   switch.queues.3.limit: N of our packets, as they lie in a queue
//	-ecn LOW HIGH          wred_min and wred_max: so many packets; every packet above HIGH is marked
//	-cwnd N                nothing: 0.75 times Gbit/s/2 packets are what 1.5 unloaded round trips hold, ours
//	-paths N               lb_options.source_ports; 64 unless it is given
//	-load_balancing_algo   lb mixed, its default
//	-failed 1              all cables of the first spine at a quarter of their rate, both ways, and their
//	                       queues a quarter as long: switch.limits_in_time
//	trim size              switch.trim.size 64B
//
// Packets there have 4,086 of 4,150 bytes, here 4,096 of 4,178 with preamble and gap; a flow there ends with its
// last acknowledgement. RCCC over oversubscribed leaves is left out where the core is what limits it: its receivers
// then slow down by a rule of its own (oversubscribed_cc.cpp) that no text has.
//
//go:embed uet/results.csv
var uetResults string

// uetIncasts are the connection matrices incast-N-SPREAD-MiB: receiver, bytes, and senders with their start in
// us. uet-htsim's present reader of matrices takes starts for ps; the results are later by them in us.
//
//go:embed uet/incasts.txt
var uetIncasts string

// uetPermutation is the traffic of perm_8192n_8192c_1MB.cm. Other sizes' pairs are drawn anew there.
//
//go:embed uet/permutation.txt
var uetPermutation string

// uetRun is one published run.
type uetRun struct {
	control, matrix, paths string
	gbps, over             int
	failed                 bool
	small                  bool    // 512 hosts below 8 leaves, run by us
	whole                  bool    // whether queues of slow cables have the length of others, the default
	seeds                  int     // number of seeds averaged; 0: one
	last                   float64 // us
}

func (u *uetRun) String() string {
	s := fmt.Sprintf("%s %dG %d:1 %s", strings.ToUpper(u.control), u.gbps, u.over, u.matrix)
	if !strings.HasPrefix(u.matrix, "incast") {
		s += ", " + u.paths + " paths"
	}
	return s
}

// uetClass is a kind of runs that are judged together, by the root mean square of their differences.
type uetClass struct {
	name, control string
	failed        bool
	kind          string     // kind in the names of matrices
	bytes         [2]float64 // total MiB of an incast, MB of each flow of a permutation: lower and upper bound
	most          float64    // maximum root mean square
	draw          int        // runs that a report draws
	seeds         int        // seeds of each run; 0: one
	large         bool       // and whether the row is not a quick one
}

// The 35 published permutations of NSCC are of other rules (rules2024).
//
// A published run is one draw of paths. NSCC's incasts of 8 there, run by us at 1af36c4 with 8 seeds each, differ from
// their mean by 2.0 % root mean square (22 matrices; of 2 and 32: 0.7 %), simulated ones by 1.7 %. Means of 8 seeds
// differ from means of 8 by 1.5 %. So the mean of four seeds is compared.
var uetClasses = []uetClass{
	{"incasts of up to 64 MiB", "nscc", false, "incast-", [2]float64{0, 64}, 0.02, 8, 4, false},
	{"incasts of up to 64 MiB", "rccc", false, "incast-", [2]float64{0, 64}, 0.02, 8, 0, false},
	{"incasts of up to 1 GiB", "nscc", false, "incast-", [2]float64{64, 1024}, 0.02, 12, 0, true},
	{"incasts of up to 1 GiB", "rccc", false, "incast-", [2]float64{64, 1024}, 0.02, 12, 0, true},
	{"permutations of 1 and 2 MB", "nscc", false, "permutation-", [2]float64{0, 2}, 0.05, 8, 0, true},
	{"permutations of 1 and 2 MB", "rccc", false, "permutation-", [2]float64{0, 2}, 0.05, 3, 0, true},
	{"permutations past slow links", "nscc", true, "permutation-", [2]float64{0, 2}, 0.10, 2, 0, true},
	{"permutations past slow links", "rccc", true, "permutation-", [2]float64{0, 2}, 0.10, 4, 0, true},
}

// uetRows draws runs of each class and compares Railyard with them.
func uetRows(large bool) (rows []Row, err error) {
	all := must(uetPublished())
	for _, c := range uetClasses {
		if c.large && !large {
			continue
		}
		mine := c.of(all)
		of := len(mine)
		shuffle(mine, rng.New(16, c.control+" "+c.name))
		n := min(c.draw, of)
		rows = append(rows, must(c.rows(mine[:n], of))...)
	}
	if large {
		rows = append(rows, must(wholeQueues(all)))
		rows = append(rows, must(uetPresentRows())...)
	}
	idle, err := standsIdle(all)
	return append(rows, idle), err
}

// wholeQueues is a row for flows past slow cables whose queues have the length of others, the default.
func wholeQueues(all []uetRun) (Row, error) {
	u := all[slices.IndexFunc(all, func(u uetRun) bool { return u.failed && u.over == 1 && u.paths == "128" })]
	u.whole = true
	got, _, err := u.run()
	do(err)
	row := within(fmt.Sprintf("%v, past slow links whose queues are as long as others: last completion, us", &u),
		"uet-htsim's published results, docs/references.md, uet-results", u.last, got, 0.1, "%.1f")
	return row.because(quarterQueues), nil
}

// of are the runs of a class.
func (c *uetClass) of(all []uetRun) (mine []uetRun) {
	for _, u := range all {
		if u.seeds = c.seeds; c.has(&u) {
			mine = append(mine, u)
		}
	}
	return mine
}

func shuffle[T any](list []T, random rng.Stream) {
	for i := range list {
		j := i + random.Intn(len(list)-i)
		list[i], list[j] = list[j], list[i]
	}
}

var idleThere = reason("an idle link of uet-htsim",
	"uet-htsim's RCCC leaves the receiver's link idle for 3.1 us. Its NSCC takes 29.4 us, and so does its RCCC where both flows start together.",
	NoSetting, "no setting idles a link that has credit")

// standsIdle is a row for the one incast whose receiver leaves its cable idle in uet-htsim.
func standsIdle(all []uetRun) (Row, error) {
	u := &all[slices.IndexFunc(all, func(u uetRun) bool { return u.idle() })]
	got, _, err := u.run()
	do(err)
	row := within(fmt.Sprintf("%v, the second flow from 9 us on: last completion, us", u),
		"uet-htsim's published results, docs/references.md, uet-results", u.last, got, 0.05, "%.1f")
	return row.because(idleThere), nil
}

// idle reports whether a run is of that incast.
func (u *uetRun) idle() bool {
	return u.control == "rccc" && u.gbps == 800 && u.matrix == "incast-2-16-1"
}

// has reports whether a run is of the class.
func (c *uetClass) has(u *uetRun) bool {
	if u.idle() || u.control != c.control || u.failed != c.failed || !strings.HasPrefix(u.matrix, c.kind) {
		return false // the idle one has a row of its own
	}
	var n, spread, size float64
	if _, err := fmt.Sscanf(u.matrix, "incast-%g-%g-%g", &n, &spread, &size); err == nil {
		size *= n
	} else if fmt.Sscanf(u.matrix, "permutation-%g", &size); u.control == "rccc" && u.over > 1 {
		return false
	}
	return size > c.bytes[0] && size <= c.bytes[1]
}

var rules2024 = reason("NSCC of August 2024",
	"The published runs are of 1af36c4. Its NSCC adds the fair increase to the proportional one, bounds each increase, and adapts quickly after any loss (uec.cpp); 2658277 follows UEC's text. Until 40ccb05 uet-htsim's own last completions changed by 5.8 % root mean square (35 runs of 512 hosts, -12 to +11 %): 2 MB at 800G over 64 paths took 31.98 us and take 35.31. Of the 35 published ones 34 together differ by 5.2 %, on average by 0.0 %. Means over leaves without oversubscription are those of 40ccb05 (next row).",
	NoSetting, "no setting has the rules of August 2024; cc.nscc.ack_every=2 cc.nscc.adjust_packets=2 leave -11 to +10 %")

// rows runs a class's sample. Over leaves without oversubscription NSCC's mean completions are compared with those of
// 512 hosts at 40ccb05, too: each flow crosses two tiers, whatever their number.
func (c *uetClass) rows(sample []uetRun, of int) ([]Row, error) {
	var last, mean uetSpread
	present := map[string]float64{}
	for _, u := range must(uetPresentRuns()) {
		if u.control == "nscc" && c.control == u.control && u.over == 1 && !u.failed && !c.failed {
			present[u.String()] = u.mean
		}
	}
	for i := range sample {
		u := sample[i]
		got, middle, err := u.run()
		if err != nil {
			return nil, fmt.Errorf("%v: %w", &u, err)
		}
		last.add(&u, got)
		if u.last = present[u.String()]; u.last > 0 {
			mean.add(&u, middle)
		}
	}
	row := func(what, of string, s *uetSpread, most float64) Row {
		return Row{Claim: fmt.Sprintf("%v of 8,192 hosts, %s: %s completion, root mean square", c, of, what),
			Source:   "uet-htsim's published results, docs/references.md, uet-results",
			Expected: fmt.Sprintf("<= %.1f %%", 100*most), OK: s.rms() <= most,
			Ours: fmt.Sprintf("%.1f %%", 100*s.rms()),
			Diff: fmt.Sprintf("mean %+.1f %%, worst %+.1f %%: %s", 100*s.mean(), 100*s.worst, s.where)}
	}
	rows := []Row{row("last", fmt.Sprintf("%d of %d drawn", len(sample), of), &last, c.most)}
	if mean.n > 0 {
		rows[0] = rows[0].because(rules2024)
		rows = append(rows, row("mean", fmt.Sprintf("the %d of these over 1:1", mean.n), &mean, 0.03))
		rows[1].Source = presentSource
	}
	return rows, nil
}

// uetSpread is the error of runs.
type uetSpread struct {
	n            int
	sum, squares float64
	worst        float64
	where        string
}

func (s *uetSpread) add(u *uetRun, got float64) {
	d := got/u.last - 1
	s.n, s.sum, s.squares = s.n+1, s.sum+d, s.squares+d*d
	if math.Abs(d) > math.Abs(s.worst) {
		s.worst, s.where = d, u.String()
	}
}

func (s *uetSpread) mean() float64 { return s.sum / float64(s.n) }
func (s *uetSpread) rms() float64  { return math.Sqrt(s.squares / float64(s.n)) }

// run simulates a run and returns its last completion and their mean, us; of several seeds the means.
func (u *uetRun) run() (last, mean float64, err error) {
	n := max(1, u.seeds)
	for seed := range n {
		l, m, err := u.simulate(seed + 1)
		if err != nil {
			return 0, 0, err
		}
		last, mean = last+l/float64(n), mean+m/float64(n)
	}
	return last, mean, nil
}

// simulate returns the last completion and their mean, us; the return of the last acknowledgement over four links is
// added.
func (u *uetRun) simulate(seed int) (last, mean float64, err error) {
	matrix := must(u.connections())
	hosts := 8192
	if u.small {
		hosts = 512
	}
	packets := u.gbps / 4 // of a queue
	const inQueue = swiftWire - wireGap
	events := ""
	if u.failed {
		events = "events: [{switch: spine-1, at: 0s, rate_share: 0.25}]"
	}
	r := must(startWith(fmt.Sprintf(`
name: uet
seed: %[14]d
fabric:
  pipeline: 0s
  host_link: {rate: %[1]dGbps, delay: 1us}
  fabric_link: {rate: %[1]dGbps, delay: 1us}
  types: {host: {gpus: 1, nics: 1}, leaf: {role: leaf}, spine: {role: spine}}
  nodes:
    host: {type: host, count: %[12]d}
    leaf: {type: leaf, count: %[13]d}
    spine: {type: spine, count: %[2]d}
  cables: [{from: host, to: leaf, match: {n: n/64}}, {from: leaf, to: spine}]
server: {nic_latency: 0s}
transport: uec
cc: {algorithm: %[3]s}
lb_options: {source_ports: %[4]s}
switch:
  mark_core_only: %[5]v
  limits_in_time: %[11]v
  trim: {size: 64B}
  queues: {"3": {limit: %[6]dB, wred_min: %[7]dB, wred_max: %[8]dB}}
workload: {traffic: {matrix: %[9]s.cm}}
%[10]s
`, u.gbps, 64/u.over, u.control, u.paths, u.control == "rccc", packets*inQueue, packets/4*inQueue,
		3*packets/4*inQueue, u.matrix, events, u.failed && !u.whole, hosts, hosts/64, seed),
		func(string) ([]byte, error) { return matrix, nil }))
	do(r.Go(nil))
	s, _, _ := r.Outcome("")
	back := 4 * (1 + (ackFrame+wireGap)*8/(1e3*float64(u.gbps)))
	return float64(s.StepTime)/1e6 + back, float64(s.Flows.Mean)/1e6 + back, nil
}

// connections is a run's matrix, as htsim writes it.
func (u *uetRun) connections() ([]byte, error) {
	var b strings.Builder
	if mb, ok := strings.CutPrefix(u.matrix, "permutation-"); ok {
		to := strings.Fields(uetPermutation)
		if u.small {
			to = strings.Fields(uetPermutation512)
		}
		fmt.Fprintf(&b, "Nodes %d\nConnections %[1]d\n", len(to))
		for from, dst := range to {
			fmt.Fprintf(&b, "%d->%s start 0 size %s000000\n", from, dst, mb)
		}
		return []byte(b.String()), nil
	}
	for line := range strings.Lines(uetIncasts) {
		f := strings.Fields(line)
		if f[0] != u.matrix {
			continue
		}
		fmt.Fprintf(&b, "Nodes 8192\nConnections %d\n", len(f)-3)
		for _, s := range f[3:] {
			from, start, later := strings.Cut(s, "@")
			if later {
				start += "000000"
			}
			fmt.Fprintf(&b, "%s->%s start 0%s size %s\n", from, f[1], start, f[2])
		}
		return []byte(b.String()), nil
	}
	return nil, fmt.Errorf("no matrix is called %s", u.matrix)
}

// uetPublished reads the results.
func uetPublished() (all []uetRun, err error) {
	lines := must(csv.NewReader(strings.NewReader(uetResults)).ReadAll())
	for _, l := range lines[1:] {
		u := uetRun{control: l[0], matrix: l[3], paths: l[4], failed: l[5] != "0"}
		u.gbps = must(strconv.Atoi(l[1]))
		u.over = must(strconv.Atoi(l[2]))
		u.last = must(strconv.ParseFloat(l[6], 64))
		all = append(all, u)
	}
	return all, nil
}

// perm1024 lists, by number, the pairs of perm_1024n_1024c_0u_2000000b.cm of uet-htsim and csg-htsim, whose figures
// for 1,024 hosts are for these pairs.
//
//go:embed perm1024.txt
var perm1024 string

// sameMatrix is the traffic of rows that are compared with those figures: 2 MB for each pair.
const sameMatrix = "matrix: perm1024.cm"

// connections reads the one connection matrix that scenarios of rows name.
func connections(name string) ([]byte, error) {
	if !strings.HasSuffix(sameMatrix, " "+name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	pairs := strings.Split(strings.Join(strings.Fields(perm1024), " "), ", ")
	var b strings.Builder
	fmt.Fprintf(&b, "Nodes %d\nConnections %[1]d\n", len(pairs))
	for _, p := range pairs {
		from, to, _ := strings.Cut(p, " ")
		fmt.Fprintf(&b, "%s->%s start 0 size 2000000\n", from, to)
	}
	return []byte(b.String()), nil
}

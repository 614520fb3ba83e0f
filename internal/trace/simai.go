package trace

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/internal/workload"
	"railyard/unit"
)

// simaiPolicies are the supported ones: forward through the layers, each with a blocking collective, then backward.
// There, collectives of input gradients block and those of weight gradients do not.
var simaiPolicies = []string{"HYBRID_TRANSFORMER_FWD_IN_BCKWD", "HYBRID_TRANSFORMER"}

// isSimAI recognizes a workload by its policy.
func isSimAI(_ string, head []byte) bool {
	words := strings.Fields(string(head))
	return len(words) > 1 && (slices.Contains(simaiPolicies, words[0]) ||
		strings.HasPrefix(words[0], "HYBRID_") && strings.Contains(string(head), ":"))
}

// simai is a workload of SimAI or ASTRA-sim 1 (docs/references.md, formats).
type simai struct {
	file           string
	tp, ep, pp, dp int
	ranks          int
	layers         []simaiLayer
	report         Report
	fit            fitter
}

// simaiLayer is a row: for the forward pass, input gradients and weight gradients each a rank's computation and the
// following collective.
type simaiLayer struct {
	line   int
	parts  [3]simaiPart
	update unit.Time // after the collective of the weight gradients
}

type simaiPart struct {
	dur   unit.Time
	kind  coll.Kind
	none  bool
	group string // "": the usual one; EP, DP_EP
	bytes unit.Bytes
}

func readSimAI(o *Options, files []File) (*Trace, error) {
	if len(files) != 1 {
		return nil, at(files[1].Name, 0, "a workload of SimAI is one file; found %d", len(files))
	}
	s := &simai{file: files[0].Name, fit: fitter{on: o.On}}
	rows, n := -1, 0
	for text := range bytes.Lines(files[0].Text) {
		n++
		words := strings.Fields(string(text))
		var err error
		switch {
		case len(words) == 0:
		case s.ranks == 0:
			err = s.head(n, words)
		case rows < 0:
			if rows, err = strconv.Atoi(words[0]); err != nil || rows < 1 || len(words) != 1 {
				err = at(s.file, n, "found %s, expected how many layers follow",
					field.Quote(strings.Join(words, " ")))
			}
		case len(s.layers) == rows:
			note(&s.report.Left, "lines after the last layer", s.file, n)
		default:
			err = s.row(n, words)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case s.ranks == 0:
		return nil, at(s.file, 0, "is empty")
	case len(s.layers) < rows || rows < 0:
		return nil, at(s.file, max(1, n), "ends after %d layers of %d", len(s.layers), max(rows, 1))
	}
	return s.trace()
}

// head reads the first line: a policy, then keys and their values.
func (s *simai) head(n int, words []string) error {
	if !slices.Contains(simaiPolicies, words[0]) {
		return at(s.file, n, "the policy %s is not one whose steps are built; accepted: %s",
			field.Quote(words[0]), strings.Join(simaiPolicies, ", "))
	}
	value := map[string]int{"model_parallel_NPU_group": 1, "ep": 1, "pp": 1, "all_gpus": 0, "checkpoints": 0,
		"checkpoint_initiates": 0, "ga": 1, "vpp": 1, "pp_comm": 0}
	for i := 1; i+1 < len(words); i++ {
		key := strings.TrimSuffix(words[i], ":")
		if _, known := value[key]; !known {
			continue
		}
		x, err := strconv.Atoi(words[i+1])
		if err != nil || x < 0 || x > 1<<31-1 {
			return at(s.file, n, "%s is %s, expected a whole number", key, field.Quote(words[i+1]))
		}
		value[key] = x
		if x == 0 && (key == "model_parallel_NPU_group" || key == "ep" || key == "pp") {
			note(&s.report.Guessed, key+" of 0, read as 1", s.file, n)
		}
	}
	s.tp, s.ep, s.pp, s.ranks = max(1, value["model_parallel_NPU_group"]), max(1, value["ep"]),
		max(1, value["pp"]), value["all_gpus"]
	switch {
	case s.ranks < 1 || s.ranks > maxRanks:
		return at(s.file, n, "all_gpus is %d, expected 1 to %d", s.ranks, maxRanks)
	case s.ranks%(s.tp*s.pp) != 0:
		return at(s.file, n, "all_gpus %d is not a multiple of model_parallel_NPU_group %d x pp %d", s.ranks, s.tp, s.pp)
	}
	if s.dp = s.ranks / (s.tp * s.pp); s.dp%s.ep != 0 {
		return at(s.file, n, "ep %d does not divide the %d data parallel ranks", s.ep, s.dp)
	}
	for key, why := range map[string]string{"checkpoints": "layers that are computed again going back",
		"pp_comm": "what pipeline stages send one another: every stage runs the layers concurrently, as SimAI does"} {
		if value[key] > 0 {
			note(&s.report.Left, why, s.file, n)
		}
	}
	slices.SortFunc(s.report.Left, func(a, b Count) int { return strings.Compare(a.What, b.What) })
	return nil
}

// row parses a layer: id, dependency, then three times a time in ns, a collective and its bytes, and the time of
// the update.
func (s *simai) row(n int, words []string) error {
	bad := func(what string) error {
		return at(s.file, n, "found %s, expected a layer: id dependency, thrice time collective bytes, and the update's time: %s", field.Quote(strings.Join(words, " ")), what)
	}
	if len(words) != 12 {
		return bad("12 fields, not " + strconv.Itoa(len(words)))
	}
	l := simaiLayer{line: n}
	times := [4]string{words[2], words[5], words[8], words[11]}
	var durs [4]unit.Time
	for i, w := range times {
		ns, err := strconv.ParseInt(w, 10, 64)
		if err != nil || ns < 0 || ns > int64(unit.Never/unit.Nanosecond)/4 {
			return bad(field.Quote(w) + " is not a time in ns")
		}
		durs[i] = unit.Time(ns) * unit.Nanosecond
	}
	l.update = durs[3]
	for i := range l.parts {
		p := &l.parts[i]
		p.dur = durs[i]
		size, err := strconv.ParseInt(words[4+3*i], 10, 64)
		if err != nil || size < 0 || size > 1<<50 {
			return bad(field.Quote(words[4+3*i]) + " are not bytes")
		}
		if p.bytes = unit.Bytes(size); !p.named(words[3+3*i]) {
			return bad(field.Quote(words[3+3*i]) + " is not a collective: NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL, also with _EP and _DP_EP")
		}
		if !p.none && size == 0 {
			note(&s.report.Left, "collectives without bytes", s.file, n)
			p.none = true
		}
	}
	s.layers = append(s.layers, l)
	return nil
}

// named reads a collective's name.
func (p *simaiPart) named(word string) bool {
	name, group, _ := strings.Cut(word, "_")
	kind, known := map[string]coll.Kind{"ALLREDUCE": coll.AllReduce, "ALLGATHER": coll.AllGather,
		"REDUCESCATTER": coll.ReduceScatter, "ALLTOALL": coll.ToAll}[name]
	p.kind, p.group, p.none = kind, group, word == "NONE"
	return p.none || known && (group == "" && word == name || group == "EP" || group == "DP_EP")
}

// groups returns the ranks of a collective. Tensor parallel ranks are consecutive, then data parallel ones, of
// which experts take ep consecutive ones. Pipeline stages are outermost (Megatron's order, SimAI's MockNccl).
func (s *simai) groups(name string) (all [][]int) {
	span, step, per := s.tp, 1, s.tp // size and stride of groups, and the ranks between their first members
	switch name {
	case "DP":
		span, step, per = s.dp, s.tp, s.tp*s.dp
	case "EP":
		span, step, per = s.ep, s.tp, s.tp*s.ep
	case "DP_EP":
		span, step, per = s.dp/s.ep, s.tp*s.ep, s.tp*s.dp
	}
	for first := 0; first < s.ranks; first += per {
		for at := range step {
			g := make([]int, span)
			for i := range g {
				g[i] = first + at + i*step
			}
			all = append(all, g)
		}
	}
	return all
}

// simaiBuild is a step while it is built.
type simaiBuild struct {
	*simai
	b     *workload.Builder
	chain [][]int32 // by rank: its dependencies
	have  map[string][][]int
	ops   float64
}

// trace builds the step.
func (s *simai) trace() (*Trace, error) {
	x := &simaiBuild{simai: s, b: workload.NewBuilder(s.ranks), chain: make([][]int32, s.ranks),
		have: map[string][][]int{}}
	for _, name := range []string{"TP", "DP", "EP", "DP_EP"} {
		x.have[name] = s.groups(name)
	}
	s.fit.reckon(0, func(add func(Run, []int)) {
		for i := range s.layers {
			for k, usual := range []string{"TP", "TP", "DP"} {
				p := &s.layers[i].parts[k]
				groups, _ := x.among(p, usual)
				for _, g := range groups {
					add(p.want(), g)
				}
			}
		}
	})
	for i := range s.layers { // before any operation is built
		l := &s.layers[i]
		for _, d := range []unit.Time{l.parts[0].dur, l.parts[1].dur, l.parts[2].dur, l.update} {
			if err := x.grows(l, float64(min(d, 1))*float64(s.ranks)); err != nil {
				return nil, err
			}
		}
	}
	for i := range s.layers {
		if err := x.part(&s.layers[i], 0, workload.Forward, "TP"); err != nil {
			return nil, err
		}
		note(&s.report.Mapped, "layers", s.file, s.layers[i].line)
	}
	for i := len(s.layers) - 1; i >= 0; i-- {
		l := &s.layers[i]
		if err := x.part(l, 1, workload.Backward, "TP"); err != nil {
			return nil, err
		}
		x.compute(l.parts[2].dur, workload.Backward)
		back := x.chain // only the end depends on weight gradients
		if err := x.exchange(l, 2, "DP"); err != nil {
			return nil, err
		}
		x.compute(l.update, workload.Optimizer)
		x.chain = back
	}
	d, err := x.b.Seal()
	if err != nil {
		return nil, at(s.file, 0, "%v", err)
	}
	return &Trace{Ranks: s.ranks, DAG: d, Report: s.report, Runs: s.fit.runs}, nil
}

// compute lets every rank compute.
func (x *simaiBuild) compute(d unit.Time, class workload.Class) {
	if d == 0 {
		return
	}
	next := make([][]int32, x.ranks)
	for r := range next {
		next[r] = []int32{x.b.Compute(r, d, class, x.chain[r]...)}
	}
	x.chain = next
}

// grows rejects a step with more operations than a workload supports, before they are built.
func (x *simaiBuild) grows(l *simaiLayer, by float64) error {
	if x.ops += by; x.ops > workload.MaxOps {
		return at(x.file, l.line, "the workload up to here takes %.3g operations, more than the %d of a workload: fewer layers or GPUs", x.ops, workload.MaxOps)
	}
	return nil
}

// part adds a layer's computation of a pass, and the following collective.
func (x *simaiBuild) part(l *simaiLayer, i int, class workload.Class, usual string) error {
	x.compute(l.parts[i].dur, class)
	return x.exchange(l, i, usual)
}

// exchange adds the collective of a part.
func (x *simaiBuild) exchange(l *simaiLayer, i int, usual string) error {
	p := &l.parts[i]
	groups, name := x.among(p, usual)
	if groups == nil {
		if !p.none {
			note(&x.report.Left, "collectives of one rank", x.file, l.line)
		}
		return nil
	}
	want := p.want()
	ops := 0.0
	for _, g := range groups {
		r := x.fit.run(want, g)
		ops += r.Transfers(len(g)) + float64(len(g))
	}
	if err := x.grows(l, ops); err != nil {
		return err
	}
	some := x.fit.run(want, groups[0])
	x.fit.note(&x.report, p.kind.String()+"s of "+name+" groups", &some, "", x.file, l.line)
	of := map[string]workload.Class{"TP": workload.TensorParallel, "DP": workload.DataParallel,
		"DP_EP": workload.DataParallel, "EP": workload.ExpertParallel}[name]
	next := slices.Clone(x.chain)
	for _, g := range groups {
		ready := make([][]int32, len(g))
		for k, r := range g {
			ready[k] = x.chain[r]
		}
		r, err := x.fit.run(want, g), error(nil)
		x.b.Collective(workload.Collective{Name: strings.ToLower(name) + " " + p.kind.String(), Kind: p.kind,
			Class: of, Bytes: p.bytes, Ranks: g, By: r.algorithm()}, func() {
			ready, err = r.Into(x.b, g, ready)
			for k, ops := range ready {
				if next[g[k]] = ops; len(ops) > 4 { // of several channels
					next[g[k]] = []int32{x.b.Compute(g[k], 0, of, ops...)}
				}
			}
		})
		if err != nil {
			return at(x.file, l.line, "%v", err)
		}
	}
	x.chain = next
	return nil
}

// want returns the algorithm that a SimAI workload has for a collective.
func (p *simaiPart) want() Run {
	return Run{CollectiveRun: workload.CollectiveRun{Kind: p.kind, Bytes: p.bytes}}
}

// groups returns the groups of a part's collective, and their name; nil: none.
func (x *simaiBuild) among(p *simaiPart, usual string) (groups [][]int, name string) {
	if name = usual; p.group != "" {
		name = p.group
	}
	if groups = x.have[name]; p.none || len(groups[0]) < 2 {
		return nil, name
	}
	return groups, name
}

package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/stream"
	"railyard/internal/tally"
)

// isKineto recognizes a profile by its keys, because Chrome traces of other programs also have traceEvents.
func isKineto(_ string, head []byte) bool {
	head = bytes.TrimSpace(head)
	if !bytes.HasPrefix(head, []byte("{")) {
		return false
	}
	for _, key := range []string{`"traceEvents"`, `"schemaVersion"`, `"deviceProperties"`, `"distributedInfo"`} {
		if bytes.Contains(head, []byte(key)) {
			return !bytes.Contains(head, []byte(`"pg_status"`)) // those of the Flight Recorder
		}
	}
	return false
}

// kineto is the profile of one rank.
type kineto struct {
	File
	o      *Options
	report *Report
	tried  *Report // report of the last attempt to collect a step
	info   struct {
		Rank  *int `json:"rank,omitempty"`
		World int  `json:"world_size,omitempty"`
		Names []struct {
			Name  string `json:"pg_name"`
			Desc  string `json:"pg_desc,omitempty"`
			Ranks []int  `json:"ranks"`
		} `json:"pg_config,omitempty"`
	}
	steps map[int]span // by number: the step on the CPU

	launched map[int64]launch     // by correlation ID: launches on the CPU within the step
	comms    map[int64]kinetoArgs // by external id, the arguments of record_param_comms
	titles   []title              // PyTorch's annotations of calls, such as nccl:all_reduce
	kernels  []kernel             // of the step
	calls    []kinetoArgs         // communication kernels
}

// span is a time in ns.
type span struct{ from, to int64 }

// launch is the launch of a kernel: time in ns, and thread.
type launch struct{ at, thread int64 }

// kernel is a kernel that a GPU ran.
type kernel struct {
	from, to int64 // ns
	launch   int64 // ns, on the CPU; 0: not known
	link     int64 // correlation
	stream   int64
	call     int32 // index in calls; -1: it computes
	line     int32
}

// maxKernels is the largest number of kernels of a step.
const maxKernels = 2 << 20

// kinetoEvent contains the used fields of an event.
type kinetoEvent struct {
	Name string     `json:"name"`
	TID  number     `json:"tid"`
	TS   number     `json:"ts"`
	Dur  number     `json:"dur"`
	Args kinetoArgs `json:"args"`
}

// number is a number in any notation: as a number, as a string, in hexadecimal (ROCm's "stream": "0x0"), or null.
type number string

// UnmarshalJSON stores the raw value; it is parsed when a number is needed.
func (n *number) UnmarshalJSON(raw []byte) error {
	s := strings.Trim(string(raw), `"`)
	if s == "null" {
		s = ""
	}
	*n = number(s)
	return nil
}

// Int64 returns it as an integer.
func (n number) Int64() (int64, error) {
	i, err := strconv.ParseInt(string(n), 0, 64)
	if err != nil { // a stream's address may have all 64 bits
		u, err := strconv.ParseUint(string(n), 0, 64)
		return int64(u), err
	}
	return i, nil
}

// count returns it as a number of elements, 0 if it is absent.
func (n number) count() (int64, error) {
	if n == "" {
		return 0, nil
	}
	return strconv.ParseInt(string(n), 10, 64)
}

// kinetoArgs are the arguments of kernels and of record_param_comms.
type kinetoArgs struct {
	Link     number `json:"correlation"`
	External number `json:"External id"`
	Stream   number `json:"stream"`
	Coll     string `json:"Collective name"`
	In       number `json:"In msg nelems"`
	Out      number `json:"Out msg nelems"`
	Type     string `json:"dtype"`
	Size     number `json:"Group size"`
	Group    any    `json:"Process Group Name"`
	Desc     string `json:"Process Group Description"`
	Ranks    string `json:"Process Group Ranks"`
	Start    number `json:"Global rank start"`
	Stride   number `json:"Global rank stride"`
	Src      number `json:"Src Rank"`
	Dst      number `json:"Dst Rank"`
	Dims     any    `json:"Input Dims"`
	Types    any    `json:"Input type"`
	kernel   string
	line     int32
	titled   bool // whether collective and size are those of an annotation
}

// readKineto reads the profiles of ranks. Communication kernels become calls, and kernels between them
// computations.
func readKineto(o *Options, files []File) (*Trace, error) {
	c := &calls{file: files[0].Name, fit: fitter{on: o.On}}
	all := make([]*kineto, len(files))
	for i, f := range files {
		k := &kineto{File: f, o: o, report: &c.report, steps: map[int]span{}}
		if err := k.survey(); err != nil {
			return nil, err
		}
		all[i] = k
	}
	if err := oneWorld(all); err != nil {
		return nil, err
	}
	step, err := chosen(all, o.Step, &c.report)
	if err != nil {
		return nil, err
	}
	for {
		empty, err := collectAll(all, step)
		if err != nil {
			return nil, err
		}
		if empty == nil {
			break
		}
		before := -1 // the profiler stopped before the GPU reached the last step
		for n := range empty.steps {
			if n < step && n > before && !slices.ContainsFunc(all, func(k *kineto) bool {
				_, has := k.steps[n]
				return !has
			}) {
				before = n
			}
		}
		if o.Step > 0 || before < 0 {
			return nil, empty.nothing(step)
		}
		note(&c.report.Left, fmt.Sprintf("step %d, in which %s has no kernel: the previous step is used", step,
			empty.Name), empty.Name, 0)
		step = before
	}
	for i, k := range all {
		if err := k.member(c, k.rank(i, len(all))); err != nil {
			return nil, err
		}
		k.kernels, k.launched, k.calls, k.comms, k.titles = nil, nil, nil, nil, nil
	}
	return c.trace()
}

// oneWorld rejects profiles of jobs of different sizes, and ranks beyond the job's size.
func oneWorld(all []*kineto) error {
	var first *kineto
	for _, k := range all {
		if k.info.Rank != nil && (*k.info.Rank < 0 || k.info.World > 0 && k.info.World <= maxRanks &&
			*k.info.Rank < maxRanks && *k.info.Rank >= k.info.World) {
			return at(k.Name, 0, "has rank %d and world_size %d in distributedInfo",
				*k.info.Rank, k.info.World)
		}
		switch {
		case k.info.World <= 0:
		case first == nil:
			first = k
		case k.info.World != first.info.World:
			return at(k.Name, 0,
				"is of a job of %d ranks (world_size), and %s of one of %d; accepted: files of one job", k.info.World, first.Name, first.info.World)
		}
	}
	return nil
}

// chosen returns the step to read: the requested one, or the last one that all ranks have; -1 for none.
func chosen(all []*kineto, step int, report *Report) (int, error) {
	have := map[int]int{}
	var numbers []int
	for _, k := range all {
		for n := range k.steps {
			if have[n]++; have[n] == 1 {
				numbers = append(numbers, n)
			}
		}
	}
	slices.Sort(numbers)
	var common []int
	for _, n := range numbers {
		if have[n] == len(all) {
			common = append(common, n)
		}
	}
	file := all[0].Name
	switch {
	case step > 0 && !slices.Contains(common, step):
		return 0, at(file, 0, "step %d is missing in some files; common steps: %s", step, few(common))
	case step > 0:
		return step, nil
	case len(numbers) == 0:
		note(&report.Guessed, "files without ProfilerStep: the whole file is one step", file, 0)
		return -1, nil
	case len(common) == 0:
		return 0, at(file, 0, "the files have no step in common: profile the same steps on all ranks")
	}
	last := common[len(common)-1]
	tally.Add(&report.Left, len(numbers)-1, "steps other than the last common one, "+strconv.Itoa(last)+
		" (step takes another)", file, 0)
	return last, nil
}

// events walks through a file's events. A truncated file ends there.
func (k *kineto) events(f stream.Object, other func(string, []byte) error) error {
	err := k.o.stream(k.File, func(s *stream.Source) error { return s.Under("traceEvents", f, other) })
	var cut *stream.CutError
	if errors.As(err, &cut) && len(k.steps)+len(k.kernels) > 0 {
		note(&k.report.Left, "events truncated at the end of the file", k.Name, cut.At.Line)
		return nil
	}
	return err
}

// survey finds the steps, and the file's rank.
func (k *kineto) survey() error {
	found := false
	return k.eventsOrNone(&found, func(raw []byte, line int) error {
		found = true
		if raw == nil {
			note(&k.report.Left, "events above the size limit", k.Name, line)
			return nil
		}
		if !bytes.Contains(raw, []byte("ProfilerStep#")) {
			return nil
		}
		var e kinetoEvent
		category := category(raw)
		if category == "gpu_user_annotation" || json.Unmarshal(raw, &e) != nil {
			return nil
		}
		_, number, _ := strings.Cut(e.Name, "ProfilerStep#")
		n, err := strconv.Atoi(strings.TrimRight(number, " "))
		from, to, ok := e.span()
		if err != nil || n < 0 || n > 1_000_000_000 {
			return nil
		}
		if !ok {
			note(&k.report.Left, "steps with an impossible time", k.Name, line)
			return nil
		}
		if e.Dur == "" {
			note(&k.report.Left, "steps that have not ended (no dur)", k.Name, line)
			return nil
		}
		if len(k.steps) < 1<<16 {
			k.steps[n] = span{from, to}
		}
		return nil
	})
}

// eventsOrNone walks through all, and refuses a file without any.
func (k *kineto) eventsOrNone(found *bool, f stream.Object) error {
	err := k.events(f, func(key string, raw []byte) error {
		if key == "distributedInfo" && raw != nil && json.Unmarshal(raw, &k.info) != nil {
			note(&k.report.Left, "distributedInfo that cannot be read", k.Name, 0)
		}
		return nil
	})
	if err == nil && !*found {
		return at(k.Name, 0, "has no list of events (traceEvents)")
	}
	return err
}

// category returns an event's category in lower case; "" for one without.
func category(raw []byte) string {
	i := bytes.Index(raw, []byte(`"cat"`))
	if i < 0 {
		return ""
	}
	rest := bytes.TrimLeft(raw[i+5:], " \t\r\n:")
	if len(rest) == 0 || rest[0] != '"' {
		return ""
	}
	end := bytes.IndexByte(rest[1:], '"')
	if end < 0 || end > 40 {
		return ""
	}
	return strings.ToLower(string(rest[1 : 1+end]))
}

// span returns the start and the end of an event, in ns.
func (e *kinetoEvent) span() (from, to int64, ok bool) {
	from, ok1 := nanos(string(e.TS))
	dur, ok2 := nanos(string(e.Dur))
	if e.Dur == "" {
		dur, ok2 = 0, true
	}
	return from, from + dur, ok1 && ok2 && dur >= 0 && dur < 1e15 && from < 1<<61
}

// nanos parses microseconds with a fraction as integer nanoseconds: as floats, times since 1970 lose the fraction.
func nanos(us string) (int64, bool) {
	whole, part, _ := strings.Cut(us, ".")
	if strings.ContainsAny(us, "eE") {
		f, err := strconv.ParseFloat(us, 64)
		return int64(f * 1000), err == nil && f > -1e15 && f < 1e15
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n < -1<<52 || n > 1<<52 {
		return 0, false
	}
	part = (part + "000")[:3]
	f, err := strconv.ParseInt(part, 10, 64)
	if strings.HasPrefix(whole, "-") {
		f = -f
	}
	return n*1000 + f, err == nil
}

// numbered finds a rank in a file's name: rank-3.json, trace_rank3.pt.trace.json.gz.
var numbered = regexp.MustCompile(`(?i)rank[-_]?(\d{1,6})`)

// rank returns the rank of a file.
func (k *kineto) rank(place, of int) int {
	if k.info.Rank != nil && *k.info.Rank >= 0 {
		return *k.info.Rank
	}
	name := k.Name[strings.LastIndexByte(k.Name, '/')+1:]
	if m := numbered.FindStringSubmatch(name); m != nil {
		n, _ := strconv.Atoi(m[1])
		note(&k.report.Guessed, "ranks taken from the file name", k.Name, 0)
		return n
	}
	if of > 1 {
		note(&k.report.Guessed, "ranks taken from the order of the files", k.Name, 0)
	}
	return place
}

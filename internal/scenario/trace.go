package scenario

import (
	"regexp"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/trace"
	"railyard/internal/workload"
	"railyard/unit"
)

// trace builds a job from another tool's files; guesses and omissions become notes.
func (p *resolver) trace(at task, t *Trace) (job workload.Job, err error) {
	key := at.key + ".trace"
	x, err := p.traced(key, t, p.fitting(at, t))
	if err != nil {
		return job, err
	}
	p.Traces = append(p.Traces, x)
	for _, c := range x.Runs {
		p.note("trace %s: %s", t.Files[0], c.Words())
	}
	for _, c := range x.Report.Guessed {
		p.note("trace %s: assumed: %s", t.Files[0], c.Words())
	}
	for _, c := range x.Report.Left {
		p.note("trace %s: left out: %s", t.Files[0], c.Words())
	}
	job = workload.Job{Name: at.name, DAG: x.DAG, Place: at.crew}
	if t.Nodes != "" {
		job.Place, err = p.numbered(at, t.Nodes, x.DAG)
		return job, field.Under(key+".nodes", err)
	}
	if have := p.ranks(at.crew); x.Ranks > have {
		return job, field.New(key+".files", "has %s, %s has %s", unit.Plural(x.Ranks, "rank"), at.whose(),
			unit.Plural(have, "GPU"))
	}
	return job, nil
}

// traced reads a trace's files for the fabric of its ranks; nil: their location is unknown.
func (p *resolver) traced(key string, t *Trace, on trace.Fit) (*trace.Trace, error) {
	if len(t.Files) == 0 {
		return nil, field.New(key+".files", "is missing")
	}
	if p.read == nil {
		return nil, field.New(key+".files", "files cannot be read here")
	}
	var files []trace.File
	for i, name := range t.Files {
		text, err := p.read(name)
		if err != nil {
			return nil, field.Under(field.At(key+".files", i), err)
		}
		files = append(files, trace.File{Name: name, Text: text})
	}
	x, err := trace.Options{On: on, Format: t.Format, Step: t.Step, Bytes: t.Bytes}.Read(files...)
	return x, field.Under(key, err)
}

// counted is the position of a rank's number in a server's name, with the offset to add.
var counted = regexp.MustCompile(`\{n([+-]\d{1,6})?\}`)

// numbered finds the GPUs of the numbers in a graph's operations, and makes these numbers ranks.
func (p *resolver) numbered(at task, pattern string, d *workload.DAG) (crew, error) {
	if at.crew != nil {
		return nil, field.New("", "sets the job's GPUs: leave the job's gpus, placement and on out")
	}
	where := counted.FindStringSubmatch(pattern)
	if where == nil {
		return nil, field.New("", "found %s, expected a name with {n}, as host-{n} or host-{n+1}",
			field.Quote(pattern))
	}
	more, _ := strconv.Atoi(where[1]) // nothing is 0
	rank := map[int32]int32{}
	var place crew
	for _, n := range d.Used() {
		name := strings.ReplaceAll(pattern, where[0], strconv.Itoa(int(n)+more))
		gpu, err := p.Graph.FindGPU(name + "/gpu-1")
		if err != nil {
			return nil, field.New("", "the files' number %d: %v", n, err)
		}
		rank[n] = int32(len(place))
		place = append(place, gpu)
	}
	d.Renumber(rank)
	return place, nil
}

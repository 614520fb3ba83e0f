package jobscript

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/slurm"
)

// Kind is a kind of file that describes a training.
type Kind struct{ Name, About string }

// Kinds are the supported ones: the launch with its flags, or the files that it names.
var Kinds = []Kind{
	{"job-script", "training script (srun, torchrun, mpirun …); parsed, not run"},
	{"deepspeed", "DeepSpeed configuration: ZeRO stage, batch, buckets"},
	{"arguments", "YAML or JSON arguments of Megatron-LM, NeMo, picotron"},
	{"model-config", "config.json of a model, with one of these"},
}

// telltale are keys of which two make a file one of arguments.
var telltale = regexp.MustCompile(`(?m)(?:^[ -]*|["'])(tensor[-_]model[-_]parallel[-_]size|num[-_]layers|` +
	`pipeline[-_]model[-_]parallel[-_]size|micro[-_]batch[-_]size|global[-_]batch[-_]size|` +
	`num[-_]attention[-_]heads|ffn[-_]hidden[-_]size|[tpd]p_size|gradient_accumulation_steps)["']?\s*:`)

// deepspeedMark are keys that only DeepSpeed's configurations have.
var deepspeedMark = regexp.MustCompile(`"(zero_optimization|train_micro_batch_size_per_gpu)"\s*:`)

// starts are commands by which scripts start trainings.
var starts = regexp.MustCompile(`\b(srun|torchrun|torch\.distributed|deepspeed|accelerate|mpirun|python3?)\b`)

// KindOf detects a file's kind by its name and its beginning; "": unsupported.
func KindOf(name string, head []byte) string {
	text := string(head)
	first, _, _ := strings.Cut(text, "\n")
	script := strings.HasPrefix(first, "#!") && strings.Contains(first, "sh") ||
		slices.ContainsFunc([]string{".sh", ".bash", ".sbatch", ".slurm"}, func(s string) bool {
			return strings.HasSuffix(name, s)
		})
	object := strings.HasPrefix(strings.TrimSpace(text), "{")
	switch {
	case script && (starts.MatchString(text) || strings.Contains(text, "#SBATCH")):
		return "job-script"
	case object && deepspeedMark.MatchString(text):
		return "deepspeed"
	case object && strings.Contains(text, `"model_type"`) && strings.Contains(text, `head`):
		return "model-config"
	case len(telltale.FindAllString(text, 2)) == 2 &&
		(object || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")):
		return "arguments"
	}
	return ""
}

// File is a file with its name and kind.
type File struct {
	Name, Kind string
	Text       []byte
}

// Arguments is a training as described by files.
type Arguments struct {
	*Training
	Said  *Said
	Notes []slurm.Note
}

// ReadArguments reads files of the kinds above together: at most one script and one model. Per is the number of GPUs of
// a server, read finds files that a script names.
func ReadArguments(files []File, per int, read ReadFile) (*Arguments, error) {
	a := &Arguments{Said: newSaid()}
	world := 0
	seen := map[string]string{}
	rank := func(f File) int {
		return slices.Index([]string{"job-script", "arguments", "deepspeed", "model-config"}, f.Kind)
	}
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(x, y File) int { return rank(x) - rank(y) })
	for _, f := range files {
		if was := seen[f.Kind]; was != "" {
			return nil, slurm.Place{File: f.Name}.Fail("", "is of the kind %s, as %s: one of each is read",
				f.Kind, was)
		}
		seen[f.Kind] = f.Name
		var err error
		switch f.Kind {
		case "job-script":
			world, err = a.script(f, per, read)
		case "model-config":
			err = a.Said.Model(f.Name, f.Text)
		default:
			err = a.Said.File(f.Name, f.Text)
		}
		if err != nil {
			return nil, err
		}
	}
	var err error
	if a.Training, err = a.Said.Training(world); err != nil {
		return nil, err
	}
	if a.Training == nil {
		return nil, slurm.Place{File: files[0].Name}.Fail("", "contains no model; accepted with it: its config.json, or arguments with num_layers, hidden_size, num_attention_heads")
	}
	return a, nil
}

// script reads a script on servers with the requested resources, and returns the number of started processes.
func (a *Arguments) script(f File, per int, more ReadFile) (int, error) {
	s, err := read(f.Name, f.Text)
	if err != nil {
		return 0, err
	}
	s.Job = &slurm.Request{}
	if err := s.directives(); err != nil {
		return 0, err
	}
	r := s.Job
	r.NodeList, r.Exclude, r.Constraint, r.Partitions = nil, nil, "", nil // requests of an unknown cluster
	if err := r.Check(); err != nil {
		return 0, err
	}
	c := &slurm.Cluster{}
	for n := range max(min(r.MaxNodes, 1<<12), r.MinNodes) {
		c.Add(slurm.Node{Name: fmt.Sprint("node", n+1), GPUs: max(per, r.GPUsPerNode)})
	}
	alloc, err := c.Allocate(r)
	if err != nil {
		return 0, err
	}
	found := s.Walk(Environment{Variables: alloc.Batch(r, "job"), Nodes: alloc.Names(), Read: more})
	l := found.Main()
	if l == nil {
		return 0, slurm.Place{File: f.Name}.Fail("", "starts no program that is known")
	}
	w, err := l.Work(found.File)
	if err != nil {
		return 0, err
	}
	if w.Collective != "" {
		return 0, l.At.Fail(field.Clip(l.Program), "is a benchmark and no training: railyard submit runs it")
	}
	crew, err := l.Crew(alloc, r, "job", w.Each)
	if err != nil {
		return 0, err
	}
	a.Said = w.Said
	for _, list := range [][]slurm.Note{r.Notes, s.Notes, found.Notes, crew.Notes} {
		a.Notes = append(a.Notes, list...)
	}
	return len(crew.Processes), nil
}

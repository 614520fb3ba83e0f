package jobscript

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/slurm"
	"railyard/unit"
)

// Work is the work of a program, by its command line and the files that it names.
type Work struct {
	Said       *Said
	Collective string     // collective of a benchmark; "": a training or an unknown program
	Bytes      unit.Bytes // of the benchmark
	Note       string     // note on these
	Each       int        // GPUs of a process, 0: one
	Files      []string   // files read
}

// maxBytes is the maximum size of a simulated benchmark by default: packets of a table up to 16 GB would take hours.
const maxBytes = 64 * unit.MiB

// Work parses a program's arguments.
func (l *Launch) Work(read func(name string) ([]byte, bool)) (*Work, error) {
	w := &Work{Said: newSaid()}
	name := path.Base(l.Program)
	if kind, ok := benchmarks[name]; ok {
		return w, w.benchmark(kind, l)
	}
	if name == "railyard" && len(l.Args) > 1 && l.Args[0].Text == "rdma" && l.Args[1].Text == "allreduce" {
		return w, w.own(l)
	}
	if err := w.Said.Flags(l.Args, l.place); err != nil {
		return nil, err
	}
	l.positional(w.Said)
	for _, key := range []string{"deepspeed", "config", "model"} {
		v, ok := w.Said.vals[key]
		if !ok {
			continue
		}
		if key == "model" && !strings.HasSuffix(v.Text, ".json") {
			v.Text += "/config.json"
		}
		if !configured(v.Text) {
			if key == "config" {
				w.Said.note(v.At, v.Name+" "+slurm.Open(v.Text)+": unsupported configuration (JSON, YAML and TOML are read)")
			}
			continue
		}
		b, ok := read(v.Text)
		if !ok {
			if key != "model" {
				w.Said.note(v.At, slurm.Open(v.Text)+" is not in the folder of the script or the working directory: its content is unknown")
			}
			continue
		}
		w.Files = append(w.Files, v.Text)
		if err := w.Said.File(v.Text, b); err != nil {
			return nil, err
		}
	}
	if l.Elastic != nil {
		w.launcher(l.Elastic)
	}
	return w, nil
}

// configured reports whether a word is the name of a file with a configuration.
func configured(name string) bool {
	return slices.Contains([]string{".json", ".yaml", ".yml", ".toml"}, path.Ext(name))
}

// positional uses the configuration file in the first position after a program, as in trainings of LLM-foundry, OLMo
// and axolotl, if no flag names one.
func (l *Launch) positional(s *Said) {
	if s.has("config") || s.has("deepspeed") || len(l.Args) == 0 {
		return
	}
	if a := l.Args[0]; configured(a.Text) && !strings.HasPrefix(a.Text, "-") && !strings.Contains(a.Text, "=") {
		s.vals["config"] = Value{Text: a.Text, Name: "the first argument", At: a.At}
	}
}

// launcher processes accelerate's settings of the training itself.
func (w *Work) launcher(e *Elastic) {
	for _, name := range []string{"zero_stage", "fsdp_sharding_strategy", "gradient_accumulation_steps"} {
		f := byName[name]
		if v, ok := e.Flags[name]; ok && !w.Said.has(f.key) {
			if err := w.Said.set(f, Value{Text: v, Name: "--" + name, At: e.At}); err != nil {
				w.Said.note(e.At, err.Error())
			}
		}
	}
}

// place finds the position of a flag in the script. It is the flag's last occurrence before its command, outside
// comments, or else the command's position.
func (l *Launch) place(a Arg) slurm.Place {
	text, ok := l.texts[a.At.File]
	name, _, _ := strings.Cut(a.Text, "=")
	if !ok || len(name) < 3 {
		return a.At
	}
	best := a.At
	for i, row := range strings.Split(text, "\n") {
		if i+1 > a.At.Line && best != a.At {
			break
		}
		if strings.HasPrefix(strings.TrimSpace(row), "#") {
			continue
		}
		for from := 0; ; {
			k := strings.Index(row[from:], name)
			if k < 0 {
				break
			}
			end := from + k + len(name)
			if end == len(row) || strings.IndexByte(" =\t\"'\\)", row[end]) >= 0 {
				best = slurm.Place{File: a.At.File, Line: i + 1, Col: from + k + 1}
			}
			from = end
		}
	}
	return best
}

// sized takes the size of a benchmark.
func (w *Work) sized(least, most unit.Bytes) {
	w.Bytes = most
	switch {
	case most > maxBytes && least < maxBytes:
		w.Bytes = maxBytes
		w.Note = "of sizes " + least.String() + " to " + most.String() + " it is " + maxBytes.String()
	case least < most:
		w.Note = "of sizes " + least.String() + " to " + most.String() + " it is the largest"
	}
}

// benchmark reads nccl-tests' options: -b and -e are the sizes.
func (w *Work) benchmark(kind string, l *Launch) error {
	w.Collective = kind
	least, most := unit.Bytes(32*unit.MiB), unit.Bytes(0) // sizes of nccl-tests without options
	for i := range l.Args {
		name, v, joined := strings.Cut(l.Args[i].Text, "=")
		if !joined && i+1 < len(l.Args) {
			v = l.Args[i+1].Text
		}
		var to *unit.Bytes
		switch name {
		case "-g", "--ngpus", "-t", "--nthreads":
			n, err := strconv.Atoi(v)
			if err != nil || n < 1 || n > 64 {
				return l.Args[i].At.Fail(name, "found %s, expected a number from 1 to 64", field.Quote(v))
			}
			w.Each = max(1, w.Each) * n
			continue
		case "-b", "--minbytes":
			to = &least
		case "-e", "--maxbytes":
			to = &most
		default:
			continue
		}
		b, err := binary(v)
		if err != nil {
			return l.Args[i].At.Fail(name, "%s", err.Error())
		}
		*to = b
	}
	if most == 0 {
		most = least
	}
	w.sized(min(least, most), most)
	return nil
}

// binary reads 8, 4K, 128M, 16G as nccl-tests does: powers of 1024.
func binary(s string) (unit.Bytes, error) {
	if strings.HasSuffix(s, "B") {
		return unit.ParseBytes(s)
	}
	upper := strings.ToUpper(s)
	for _, suffix := range []string{"K", "M", "G"} {
		if n, ok := strings.CutSuffix(upper, suffix); ok {
			return unit.ParseBytes(n + map[string]string{"K": "KiB", "M": "MiB", "G": "GiB"}[suffix])
		}
	}
	return unit.ParseBytes(s + "B")
}

// own reads the flags of railyard rdma allreduce.
func (w *Work) own(l *Launch) error {
	w.Collective, w.Bytes = "all-reduce", 64*unit.MiB
	for i := range l.Args {
		name, v, joined := strings.Cut(l.Args[i].Text, "=")
		if name != "--bytes" {
			continue
		}
		if !joined && i+1 < len(l.Args) {
			v = l.Args[i+1].Text
		}
		least, most := unit.Bytes(0), unit.Bytes(0)
		for _, size := range strings.Split(v, ",") {
			b, err := unit.ParseBytes(size)
			if err != nil {
				return l.Args[i].At.Fail(name, "%v", err)
			}
			if least == 0 || b < least {
				least = b
			}
			most = max(most, b)
		}
		w.sized(least, most)
	}
	return nil
}

// benchmarks are nccl-tests' programs, and the collectives that they time.
var benchmarks = map[string]string{"all_reduce_perf": "all-reduce", "all_gather_perf": "all-gather",
	"reduce_scatter_perf": "reduce-scatter", "alltoall_perf": "all-to-all",
	"broadcast_perf": "broadcast"}

// benchmark reports whether a program is one of them, MPI's too.
func benchmark(name string) bool {
	_, ok := benchmarks[path.Base(name)]
	return ok
}

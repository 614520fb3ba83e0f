package slurm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
)

// takes reports whether an option has an argument.
type takes uint8

const (
	nothing takes = iota
	value
	perhaps // only with =
)

// option is one of sbatch's and srun's (sbatch(1), srun(1), version 24.05).
type option struct {
	long  string
	short byte
	takes takes
	set   func(r *Request, v string) error // nil: no effect on the placement of ranks
}

// options are the supported ones, followed by the ignored ones.
var options = append(bearing, idle...)

var bearing = []option{
	{"nodes", 'N', value, func(r *Request, v string) error { return r.nodes(v) }},
	{"ntasks", 'n', value, whole(func(r *Request) *int { return &r.Tasks })},
	{"ntasks-per-node", 0, value, whole(func(r *Request) *int { return &r.PerNode })},
	{"tasks-per-node", 0, value, whole(func(r *Request) *int { return &r.PerNode })},
	{"ntasks-per-gpu", 0, value, whole(func(r *Request) *int { return &r.PerGPU })},
	{"cpus-per-task", 'c', value, whole(func(r *Request) *int { return &r.CPUs })},
	{"gpus", 'G', value, gpus(func(r *Request) *int { return &r.GPUs })},
	{"gpus-per-node", 0, value, gpus(func(r *Request) *int { return &r.GPUsPerNode })},
	{"gpus-per-task", 0, value, gpus(func(r *Request) *int { return &r.GPUsPerTask })},
	{"gres", 0, value, func(r *Request, v string) error { return r.gres(v) }},
	{"overcommit", 'O', nothing, func(r *Request, _ string) error { r.Over = true; return nil }},
	{"exclusive", 0, perhaps, func(r *Request, _ string) error { r.Exclusive = true; return nil }},
	{"switches", 0, value, func(r *Request, v string) error {
		n, _, _ := strings.Cut(v, "@")
		return whole(func(r *Request) *int { return &r.Switches })(r, n)
	}},
	{"nodelist", 'w', value, hosts(func(r *Request) *[]string { return &r.NodeList })},
	{"exclude", 'x', value, hosts(func(r *Request) *[]string { return &r.Exclude })},
	{"constraint", 'C', value, func(r *Request, v string) error { r.Constraint = v; return nil }},
	{"partition", 'p', value, func(r *Request, v string) error {
		r.Partitions = strings.Split(v, ",")
		return nil
	}},
	{"distribution", 'm', value, func(r *Request, v string) error { return r.distribution(v) }},
	{"contiguous", 0, nothing, unread("is not honoured with topology/tree")},
	{"job-name", 'J', value, func(r *Request, v string) error { r.Name = v; return nil }},
	{"time", 't', value, func(r *Request, v string) error { r.Time = v; return nil }},
	{"chdir", 'D', value, func(r *Request, v string) error { r.Chdir = v; return nil }},
	{"export", 0, value, func(r *Request, v string) error { r.Export = v; return nil }},
	{"array", 'a', value, unread("every task of an array is a job of its own: one of them is shown")},
	{"nodefile", 'F', value, unread("the file is not read: set the nodes with --nodelist")},
	{"segment", 0, value, unread("segments are of blocks of nodes (topology/block), and nodes are chosen by switches here: --nodelist sets them")},
	{"het-group", 0, value, func(r *Request, v string) error {
		if v == "0" { // the job itself
			return nil
		}
		return field.New("", "found %s, and heterogeneous jobs are not read; accepted: 0, or no --het-group",
			field.Quote(v))
	}},
	{"gpus-per-socket", 0, value, unread("sockets are unknown: set --gpus-per-node")},
	{"ntasks-per-socket", 0, value, unread("sockets are unknown: set --ntasks-per-node")},
	{"relative", 'r', value, unread("the step is taken to begin on the allocation's first node")},
	{"gpu-bind", 0, value, func(r *Request, v string) error { r.GPUBind = v; return nil }},
}

// idle are the options that move no rank.
var idle = []option{
	{"account", 'A', value, nil}, {"acctg-freq", 0, value, nil}, {"batch", 0, value, nil},
	{"begin", 'b', value, nil}, {"bb", 0, value, nil}, {"bbf", 0, value, nil},
	{"cluster-constraint", 0, value, nil}, {"clusters", 'M', value, nil}, {"comment", 0, value, nil},
	{"container", 0, value, nil}, {"container-id", 0, value, nil}, {"core-spec", 'S', value, nil},
	{"cores-per-socket", 0, value, nil}, {"cpu-bind", 0, value, nil}, {"cpu-freq", 0, value, nil},
	{"cpus-per-gpu", 0, value, nil}, {"deadline", 0, value, nil}, {"delay-boot", 0, value, nil},
	{"dependency", 'd', value, nil}, {"error", 'e', value, nil}, {"exact", 0, nothing, nil},
	{"export-file", 0, value, nil}, {"external-launcher", 0, nothing, nil},
	{"extra-node-info", 'B', value, nil},
	{"get-user-env", 0, perhaps, nil}, {"gid", 0, value, nil}, {"gpu-freq", 0, value, nil},
	{"gres-flags", 0, value, nil}, {"hint", 0, value, nil}, {"hold", 'H', nothing, nil},
	{"immediate", 'I', perhaps, nil}, {"ignore-pbs", 0, nothing, nil}, {"input", 'i', value, nil},
	{"interactive", 0, nothing, nil},
	{"jobid", 0, value, nil},
	{"kill-on-bad-exit", 'K', perhaps, nil}, {"kill-on-invalid-dep", 0, value, nil},
	{"label", 'l', nothing, nil}, {"licenses", 'L', value, nil},
	{"mail-type", 0, value, nil}, {"mail-user", 0, value, nil}, {"mcs-label", 0, value, nil},
	{"mem", 0, value, nil}, {"mem-bind", 0, value, nil}, {"mem-per-cpu", 0, value, nil},
	{"mem-per-gpu", 0, value, nil}, {"mincpus", 0, value, nil}, {"mpi", 0, value, nil},
	{"network", 0, value, nil}, {"nice", 0, perhaps, nil}, {"no-kill", 'k', perhaps, nil},
	{"no-requeue", 0, nothing, nil}, {"ntasks-per-core", 0, value, nil}, {"open-mode", 0, value, nil},
	{"output", 'o', value, nil}, {"overlap", 0, nothing, nil},
	{"oversubscribe", 's', nothing, nil}, {"parsable", 0, nothing, nil}, {"power", 0, value, nil},
	{"preserve-env", 'E', nothing, nil}, {"priority", 0, value, nil}, {"prefer", 0, value, nil},
	{"profile", 0, value, nil},
	{"prolog", 0, value, nil}, {"propagate", 0, perhaps, nil}, {"pty", 0, perhaps, nil},
	{"qos", 'q', value, nil}, {"quiet", 'Q', nothing, nil}, {"quit-on-interrupt", 0, nothing, nil},
	{"reboot", 0, nothing, nil}, {"requeue", 0, nothing, nil}, {"reservation", 0, value, nil},
	{"resv-ports", 0, perhaps, nil}, {"signal", 0, value, nil}, {"slurmd-debug", 0, value, nil},
	{"sockets-per-node", 0, value, nil}, {"spread-job", 0, nothing, nil},
	{"task-epilog", 0, value, nil}, {"task-prolog", 0, value, nil},
	{"test-only", 0, nothing, nil}, {"thread-spec", 0, value, nil}, {"threads", 'T', value, nil},
	{"threads-per-core", 0, value, nil}, {"time-min", 0, value, nil}, {"tmp", 0, value, nil},
	{"tres-bind", 0, value, nil}, {"tres-per-task", 0, value, nil}, {"uid", 0, value, nil},
	{"unbuffered", 'u', nothing, nil}, {"usage", 0, nothing, nil}, {"use-min-nodes", 0, nothing, nil},
	{"verbose", 'v', nothing, nil}, {"wait-all-nodes", 0, value, nil},
	{"wckey", 0, value, nil}, {"whole", 0, nothing, nil}, {"wrap", 0, value, nil}, {"x11", 0, perhaps, nil},
	// options of plugins: pyxis, Shifter, HyperPod
	{"container-image", 0, value, nil}, {"container-mounts", 0, value, nil},
	{"container-workdir", 0, value, nil}, {"container-name", 0, value, nil},
	{"container-save", 0, value, nil}, {"container-env", 0, value, nil},
	{"container-mount-home", 0, nothing, nil}, {"no-container-mount-home", 0, nothing, nil},
	{"container-remap-root", 0, nothing, nil}, {"no-container-remap-root", 0, nothing, nil},
	{"container-entrypoint", 0, nothing, nil}, {"no-container-entrypoint", 0, nothing, nil},
	{"container-writable", 0, nothing, nil}, {"container-readonly", 0, nothing, nil},
	{"image", 0, value, nil}, {"module", 0, value, nil}, {"volume", 0, value, nil},
	{"auto-resume", 0, value, nil}, {"nvmps", 0, nothing, nil},
}

// waits is --wait, an argument of srun's (seconds) and none of sbatch's.
func waits(step bool) option {
	if step {
		return option{"wait", 'W', value, nil}
	}
	return option{"wait", 'W', nothing, nil}
}

// find finds an option by its long name, or by the only one that begins so, as getopt_long does.
func find(name string, step bool) (o option, ok bool) {
	hits := 0
	for _, x := range append(options, waits(step)) {
		if x.long == name {
			return x, true
		}
		if len(name) > 1 && strings.HasPrefix(x.long, name) {
			o = x
			hits++
		}
	}
	return o, hits == 1
}

// letter finds an option by its letter.
func letter(c byte, step bool) (option, bool) {
	all := append(options, waits(step))
	i := slices.IndexFunc(all, func(x option) bool { return x.short == c })
	if i < 0 {
		return option{}, false
	}
	return all[i], true
}

// Options parses sbatch's options, or srun's (step), up to the first other word, and returns the words from there on.
func (r *Request) Options(words []Word, step bool) ([]Word, error) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		var o option
		var ok bool
		arg, joined := "", false
		switch {
		case w.Text == "--":
			return words[i+1:], nil
		case strings.ContainsRune(w.Text, Unknown) && !strings.HasPrefix(w.Text, "-"):
			r.Notes = append(r.Notes, Note{w.At, Open(w.Text) + " is unknown: left out"})
			continue
		case strings.HasPrefix(w.Text, "--"):
			var name string
			name, arg, joined = strings.Cut(w.Text[2:], "=")
			if o, ok = find(name, step); !ok {
				if err := r.unknown(w, name); err != nil {
					return nil, err
				}
				continue
			}
		case len(w.Text) > 1 && w.Text[0] == '-':
			if o, ok = letter(w.Text[1], step); !ok {
				return nil, w.At.Fail(w.Text[:2], "is not an option of Slurm's")
			}
			arg, joined = strings.TrimPrefix(w.Text[2:], "="), len(w.Text) > 2
			if o.takes == nothing && joined { // -lu
				words[i] = Word{"-" + w.Text[2:], w.At}
				i--
			}
		default:
			return words[i:], nil
		}
		if o.takes == value && !joined {
			if i+1 == len(words) {
				return nil, w.At.Fail("--"+o.long, "has no value after it")
			}
			i++
			arg = words[i].Text
		}
		if err := r.take(o, arg, w); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// take applies an option.
func (r *Request) take(o option, arg string, w Word) error {
	if o.set == nil {
		r.Idle = append(r.Idle, Word{"--" + o.long, w.At})
		return nil
	}
	if r.At == nil {
		r.At = map[string]Place{}
	}
	if strings.ContainsRune(arg, Unknown) {
		r.Notes = append(r.Notes, Note{w.At, fmt.Sprintf("--%s=%s is unknown: left out", o.long, Open(arg))})
		return nil
	}
	r.At[o.long] = w.At
	if err := o.set(r, strings.TrimSpace(arg)); err != nil {
		for _, e := range field.All(err) {
			if e.Path == "" {
				e.Path = "--" + o.long
			}
			if e.File == "" {
				e.File, e.Line, e.Col = w.At.File, w.At.Line, w.At.Col
			}
		}
		return err
	}
	for _, why := range r.unread {
		r.Notes = append(r.Notes, Note{w.At, "--" + o.long + ": " + why})
	}
	r.unread = nil
	return nil
}

// unknown handles an unknown long option: an error if it resembles another one's name, else a note, because plugins add
// options.
func (r *Request) unknown(w Word, name string) error {
	var names []string
	for _, o := range bearing {
		names = append(names, o.long)
	}
	if e := w.At.choice("--"+field.Clip(name), name, names, "is not an option of Slurm's"); e.Hint != "" {
		return e
	}
	r.Notes = append(r.Notes, Note{w.At, fmt.Sprintf("--%s is an unknown option (a plugin's?): left out", field.Clip(name))})
	return nil
}

// maxCount bounds every number of a request.
const maxCount = 1 << 20

func number(v string) (int, error) {
	times := 1
	if n, k := strings.CutSuffix(strings.ToLower(v), "k"); k { // 1k nodes are 1024
		v, times = n, 1024
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > maxCount/times {
		return 0, field.New("", "found %s, expected a whole number from 1 to %d", field.Quote(v), maxCount)
	}
	return n * times, nil
}

// whole parses an integer.
func whole(at func(*Request) *int) func(*Request, string) error {
	return func(r *Request, v string) (err error) {
		*at(r), err = number(v)
		return err
	}
}

// gpus sets a number of GPUs, of a type or of any: 8, h100:8, h100.
func gpus(at func(*Request) *int) func(*Request, string) error {
	return func(r *Request, v string) (err error) {
		kind, n, typed := strings.Cut(v, ":")
		if !typed {
			if v == "" || v[0] >= '0' && v[0] <= '9' || v[0] == '-' { // a type begins otherwise
				kind, n = "", v
			} else {
				n = "1"
			}
		}
		if kind != "" {
			r.GPUType = kind
		}
		*at(r), err = number(n)
		if err != nil {
			return field.New("", "found %s, expected a number of GPUs such as 8 or h100:8", field.Quote(v))
		}
		return nil
	}
}

// hosts sets a list of nodes.
func hosts(at func(*Request) *[]string) func(*Request, string) error {
	return func(r *Request, v string) error {
		if strings.Contains(v, "/") {
			return field.New("", "found %s: lists of nodes in files are not read; expected node[1-4],node7",
				field.Quote(v))
		}
		names, err := Hosts(v)
		if err != nil {
			return field.New("", "%v", err)
		}
		*at(r) = names
		return nil
	}
}

// unread notes an option that has bearing and is not followed.
func unread(why string) func(*Request, string) error {
	return func(r *Request, v string) error {
		r.unread = append(r.unread, why)
		return nil
	}
}

package jobscript

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/slurm"

	"mvdan.cc/sh/v3/expand"
)

// Launch is a program that a script starts, with its number of processes.
type Launch struct {
	At      slurm.Place
	Step    *slurm.Request // request of srun or mpirun; nil: the batch script starts the program once
	By      []string       // launchers, outermost first
	Elastic *Elastic       // torchrun and those like it
	Program string         // python's script or module, else the program
	Python  bool
	Args    []Arg
	Env     []slurm.Variable // inherited variables about the communication of processes
	texts   map[string]string
}

// Elastic holds the options of a launcher on each node: how many processes there, how many nodes.
type Elastic struct {
	Name     string
	Nodes    int // 0: unset
	Procs    int // per node; 0: unset, AllGPUs: one for each
	World    int // total; 0: unset
	Endpoint string
	Flags    map[string]string // other flags, by name
	At       slurm.Place
}

// AllGPUs is a number of processes: one for each GPU of a node.
const AllGPUs = -1

// Found is the content of a script.
type Found struct {
	Launches []Launch
	Exports  []slurm.Variable // variables that the script exports at its end
	Notes    []slurm.Note
	texts    map[string]string // files read, by name
	written  map[string]string // files, by the script
	read     ReadFile
}

// File is a file that the script has written, or that is next to it.
func (f *Found) File(name string) ([]byte, bool) {
	for _, n := range []string{name, strings.TrimPrefix(name, "./"), "./" + name} {
		if s, ok := f.written[n]; ok {
			return []byte(s), true
		}
	}
	if f.read == nil || vague(name) {
		return nil, false
	}
	b, err := f.read(strings.TrimPrefix(name, "./"))
	return b, err == nil
}

// launcher is the program that started a shell.
type launcher struct {
	step    *slurm.Request
	by      []string
	elastic *Elastic
}

// perProcess are the variables that differ between the processes of a step.
var perProcess = []string{"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURMD_NODENAME", "HOSTNAME",
	"CUDA_VISIBLE_DEVICES", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_RANK", "PMIX_RANK",
	"PMI_LOCAL_RANK"}

// telling reports whether a variable concerns the communication of processes, or NCCL.
func telling(name string) bool {
	for _, p := range []string{"NCCL_", "MASTER_", "RCCL_", "TORCH_NCCL_", "FI_", "UCX_", "GLOO_", "OMPI_",
		"NVSHMEM_", "MLX5_", "PMIX_", "PMI_"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return slices.Contains([]string{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK",
		"GROUP_RANK", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_MAX_CONNECTIONS", "OMP_NUM_THREADS", "NNODES",
		"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"}, name)
}

func sortVariables(all []slurm.Variable) {
	slices.SortFunc(all, func(a, b slurm.Variable) int { return strings.Compare(a.Name, b.Name) })
}

// start follows a command line through its launchers to the program that does the work.
func (sh *shell) start(args []Arg) {
	if *sh.calls >= maxCalls || len(args) == 0 {
		return
	}
	*sh.calls++
	defer func() { *sh.calls-- }()
	name := path.Base(args[0].Text)
	if strings.HasPrefix(args[0].Text, "--") || strings.TrimSpace(args[0].Text) == "" {
		sh.found.Notes = append(sh.found.Notes, slurm.Note{At: args[0].At, Text: "a command begins with " +
			strconv.Quote(args[0].Text) + ": the line before ends with a backslash followed by a space or a comment, and bash ends the command there"})
		return
	}
	if f, ok := launchers[name]; ok {
		f(sh, args)
		return
	}
	if strings.HasPrefix(name, "python") {
		sh.python(args)
		return
	}
	if slices.Contains(wrappers, name) {
		sh.wrapped(args)
		return
	}
	if b, ok := sh.file1(args[0].Text); ok && shell1(args[0].Text, b) {
		sh.script(args, b)
		return
	}
	if sh.within.step != nil && len(args) > 1 && starter(args[1].Text) && !slices.Contains(talkers, name) {
		sh.found.Notes = append(sh.found.Notes, slurm.Note{At: args[0].At,
			Text: slurm.Open(args[0].Text) + " is unknown: read as a program that starts the command after it"})
		inner := sh.child()
		inner.within.by = append(slices.Clone(sh.within.by), name)
		inner.start(args[1:])
		return
	}
	sh.record(Launch{Program: args[0].Text, Args: args[1:]}, args[0])
}

// starter reports whether a word is a program that starts others.
func starter(word string) bool {
	name := path.Base(word)
	_, known := launchers[name]
	return known || strings.HasPrefix(name, "python")
}

// talkers take names of programs as words.
var talkers = []string{"echo", "printf", "which", "whereis", "pkill", "killall", "pgrep", "pidof", "man",
	"ls", "file", "stat", "rm", "cp", "chmod", "ldd"}

// launchers are the programs that start others in processes of their own.
var launchers map[string]func(sh *shell, args []Arg)

func init() {
	launchers = map[string]func(sh *shell, args []Arg){
		"srun": (*shell).srun, "mpirun": (*shell).mpirun, "mpiexec": (*shell).mpirun,
		"mpiexec.hydra": (*shell).mpirun, "prterun": (*shell).mpirun, "orterun": (*shell).mpirun,
		"torchrun": (*shell).torchrun, "deepspeed": (*shell).deepspeed, "ds": (*shell).deepspeed,
		"accelerate": (*shell).accelerate, "bash": (*shell).bash, "sh": (*shell).bash,
		"zsh": (*shell).bash, "dash": (*shell).bash, "env": (*shell).env,
		"composer": (*shell).composer,
	}
}

// wrappers start the command after their own options, once.
var wrappers = []string{"exec", "nohup", "time", "nice", "ionice", "numactl", "taskset", "stdbuf", "timeout",
	"nsys", "ncu", "singularity", "apptainer", "shifter", "podman-hpc", "podman", "docker", "enroot",
	"unbuffer", "dumb-init", "tini", "sudo", "command", "strace", "catchsegv", "dcgmi", "uv", "poetry",
	"conda", "micromamba", "hpcrun", "rocprof"}

// wrapped finds the program after a wrapper's options: the first word that starts programs.
func (sh *shell) wrapped(args []Arg) {
	for i, a := range args[1:] {
		name := path.Base(a.Text)
		if _, known := launchers[name]; known || strings.HasPrefix(name, "python") ||
			slices.Contains(wrappers, name) || benchmark(name) || name == "railyard" {
			inner := sh.child()
			inner.within.by = append(slices.Clone(sh.within.by), path.Base(args[0].Text))
			inner.start(args[i+1:])
			return
		}
	}
	if path.Base(args[0].Text) == "exec" && len(args) > 1 {
		sh.start(args[1:])
		return
	}
	sh.record(Launch{Program: args[0].Text, Args: args[1:]}, args[0])
}

// record stores a started program.
func (sh *shell) record(l Launch, first Arg) {
	if len(sh.found.Launches) >= 256 || strings.TrimSpace(l.Program) == "" {
		return
	}
	l.At, l.Step, l.By, l.Elastic = first.At, sh.within.step, sh.within.by, sh.within.elastic
	l.Env, l.texts = sh.exports(), sh.found.texts
	sh.found.Launches = append(sh.found.Launches, l)
}

// said are words with their positions.
func said(args []Arg) (all []slurm.Word) {
	for _, a := range args {
		all = append(all, slurm.Word{Text: a.Text, At: a.At})
	}
	return all
}

// behind returns the last arguments, as many as rest has.
func behind(args []Arg, rest []slurm.Word) []Arg { return args[len(args)-len(rest):] }

// srun starts a step.
func (sh *shell) srun(args []Arg) {
	r := &slurm.Request{}
	rest, err := r.Options(said(args[1:]), true)
	if err != nil {
		sh.found.Notes = append(sh.found.Notes, slurm.Note{At: args[0].At, Text: "srun is not read: " + err.Error()})
		return
	}
	sh.found.Notes = append(sh.found.Notes, r.Notes...)
	if len(rest) == 0 {
		return
	}
	inner := sh.processes("srun")
	inner.within.step = r
	r.At0 = args[0].At
	inner.start(behind(args, rest))
}

// processes is a shell in which variables differ from one process to the next.
func (sh *shell) processes(by string) *shell {
	inner := sh.child()
	inner.within.by = append(slices.Clone(sh.within.by), by)
	for _, name := range perProcess {
		inner.vars[name] = expand.Variable{Set: true, Exported: name == "CUDA_VISIBLE_DEVICES",
			Kind: expand.String, Str: own(name)}
	}
	return inner
}

// env sets variables for a program.
func (sh *shell) env(args []Arg) {
	inner := sh.child()
	for i, a := range args[1:] {
		name, v, ok := strings.Cut(a.Text, "=")
		switch {
		case ok && !strings.HasPrefix(a.Text, "-"):
			inner.vars[name] = expand.Variable{Set: true, Exported: true, Kind: expand.String, Str: v}
		case !strings.HasPrefix(a.Text, "-"):
			inner.start(args[i+1:])
			return
		}
	}
}

// bash runs commands in a shell of their own: -c, or a script next to this one.
func (sh *shell) bash(args []Arg) {
	for i := 1; i < len(args); i++ {
		w := args[i].Text
		switch {
		case strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "c"):
			if i+1 < len(args) {
				inner := sh.child()
				inner.params = texts(args[min(i+3, len(args)):])
				inner.inline(args[i+1])
			}
			return
		case w == "-o" || w == "-O" || w == "--rcfile" || w == "--init-file":
			i++
		case strings.HasPrefix(w, "-"):
		default:
			if b, ok := sh.file1(w); ok {
				sh.script(args[i:], b)
				return
			}
			sh.record(Launch{Program: w, Args: args[i+1:]}, args[i])
			return
		}
	}
}

// inline runs the text after -c; its positions are relative to the word.
func (sh *shell) inline(a Arg) {
	n := len(sh.found.Launches)
	f, err := parse(a.At.File, a.Text)
	if err == nil {
		err = deep(a.At.File, a.Text)
	}
	if err != nil {
		sh.found.Notes = append(sh.found.Notes, slurm.Note{At: a.At, Text: "commands after -c are not read: " +
			strings.TrimPrefix(err.Error(), a.At.File+":")})
		return
	}
	text := sh.found.texts[a.At.File]
	sh.found.texts[a.At.File] = a.Text // kept for quotations of the file
	if sh.quoted.Line == 0 {
		sh.quoted = a.At
	}
	sh.all(f.Stmts)
	sh.found.texts[a.At.File] = text
	for i := n; i < len(sh.found.Launches); i++ {
		l := &sh.found.Launches[i]
		l.At = a.At
		if l.Elastic != nil {
			l.Elastic.At = a.At
		}
		for k := range l.Args {
			l.Args[k].At = a.At
		}
	}
}

// shell1 reports whether a file is a script for a shell.
func shell1(name, text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	return strings.HasPrefix(first, "#!") && strings.Contains(first, "sh") ||
		strings.HasSuffix(name, ".sh") || strings.HasSuffix(name, ".bash")
}

// script runs a script next to this one, in a shell of its own.
func (sh *shell) script(args []Arg, text string) {
	inner := sh.child()
	inner.file = path.Base(args[0].Text)
	inner.params = texts(args[1:])
	inner.found.texts[inner.file] = text
	f, err := parse(inner.file, text)
	if err == nil {
		err = sane(inner.file, []byte(text))
	}
	if err != nil {
		sh.found.Notes = append(sh.found.Notes, slurm.Note{At: args[0].At, Text: err.Error()})
		return
	}
	inner.all(f.Stmts)
}

// python starts a script, or a module that starts others.
func (sh *shell) python(args []Arg) {
	for i := 1; i < len(args); i++ {
		switch w := args[i].Text; {
		case w == "-m" && i+1 < len(args):
			switch rest := args[i+1:]; rest[0].Text {
			case "torch.distributed.run", "torch.distributed.launch":
				sh.torchrun(rest)
			case "accelerate.commands.launch":
				sh.accelerate(rest)
			case "deepspeed.launcher.runner":
				sh.deepspeed(rest)
			default:
				sh.record(Launch{Program: rest[0].Text, Python: true, Args: rest[1:]}, args[0])
			}
			return
		case w == "-c":
			sh.record(Launch{Program: "python -c", Python: true}, args[0])
			return
		case w == "-X" || w == "-W":
			i++
		case strings.HasPrefix(w, "-"), w == "":
		default:
			sh.record(Launch{Program: w, Python: true, Args: args[i+1:]}, args[0])
			return
		}
	}
}

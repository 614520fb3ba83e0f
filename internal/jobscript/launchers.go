package jobscript

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/slurm"

	"mvdan.cc/sh/v3/expand"
)

// behindOptions parses a launcher's options up to the program: options have a value unless they are among the
// switches. Names have no leading hyphens, and _ for - inside.
func behindOptions(args []Arg, switches []string) (flags map[string]string, rest []Arg) {
	flags = map[string]string{}
	for i := 0; i < len(args); i++ {
		w := args[i].Text
		if !strings.HasPrefix(w, "-") {
			if vague(w) && strings.HasPrefix(w, string(slurm.Unknown)) && i+1 < len(args) {
				continue // options in an unset variable
			}
			return flags, args[i:]
		}
		name, v, joined := strings.Cut(strings.TrimLeft(w, "-"), "=")
		name = strings.ReplaceAll(name, "-", "_")
		if name == "" { // --
			return flags, args[i+1:]
		}
		if name == "m" || name == "module" {
			return flags, args[i+1:]
		}
		if !joined && !slices.Contains(switches, name) && i+1 < len(args) {
			i++
			v = args[i].Text
		}
		flags[name] = v
	}
	return flags, nil
}

// count parses a number among flags; gpu and auto mean all GPUs of a node, 1:4 up to 4 nodes.
func count(flags map[string]string, names ...string) int {
	for _, n := range names {
		v, ok := flags[n]
		if !ok {
			continue
		}
		if v == "gpu" || v == "auto" || v == "cuda" {
			return AllGPUs
		}
		if _, most, ok := strings.Cut(v, ":"); ok {
			v = most
		}
		k, err := strconv.Atoi(v)
		if err != nil || k < 1 || k > 1<<20 {
			return 0
		}
		return k
	}
	return 0
}

// elastic starts the program of a launcher on each node: the script after its options.
func (sh *shell) elastic(e *Elastic, at slurm.Place, rest []Arg) {
	if len(rest) == 0 {
		sh.found.Notes = append(sh.found.Notes, slurm.Note{At: at, Text: e.Name + " has no program after its options"})
		return
	}
	if strings.TrimSpace(rest[0].Text) == "" {
		sh.found.Notes = append(sh.found.Notes, slurm.Note{At: at, Text: e.Name + " has a space as its program: a backslash at the end of a line is followed by a space, and bash ends the command there"})
		return
	}
	e.At = at
	inner := sh.child()
	inner.within.by = append(slices.Clone(sh.within.by), e.Name)
	inner.within.elastic = e
	for _, name := range []string{"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK"} {
		inner.vars[name] = expand.Variable{Set: true, Kind: expand.String, Str: own(name)}
	}
	if b, ok := sh.file1(rest[0].Text); ok && shell1(rest[0].Text, b) {
		inner.script(rest, b)
		return
	}
	name := path.Base(rest[0].Text)
	if benchmark(name) || name == "railyard" {
		inner.start(rest)
		return
	}
	inner.record(Launch{Program: rest[0].Text, Python: true, Args: rest[1:]}, rest[0])
}

// torchrun is PyTorch's launcher (torch.distributed.run), and the older torch.distributed.launch.
func (sh *shell) torchrun(args []Arg) {
	flags, rest := behindOptions(args[1:], []string{"standalone", "no_python", "use_env", "run_path"})
	e := &Elastic{Name: "torchrun", Nodes: count(flags, "nnodes"), Flags: flags,
		Procs: count(flags, "nproc_per_node")}
	if e.Procs == 0 {
		e.Procs = 1
	}
	if e.Nodes == 0 && flags["nnodes"] == "" {
		e.Nodes = 1
	}
	e.Endpoint = flags["rdzv_endpoint"]
	if a := flags["master_addr"]; a != "" {
		e.Endpoint = a
		if p := flags["master_port"]; p != "" {
			e.Endpoint += ":" + p
		}
	}
	sh.elastic(e, args[0].At, rest)
}

// deepspeed is DeepSpeed's launcher: on one node it starts a process for each GPU, with a list of hosts on all of
// them.
func (sh *shell) deepspeed(args []Arg) {
	flags, rest := behindOptions(args[1:], []string{"no_python", "no_local_rank", "no_ssh", "no_ssh_check",
		"force_multi", "save_pid", "elastic_training", "bind_cores_to_rank", "module"})
	e := &Elastic{Name: "deepspeed", Nodes: count(flags, "num_nodes"), Flags: flags, Procs: count(flags, "num_gpus")}
	if e.Procs == 0 {
		e.Procs = AllGPUs
	}
	if e.Nodes == 0 && flags["hostfile"]+flags["H"] == "" {
		e.Nodes = 1
	}
	if a := flags["master_addr"]; a != "" {
		e.Endpoint = a
	}
	sh.elastic(e, args[0].At, rest)
}

// accelerateSwitches are its options without a value (accelerate launch --help).
var accelerateSwitches = []string{"multi_gpu", "cpu", "tpu", "use_deepspeed", "use_fsdp", "use_megatron_lm",
	"same_network", "no_python", "debug", "quiet", "q", "ipex", "use_xpu", "use_mps_device",
	"use_parallelism_config", "standalone"}

// accelerate is Hugging Face's launcher.
func (sh *shell) accelerate(args []Arg) {
	from := 1
	if len(args) > 1 && args[1].Text == "launch" {
		from = 2
	} else if path.Base(args[0].Text) == "accelerate" {
		return // accelerate config
	}
	flags, rest := behindOptions(args[from:], accelerateSwitches)
	e := &Elastic{Name: "accelerate", Nodes: count(flags, "num_machines"), Flags: flags,
		World: max(0, count(flags, "num_processes"))}
	if e.Nodes == 0 {
		e.Nodes = 1
	}
	if e.World == 0 {
		e.Procs = AllGPUs
	}
	e.Endpoint = flags["main_process_ip"]
	sh.elastic(e, args[0].At, rest)
}

// composer is MosaicML's launcher, on each node.
func (sh *shell) composer(args []Arg) {
	flags, rest := behindOptions(args[1:], []string{"v", "verbose", "no_python", "command_mode", "c"})
	e := &Elastic{Name: "composer", Procs: count(flags, "nproc", "n"), Flags: flags,
		World: max(0, count(flags, "world_size")), Endpoint: flags["master_addr"]}
	if e.Procs == 0 {
		e.Procs = AllGPUs
	}
	sh.elastic(e, args[0].At, rest)
}

// mpirun is Open MPI's, MPICH's and Intel's: within a job its processes are placed like Slurm's tasks.
func (sh *shell) mpirun(args []Arg) {
	r := &slurm.Request{At: map[string]slurm.Place{}}
	r.At0 = args[0].At
	inner := sh.processes(path.Base(args[0].Text))
	i := 1
	for ; i < len(args) && strings.HasPrefix(args[i].Text, "-"); i++ {
		name, v, joined := strings.Cut(strings.TrimLeft(args[i].Text, "-"), "=")
		values := 0
		switch name {
		case "mca", "gmca", "pmca", "genv", "env":
			values = 2
		case "np", "n", "c", "N", "npernode", "ppn", "perhost", "map-by", "bind-to", "x", "H", "host",
			"hosts", "hostfile", "machinefile", "f", "rankfile", "rank-by", "output-filename", "wdir",
			"launcher", "bootstrap", "rmk", "tag-output-file", "prefix", "cpus-per-proc", "cpus-per-rank",
			"display", "mpi", "genvlist", "envlist", "iface", "stdin", "prtemca", "report-uri", "timeout":
			values = 1
		}
		if joined {
			values = 0
		}
		if i+values >= len(args) {
			break
		}
		if values > 0 {
			v = args[i+1].Text
		}
		i += values
		n, _ := strconv.Atoi(v)
		switch name {
		case "np", "n", "c":
			r.Tasks, r.At["ntasks"] = n, args[0].At
		case "N", "npernode", "ppn", "perhost":
			r.PerNode, r.At["ntasks-per-node"] = n, args[0].At
		case "map-by":
			if p, ok := strings.CutPrefix(v, "ppr:"); ok {
				p, _, _ = strings.Cut(p, ":")
				r.PerNode, _ = strconv.Atoi(p)
			}
		case "x", "genv", "env":
			if k, v, ok := strings.Cut(v, "="); ok {
				inner.vars[k] = expand.Variable{Set: true, Exported: true, Kind: expand.String, Str: v}
			}
		}
	}
	if r.Tasks < 0 || r.Tasks > 1<<20 || r.PerNode < 0 || r.PerNode > 1<<12 {
		r.Tasks, r.PerNode = 0, 0
	}
	inner.within.step = r
	inner.start(args[min(i, len(args)):])
}

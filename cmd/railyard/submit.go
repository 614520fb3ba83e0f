package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/jobscript"
	"railyard/internal/output"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/slurm"
	"railyard/unit"
)

type submitCmd struct {
	Script    string   `arg:"" help:"Batch script, as for sbatch." placeholder:"JOB.sbatch"`
	Args      []string `arg:"" optional:"" help:"Words behind it, which are $1 and so on for the script." placeholder:"ARG"`
	Cluster   string   `help:"Scenario whose servers the job gets." placeholder:"SCENARIO"`
	SlurmConf string   `help:"slurm.conf of the cluster." placeholder:"FILE"`
	Topology  string   `help:"Its topology.conf." placeholder:"FILE"`
	Sinfo     string   `help:"What sinfo prints there, with columns for nodes and GPUs: sinfo -o '%P %N %G %c %t'." placeholder:"FILE"`
	Scontrol  []string `help:"What scontrol show node, or show topology, prints there." placeholder:"FILE,..."`
	GPUs      int      `help:"GPUs of a node, where no file says it." name:"gpus" range:"1,576" without:"cluster"`
	Rate      string   `help:"Rate of a NIC, where only Slurm describes the cluster." default:"400Gbps" placeholder:"RATE" without:"cluster"`
	Option    []string `help:"An option as on sbatch's command line, before those of the script: --option=--nodes=4. May be repeated." placeholder:"OPTION" sep:"none"`
	Env       []string `help:"A variable that the script finds in its environment. May be repeated." placeholder:"NAME=VALUE" sep:"none"`
	Model     string   `help:"What is trained, where the script does not tell: a shipped model, or the path of a config.json." placeholder:"MODEL"`
	Set       []string `help:"Override a value of the scenario that comes of it." placeholder:"KEY=VALUE" sep:"none"`
	Scenario  string   `help:"Write the scenario that comes of it." placeholder:"FILE.yaml"`
	Ranks     int      `help:"How many ranks to show." default:"16" range:"1,1048576" without:"json"`
	Rank      int      `help:"The rank whose environment is shown." default:"0" range:"0,1048575" without:"json"`
	DryRun    bool     `help:"Show who gets what, and run nothing."`
	Out       string   `help:"Run directory; a new one under runs/ unless given." placeholder:"DIR" without:"dry-run"`
	Force     bool     `help:"Replace an existing run directory, or scenario." with:"out,scenario"`
	Memory    string   `help:"Most memory the run may use; what the machine has available unless given." placeholder:"SIZE"`
	JSON      bool     `help:"Print all of it as JSON, and the run's summary."`
}

func (c *submitCmd) Help() string {
	return `Reads a batch script without running anything of it: #SBATCH lines, variables, arrays, srun,
torchrun, mpirun, DeepSpeed, Accelerate, and the flags of Megatron-LM, DeepSpeed, NeMo and Hugging
Face. Chooses nodes as Slurm does (select/cons_tres, topology/tree), says who gets which rank, host,
GPU, NIC and rail and what each process finds in its environment, makes a scenario of it and runs it.
What is not read is named with its line.

Examples:
  railyard submit scenarios/llama2-7b.sbatch --cluster scenarios/pod64-llama2-7b.yaml --dry-run
  railyard submit job.sbatch --cluster site.yaml --option=--nodes=4 --env DATA=/data
  railyard submit job.sbatch --slurm-conf slurm.conf --topology topology.conf --scenario job.yaml
  sinfo -o '%P %N %G %c %t' > nodes.txt; railyard submit job.sbatch --sinfo nodes.txt
  railyard submit job.sbatch --scontrol nodes.txt,topology.txt --json`
}

// submission is a job on its way.
type submission struct {
	script  *jobscript.Script
	cluster *cluster
	alloc   *slurm.Allocation
	found   *jobscript.Found
	work    *jobscript.Work
	crew    *jobscript.Crew
	train   *jobscript.Training
	name    string
	nothing error // why there is nothing to run
	text    string
	models  map[string][]byte // files that the scenario names, by name
	plan    *scenario.Plan
}

// Run is the submit command.
func (c *submitCmd) Run(e *env) error {
	began := time.Now()
	s, err := c.submit()
	if err != nil {
		return err
	}
	if s.nothing == nil {
		s.nothing = c.plan(s) // who gets what is told all the same
	}
	if c.Scenario != "" && s.nothing == nil {
		if err := c.write(s); err != nil {
			return err
		}
	}
	shown := s.shown(c)
	if !c.JSON {
		shown.print(e.stdout, c)
	}
	if s.nothing != nil {
		if c.JSON {
			return errors.Join(printJSON(e.stdout, shown), s.nothing)
		}
		return s.nothing
	}
	if c.DryRun {
		if c.JSON {
			return printJSON(e.stdout, shown)
		}
		return nil
	}
	run := &runCmd{Scenario: c.Script, Out: c.Out, Force: c.Force, Memory: c.Memory, JSON: c.JSON}
	if c.JSON {
		run.Beside = shown
	}
	return run.simulated(e, s.plan, began)
}

// submit follows the script to what its processes are.
func (c *submitCmd) submit() (*submission, error) {
	text, err := input.Text(c.Script, 64<<20)
	if err != nil {
		return nil, input.Fault(err)
	}
	s := &submission{models: map[string][]byte{}}
	if s.script, err = jobscript.Read(c.Script, text, c.Option); err != nil {
		return nil, err
	}
	if s.cluster, err = c.cluster(); err != nil {
		return nil, err
	}
	job := s.script.Job
	if err := job.Check(); err != nil {
		return nil, err
	}
	if s.alloc, err = s.cluster.slurm.Allocate(job); err != nil {
		return nil, err
	}
	if s.name = job.Name; s.name == "" {
		s.name = filepath.Base(c.Script)
	}
	env := jobscript.Environment{Variables: s.alloc.Batch(job, s.name), Nodes: s.alloc.Names(),
		Args: c.Args, Read: jobscript.ReadFile(scenariofile.Beside(c.Script))}
	for _, v := range c.Env {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return nil, field.New("--env", "found %s, expected NAME=VALUE", field.Quote(v))
		}
		env.Variables = append(env.Variables, slurm.Variable{Name: name, Value: value})
	}
	s.found = s.script.Walk(env)
	return s, c.launch(s)
}

// launch lays out what the script starts, and finds what that does.
func (c *submitCmd) launch(s *submission) error {
	l := s.found.Main()
	if l == nil {
		return c.idle(s)
	}
	if filepath.Base(l.Program) == "sbatch" {
		return l.At.Fail("sbatch", "the script submits another one: read that, with these options as "+
			"--option")
	}
	var err error
	if s.work, err = l.Work(s.found.File); err != nil {
		return err
	}
	if s.crew, err = l.Crew(s.alloc, s.script.Job, s.name, s.work.Each); err != nil {
		return err
	}
	if c.Rank < 0 || c.Rank >= len(s.crew.Processes) {
		return field.Outside("--rank", 0, len(s.crew.Processes)-1, c.Rank)
	}
	if s.work.Collective != "" {
		return nil
	}
	if err := c.model(s.work.Said); err != nil {
		return err
	}
	if s.train, err = s.work.Said.Training(len(s.crew.Processes)); err != nil {
		return err
	}
	if s.train == nil {
		s.nothing = l.At.Fail(field.Clip(slurm.Open(l.Program)), "what it computes is not said by its "+
			"flags or "+
			"the files that they name; --model NAME, and --set jobs[0].training.tp=8 and so on, say it")
	}
	return nil
}

// idle says why a script starts nothing: what was noted on the way.
func (c *submitCmd) idle(s *submission) error {
	all := field.List{slurm.Place{File: c.Script}.Fail("", "starts no program that is known; accepted: "+
		"srun, "+
		"torchrun, mpirun, deepspeed, accelerate, python, and scripts that lie beside it")}
	for i, n := range s.found.Notes {
		if i == 4 {
			break
		}
		all = append(all, n.At.Fail("", "%s", n.Text))
	}
	return all.Err()
}

// model takes the one that is named on the command line before what the script says.
func (c *submitCmd) model(s *jobscript.Said) error {
	if !strings.HasSuffix(c.Model, ".json") {
		return s.Model(c.Model, nil)
	}
	b, err := input.Text(c.Model, 1<<20)
	if err != nil {
		return input.Fault(err)
	}
	return s.Model(c.Model, b)
}

// plan makes the scenario of a job and resolves it.
func (c *submitCmd) plan(s *submission) error {
	fabric := s.cluster.text
	if s.cluster.graph == nil {
		rate, err := unit.ParseRate(c.Rate)
		if err != nil || rate <= 0 {
			return field.New("--rate", "%s is no rate; accepted: 400Gbps", field.Quote(c.Rate))
		}
		if fabric, err = s.cluster.scenarioOf(s.alloc, rate); err != nil {
			return err
		}
	}
	name := scenariofile.Slug(s.name, c.Script)
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\nabout: %s\n", strconv.Quote(name), strconv.Quote(filepath.Base(c.Script)+
		" as railyard submit reads it"))
	say := s.nccl()
	for _, kv := range say.transport {
		fabric = withTransport(fabric, kv[0], kv[1])
	}
	fabric = s.onNICs(fabric, say, s.noteNCCL)
	b.WriteString(strings.TrimRight(fabric, "\n"))
	on, err := s.seats()
	if err != nil {
		return err
	}
	fmt.Fprintf(&b, "\njobs:\n  - name: %s\n    on: [%s]\n%s", strconv.Quote(name), strings.Join(on, ", "),
		say.job)
	if s.train != nil {
		file := name + "-model.json"
		if s.train.Shape.Name == "" {
			s.models[file] = s.train.Shape.Config
		}
		fmt.Fprintf(&b, "    training:\n%s", s.train.YAML("      ", file)+s.training(say))
	} else {
		algorithm := say.algorithm
		if s.work.Collective != "all-reduce" {
			algorithm = "auto"
		}
		fmt.Fprintf(&b, "    traffic: {collective: {kind: %s, bytes: %dB, algorithm: %s, protocol: %s%s}}\n",
			s.work.Collective, s.work.Bytes, algorithm, say.protocol,
			s.collective(say, s.work.Collective, algorithm))
	}
	s.text = b.String()
	doc, err := scenario.Parse("the scenario of "+c.Script, []byte(s.text), c.Set)
	if err != nil {
		return input.Fault(err)
	}
	near := scenariofile.Beside(c.Script)
	if c.Cluster != "" {
		near = scenariofile.Beside(c.Cluster)
	}
	resolve := doc.Resolve
	if c.DryRun {
		resolve = doc.Sums
	}
	s.plan, err = resolve(func(file string) ([]byte, error) {
		if b, ok := s.models[file]; ok {
			return b, nil
		}
		return near(file)
	})
	return s.blamed(err)
}

// blamed puts the script's own words and places where a resolver refuses what came of them.
func (s *submission) blamed(err error) error {
	if err == nil {
		return nil
	}
	for _, e := range field.All(err) {
		_, key, ok := strings.Cut(e.Path, ".training.")
		if !ok || s.train == nil || strings.HasPrefix(e.File, "--set") {
			continue
		}
		if said, ok := s.train.Find(key); ok && said.Said {
			e.Path, e.File, e.Line, e.Col = said.Name, said.At.File, said.At.Line, said.At.Col
		}
	}
	return input.Fault(err)
}

// seats are the job's GPUs in the order of ranks, in as few words as say it.
func (s *submission) seats() (on []string, err error) {
	names := s.alloc.Names()
	node := func(p *jobscript.Process) string {
		if s.cluster.graph == nil {
			return plainNode(names[p.Node])
		}
		return names[p.Node]
	}
	all := s.crew.Processes
	for i := 0; i < len(all); {
		p := &all[i]
		if p.GPU < 0 {
			return nil, s.crew.Launch.At.Fail("", "node %s has no GPU", names[p.Node])
		}
		n := 1
		for i+n < len(all) && all[i+n].Node == p.Node && all[i+n].GPU == p.GPU+n {
			n++
		}
		word := fmt.Sprintf("%s/gpu-%d", node(p), p.GPU+1)
		switch has := s.cluster.slurm.Nodes[s.alloc.Shares[p.Node].Node].GPUs; {
		case p.GPU == 0 && n == has:
			word = node(p)
		case n > 1:
			word = fmt.Sprintf("%s/gpu-[%d-%d]", node(p), p.GPU+1, p.GPU+n)
		}
		on = append(on, strconv.Quote(word))
		i += n
	}
	return on, nil
}

// write writes the scenario and the model that it names.
func (c *submitCmd) write(s *submission) error {
	for name, b := range s.models {
		if err := output.WriteBytes(filepath.Join(filepath.Dir(c.Scenario), name), c.Force, b); err != nil {
			return err
		}
	}
	if len(s.plan.Texts)+len(s.plan.Machines) > 0 && c.Cluster != "" &&
		filepath.Dir(c.Cluster) != filepath.Dir(c.Scenario) {
		return field.New("--scenario", "%s names files that lie beside it: write it into %s", c.Cluster,
			filepath.Dir(c.Cluster))
	}
	return output.WriteBytes(c.Scenario, c.Force, []byte(s.text))
}

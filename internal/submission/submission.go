// Package submission makes a scenario of a batch script and a cluster, without running any part of the script.
// Follow reads it, allocates nodes as Slurm does, lays out ranks, and adopts NCCL's variables. A Submission has the
// scenario, its plan, and a Report of each rank's GPU and NIC.
package submission

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"railyard/internal/fidelity"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/jobscript"
	"railyard/internal/model"
	"railyard/internal/output"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/slurm"
	"railyard/unit"
)

// Submission is a job on its way.
type Submission struct {
	of      *Request
	script  *jobscript.Script
	cluster *cluster
	alloc   *slurm.Allocation
	found   *jobscript.Found
	work    *jobscript.Work
	crew    *jobscript.Crew
	train   *jobscript.Training
	name    string
	Nothing error // reason why there is nothing to run
	text    string
	models  map[string][]byte // files that the scenario names, by name
	Plan    *scenario.Plan
	Large   bool // Nothing is a limit on operations, and names what can be simulated instead
}

// Request is a batch script, and the cluster that it is for.
type Request struct {
	Script    string   // file
	Args      []string // $1 and so on of the script
	Cluster   string   // scenario whose servers the job gets; "": the files of Slurm
	SlurmConf string
	Topology  string
	Sinfo     string
	Scontrol  []string
	GPUs      int      // GPUs of a node, where no file says it
	Rate      string   // rate of a NIC, where only Slurm describes the cluster
	Option    []string // option of sbatch's command line
	Env       []string // NAME=VALUE
	Model     string   // shipped model, or config.json, where the script has none
	Set       []string // overrides of the scenario
	Rank      int      // rank whose environment is printed
	DryRun    bool     // whether transfers are only summed, without a limit on operations
}

// Follow reads a script up to its processes and makes a scenario of it. If there is nothing to run, the submission
// contains the reason, with the placement.
func Follow(c *Request) (*Submission, error) {
	s, err := c.submit()
	if err == nil && s.Nothing == nil {
		s.Nothing = c.plan(s)
	}
	return s, err
}

// submit follows the script to what its processes are.
func (c *Request) submit() (*Submission, error) {
	text, err := input.Text(c.Script, 64<<20)
	if err != nil {
		return nil, input.Fault(err)
	}
	s := &Submission{of: c, models: map[string][]byte{}}
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
	s.cluster.typed(job.GPUType)
	if s.alloc, err = s.cluster.slurm.Allocate(job); err != nil {
		return nil, err
	}
	if s.name = job.Name; s.name == "" {
		s.name = filepath.Base(c.Script)
	}
	env := jobscript.Environment{Variables: s.alloc.Batch(job, s.name), Nodes: s.alloc.Names(),
		Args: c.Args, Read: jobscript.ReadFile(scenariofile.Below(c.Script, scenariofile.Here()))}
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

// launch lays out the processes of the script, and finds their work.
func (c *Request) launch(s *Submission) error {
	l := s.found.Main()
	if l == nil {
		return c.idle(s)
	}
	if filepath.Base(l.Program) == "sbatch" {
		return l.At.Fail("sbatch", "the script submits another one: read that, with these options as --option")
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
		s.Nothing = l.At.Fail(field.Clip(slurm.Open(l.Program)), "its model and layout are not in its flags or the files that they name; set them with --model NAME, --set jobs[0].training.tp=8 and so on")
	}
	return nil
}

// idle returns the reason why a script starts nothing: the notes so far.
func (c *Request) idle(s *Submission) error {
	all := field.List{slurm.Place{File: c.Script}.Fail("", "starts no supported program; accepted: srun, torchrun, mpirun, deepspeed, accelerate, python, and scripts in its folder")}
	for i, n := range s.found.Notes {
		if i == 4 {
			break
		}
		all = append(all, n.At.Fail("", "%s", n.Text))
	}
	return all.Err()
}

// model prefers the model of the command line to the script's.
func (c *Request) model(s *jobscript.Said) error {
	if !model.IsFile(c.Model) {
		return s.Model(c.Model, nil)
	}
	b, err := input.Text(c.Model, 1<<20)
	if err != nil {
		return input.Fault(err)
	}
	return s.Model(c.Model, b)
}

// plan makes the scenario of a job and resolves it.
func (c *Request) plan(s *Submission) error {
	fabric := s.cluster.text
	if s.cluster.graph == nil {
		rate, err := unit.ParseRate(c.Rate)
		if err != nil || rate <= 0 {
			return field.New("--rate", "%s is not a rate; accepted: 400Gbps", field.Quote(c.Rate))
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
		var ok bool
		if fabric, ok = scenario.SetKey(fabric, "transport", kv[0], kv[1]); !ok {
			s.noteNCCL("transport."+kv[0], kv[1], "left out: the scenario names its transport by one word; --set sets it")
		}
	}
	fabric, err := s.onNICs(fabric, say)
	if err != nil {
		return err
	}
	b.WriteString(strings.TrimRight(fabric, "\n"))
	on, err := s.seats()
	if err != nil {
		return err
	}
	fmt.Fprintf(&b, "\njobs:\n  - name: %s\n    on: [%s]\n%s", strconv.Quote(name), strings.Join(on, ", "), say.job)
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
	free := doc.Prefer(fidelity.Auto)
	near := scenariofile.Beside(c.Script)
	if c.Cluster != "" {
		near = scenariofile.Beside(c.Cluster)
	}
	read := func(file string) ([]byte, error) {
		if b, ok := s.models[file]; ok {
			return b, nil
		}
		return near(file)
	}
	if c.DryRun {
		s.Plan, err = doc.Sums(read)
	} else if s.Plan, err = doc.Resolve(read); err != nil {
		if whole, sumErr := doc.Sums(read); sumErr == nil { // only the number of operations exceeds a limit
			s.Large, err = true, c.offer(err, whole, len(s.alloc.Names()))
		}
	}
	if err == nil && free && s.Plan.Large() {
		s.text += "fidelity: " + fidelity.Auto + "\n"
	}
	return s.blamed(err)
}

// blamed replaces the key in a resolver's error by the script's words and places that set it.
func (s *Submission) blamed(err error) error {
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

// seats are the job's GPUs in the order of ranks, in as few words as possible.
func (s *Submission) seats() (on []string, err error) {
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

// Write writes the scenario to a file, and the model that it names next to it.
func (s *Submission) Write(path string, force bool) error {
	for name, b := range s.models {
		if err := output.WriteBytes(filepath.Join(filepath.Dir(path), name), force, b); err != nil {
			return err
		}
	}
	if len(s.Plan.Texts)+len(s.Plan.Machines) > 0 && s.of.Cluster != "" &&
		filepath.Dir(s.of.Cluster) != filepath.Dir(path) {
		return field.New("--scenario", "%s names files in its folder: write it into %s", s.of.Cluster,
			filepath.Dir(s.of.Cluster))
	}
	return output.WriteBytes(path, force, []byte(s.text))
}

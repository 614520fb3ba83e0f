package main

import (
	"errors"
	"fmt"
	"time"

	"railyard/internal/report/table"
	"railyard/internal/submission"
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

// Run is the submit command.
func (c *submitCmd) Run(e *env) error {
	began := time.Now()
	s, err := submission.Follow(&submission.Request{Script: c.Script, Args: c.Args, Cluster: c.Cluster,
		SlurmConf: c.SlurmConf, Topology: c.Topology, Sinfo: c.Sinfo, Scontrol: c.Scontrol, GPUs: c.GPUs, Rate: c.Rate,
		Option: c.Option, Env: c.Env, Model: c.Model, Set: c.Set, Rank: c.Rank, DryRun: c.DryRun})
	if err != nil {
		return err
	}
	if c.Scenario != "" && s.Nothing == nil {
		if err := s.Write(c.Scenario, c.Force); err != nil {
			return err
		}
	}
	shown := s.Report()
	if !c.JSON {
		table.Submitted(e.stdout, shown, c.Ranks, c.Rank, c.Scenario)
		if !c.DryRun {
			fmt.Fprintln(e.stdout)
		}
	}
	if s.Nothing != nil {
		if c.JSON {
			return errors.Join(printJSON(e.stdout, shown), s.Nothing)
		}
		return s.Nothing
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
	return run.simulated(e, s.Plan, began)
}

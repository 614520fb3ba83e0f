package main

import (
	"errors"
	"fmt"
	"time"

	"railyard/internal/report/table"
	"railyard/internal/submission"
)

type submitCmd struct {
	Script    string   `arg:"" help:"Batch script for sbatch" placeholder:"JOB.sbatch"`
	Args      []string `arg:"" optional:"" help:"Arguments of the script ($1 …)" placeholder:"ARG"`
	Cluster   string   `help:"Scenario with the hosts of the cluster" placeholder:"SCENARIO"`
	SlurmConf string   `help:"slurm.conf of the cluster" placeholder:"FILE"`
	Topology  string   `help:"topology.conf of the cluster" placeholder:"FILE"`
	Sinfo     string   `help:"Output of sinfo -o '%P %N %G %c %t'; with --cluster, the states of its nodes" placeholder:"FILE"`
	Scontrol  []string `help:"Output of scontrol show node or show topology" placeholder:"FILE,..."`
	GPUs      int      `help:"GPUs per node, if no file has them" name:"gpus" range:"1,576" without:"cluster"`
	Rate      string   `help:"NIC rate, without --cluster" default:"400Gbps" placeholder:"RATE" without:"cluster"`
	Option    []string `help:"sbatch option that overrides the script's (--option=--nodes=4); repeatable" placeholder:"OPTION" sep:"none"`
	Env       []string `help:"Environment variable of the script; repeatable" placeholder:"NAME=VALUE" sep:"none"`
	Model     string   `help:"Model, if the script has none: a shipped one or a config.json" placeholder:"MODEL"`
	Set       []string `help:"Override a value of the resulting scenario; repeatable" placeholder:"KEY=VALUE" sep:"none"`
	Scenario  string   `help:"Write the resulting scenario" placeholder:"FILE.yaml"`
	Ranks     int      `help:"Ranks to print" default:"16" range:"1,1048576" without:"json"`
	Rank      int      `help:"Rank whose environment is printed" default:"0" range:"0,1048575" without:"json"`
	DryRun    bool     `help:"Print the placement without running"`
	Out       string   `help:"Run directory (runs/NAME-NNN)" placeholder:"DIR" without:"dry-run"`
	Force     bool     `help:"Replace an existing run directory or scenario" with:"out,scenario"`
	Memory    string   `help:"Memory limit (available memory)" placeholder:"SIZE"`
	JSON      bool     `help:"Print the placement and the run's summary as JSON"`
}

func (c *submitCmd) Help() string {
	return `Parses a batch script without running any of it: #SBATCH lines, variables, arrays, srun, torchrun,
mpirun, DeepSpeed, Accelerate, and the flags of Megatron-LM, DeepSpeed, NeMo and Hugging Face.
Places nodes as Slurm does (select/cons_tres, topology/tree), prints rank, host, GPU, NIC, rail and
environment of each process, and simulates the resulting scenario. Unsupported lines are listed with
their numbers.

Examples:
  railyard submit scenarios/llama2-7b.sbatch --cluster scenarios/pod64-llama2-7b.yaml --dry-run
  railyard submit job.sbatch --cluster site.yaml --option=--nodes=4 --env DATA=/data
  railyard submit job.sbatch --slurm-conf slurm.conf --topology topology.conf --scenario job.yaml
  sinfo -o '%P %N %G %c %t' > nodes.txt && railyard submit job.sbatch --sinfo nodes.txt
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
	if s.Large {
		return s.Nothing
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
	return run.simulated(e, s.Plan, began, func() error { return nil })
}

package main

import (
	"errors"
	"fmt"

	"railyard/internal/allreduce"
	"railyard/internal/allreduce/launch"
	"railyard/internal/report/table"
)

type rdmaAllreduceCmd struct {
	launch.Flags
	JSON bool `help:"Print the rows as JSON"`
}

func (c *rdmaAllreduceCmd) Help() string {
	return `Without --rank all ranks run here, each as a process with its own loopback address. The table
follows nccl-tests: busbw = algbw x 2(n-1)/n; wrong counts elements that differ on any rank.

Examples:
  railyard rdma allreduce --ranks 8 --bytes 64MiB --dtype float32
  railyard rdma allreduce --ranks 4 --bytes 1KiB,1MiB,16MiB --json
  railyard rdma allreduce --ranks 4 --bytes 16MiB --transport mrc
  railyard rdma allreduce --ranks 2 --rank 1 --rendezvous 10.1.0.7:29500
  MASTER_ADDR=n1 MASTER_PORT=29500 WORLD_SIZE=2 RANK=1 railyard rdma allreduce
  srun --nodes 2 --ntasks-per-node 1 railyard rdma allreduce  # under Slurm`
}

// Run is the rdma allreduce command.
func (c *rdmaAllreduceCmd) Run(e *env) error {
	s, err := c.Spec()
	if err != nil {
		return err
	}
	ctx, cancel := interruptible()
	defer cancel()
	m := newMeter(e)
	if s.Rank == 0 {
		s.Progress = func(size int64, share float64) { m.show(share, fmt.Sprintf("%d bytes", size)) }
	}
	var rows []allreduce.Row
	p := launch.Process{Program: program(), Args: e.args, Stderr: e.stderr, Threads: e.threads}
	p.Row = func(r allreduce.Row) {
		m.finish()
		m = newMeter(e)
		if len(rows) == 0 && !c.JSON {
			table.AllReduce(e.stdout, s)
		}
		if rows = append(rows, r); !c.JSON {
			table.AllReduceRow(e.stdout, r)
		}
	}
	p.End = func(err error) error {
		m.finish()
		switch {
		case errors.As(err, new(*allreduce.JoinError)):
			return deviceError(err)
		case err != nil || s.Rank != 0:
			return err
		case c.JSON:
			return printJSON(e.stdout, rows)
		}
		return table.AllReduceFoot(e.stdout, rows)
	}
	return c.Flags.Run(ctx, s, &p)
}

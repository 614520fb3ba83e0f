package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"railyard/internal/allreduce"
	"railyard/internal/allreduce/rates"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/lab"
	"railyard/internal/lab/load"
	"railyard/internal/perftest"
	"railyard/internal/report/plot"
	"railyard/internal/report/table"
)

type labCompareCmd struct {
	labName
	CC       string `help:"Congestion controls: NAME[:PROFILE][,PARAMETER=VALUE],NAME…; all: every one that runs on sockets" default:"dcqcn,swift,nscc" name:"cc" placeholder:"LIST"`
	Bytes    string `help:"Size of the all-reduce" default:"8MiB"`
	Iters    int    `help:"Measured all-reduces per congestion control" default:"5" range:"1,1000000"`
	Warmup   int    `help:"Warm-up all-reduces" default:"1" range:"0,1000000"`
	QPs      int    `help:"Queue pairs per neighbor" default:"1" name:"qps" range:"1,64"`
	RatePlot string `help:"Plot sending rates over time" placeholder:"FILE.png"`
	Force    bool   `help:"Replace an existing plot"`
	JSON     bool   `help:"Print as JSON"`
}

func (c *labCompareCmd) Help() string {
	return `Repeats the same all-reduce, one rank per host, with one congestion control after another. Where
links between switches are slower than host links, as in lab-2x2.yaml, marks, delay and drops come
from the slow ports. The plot shows the allowed rate of each queue pair (window / RTT where the
control has a window), averaged over short times.

Examples:
  railyard lab up scenarios/lab-2x2.yaml --rate 200Mbps
  railyard lab compare --cc dcqcn,swift,nscc --rate-plot cc.png
  railyard lab compare --cc dcqcn:nic,swift,base_target=2ms --bytes 16MiB --json`
}

// Run is the lab compare command.
func (c *labCompareCmd) Run(e *env) error {
	list, err := load.Controls(c.CC)
	if err != nil {
		return input.Fault(fmt.Errorf("--cc: %w", err))
	}
	if _, err := perftest.Size("--bytes", c.Bytes, 1, allreduce.MaxBytes); err != nil {
		return err
	}
	if err := c.plotFits(); err != nil {
		return input.Fault(err)
	}
	s, err := lab.Load(c.Name)
	if err != nil {
		return labError(err)
	}
	dir, err := os.MkdirTemp("", "railyard-lab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := interruptible()
	defer cancel()
	args := []string{"--bytes", c.Bytes, "--iters", fmt.Sprint(c.Iters), "--warmup", fmt.Sprint(c.Warmup), "--qps",
		fmt.Sprint(c.QPs)}
	var all []load.Variant
	for i, choice := range list {
		v, err := load.Compare(ctx, s, choice, filepath.Join(dir, fmt.Sprint(i)), args, e.stderr)
		if err != nil {
			return labError(err)
		}
		all = append(all, *v)
	}
	err = e.show(c.JSON, all, func() { table.Variants(e.stdout, all) })
	if c.RatePlot != "" && err == nil {
		img, err := plot.Controls(all, s.Rate)
		if err != nil {
			return err
		}
		return plot.WritePNG(img, c.RatePlot, c.Force)
	}
	return err
}

// plotFits refuses a plot that could not be written when all has run.
func (c *labCompareCmd) plotFits() error {
	switch {
	case c.RatePlot == "" && c.Force:
		return field.New("--force", "has no effect without a file to write")
	case c.RatePlot == "":
		return nil
	case strings.ToLower(filepath.Ext(c.RatePlot)) != ".png":
		return fmt.Errorf("--rate-plot writes .png, found %q", c.RatePlot)
	}
	_, err := rates.New("", c.RatePlot, "none", c.Force)
	return err
}

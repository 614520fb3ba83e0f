// Package speed measures what simulations cost on this computer: each Case is a run of this program as a process of its
// own, next to the figures of other simulators for the same work (Peer). docs/comparison has a script that builds and
// runs two of these.
package speed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"railyard/internal/field"
	"railyard/internal/ranks"
	"railyard/internal/result"
	"railyard/unit"
)

// Peer is the cost of the same work in another program, from its source; 0: not in the source.
type Peer struct {
	Name   string     `json:"name"`
	Wall   float64    `json:"wall_seconds,omitempty"`
	Memory unit.Bytes `json:"memory_bytes,omitempty"`
	Rate   float64    `json:"packet_hops_per_second,omitempty"`
	Source string     `json:"source"`
}

// Case is one run to measure.
type Case struct {
	Name  string
	Text  string // scenario
	Sets  []string
	Large bool    // takes more than ten seconds
	About float64 // seconds on the computer of the figures in README.md, for the time left
	Peers []Peer
}

// Row is what a case took here.
type Row struct {
	Name     string     `json:"name"`
	Fidelity string     `json:"fidelity"`
	Wall     float64    `json:"wall_seconds"`  // wall-clock time of the whole process
	CPU      float64    `json:"cpu_seconds"`   // CPU time of the process, on all cores
	Events   float64    `json:"event_seconds"` // events of the event loop
	Memory   unit.Bytes `json:"memory_bytes"`  // resident at most
	Hops     int64      `json:"packet_hops"`   // 0: flows
	Rate     float64    `json:"packet_hops_per_second"`
	Step     unit.Time  `json:"step_time_ps"`
	Peers    []Peer     `json:"peers"`
}

// Run is what one process took.
type Run struct {
	Wall, CPU float64
	Memory    unit.Bytes
	Summary   result.Summary
}

// Bench measures cases.
type Bench struct {
	Rounds int // rounds, of which the fastest counts
	Large  bool
	Only   string // part of the names of the cases; "": all
	Run    func(ctx context.Context, c *Case) (*Run, error)
	// Tell receives the share of the work that is done, and what is measured next.
	Tell func(share float64, label string)
}

// Cases lists the cases that a bench measures.
func (b *Bench) Cases() (picked []Case, err error) {
	var names []string
	for _, c := range Cases() {
		if c.Large && !b.Large {
			continue
		}
		names = append(names, c.Name)
		if strings.Contains(strings.ToLower(c.Name), strings.ToLower(b.Only)) {
			picked = append(picked, c)
		}
	}
	if len(picked) == 0 {
		return nil, field.Choice("--only", b.Only, names, "no run has %s in its name", field.Quote(b.Only))
	}
	return picked, nil
}

// Go measures all cases; an error comes with the rows that were measured before.
func (b *Bench) Go(ctx context.Context) (rows []Row, err error) {
	all, err := b.Cases()
	if err != nil {
		return nil, err
	}
	total, done := 0.0, 0.0
	for i := range all {
		total += all[i].About * float64(b.Rounds)
	}
	for i := range all {
		c := &all[i]
		row := Row{Name: c.Name, Peers: append([]Peer{}, c.Peers...)}
		for round := range b.Rounds {
			b.Tell(done/total, c.Name)
			r, err := b.Run(ctx, c)
			if err != nil {
				return rows, fmt.Errorf("%s: %w", c.Name, err)
			}
			if done += c.About; round == 0 || r.Wall < row.Wall {
				row.take(r)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (row *Row) take(r *Run) {
	s := &r.Summary
	row.Fidelity, row.Wall, row.CPU, row.Memory = s.Fidelity, r.Wall, r.CPU, r.Memory
	row.Events, row.Hops, row.Step = s.SimSeconds, s.PacketHops, unit.Time(s.StepTime)
	if s.Reused != nil {
		row.Hops = s.Reused.PacketHops
	}
	if row.Rate = 0; row.Events > 0 {
		row.Rate = float64(row.Hops) / row.Events
	}
}

// Process runs a case as a process of this program, in a folder that is deleted afterwards.
func Process(ctx context.Context, c *Case) (*Run, error) {
	dir, err := os.MkdirTemp("", "railyard-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "scenario.yaml")
	if err := os.WriteFile(file, []byte(c.Text), 0o600); err != nil {
		return nil, err
	}
	args := []string{"run", file, "--json", "--out", filepath.Join(dir, "run")}
	for _, set := range c.Sets {
		args = append(args, "--set", set)
	}
	cmd, err := ranks.Command(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	var out, says bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &says
	began := time.Now()
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(says.String()))
	}
	r := &Run{Wall: time.Since(began).Seconds(),
		CPU: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.Memory = unit.Bytes(u.Maxrss) * unit.KiB
	}
	return r, json.Unmarshal(out.Bytes(), &r.Summary)
}

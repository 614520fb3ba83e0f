package main

import (
	"path/filepath"
	"strings"
	"time"

	"railyard/internal/allreduce/rates"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/lab/load"
	"railyard/internal/report/plot"
	"railyard/internal/report/table"
	"railyard/internal/scenariofile"
	"railyard/unit"
)

type labRunCmd struct {
	labName
	Scenario string        `arg:"" help:"Scenario file (YAML) with transport: mrc; - reads stdin" placeholder:"SCENARIO"`
	Set      []string      `help:"Override a value of the scenario; repeatable" placeholder:"KEY=VALUE" sep:"none"`
	Rate     string        `help:"Rate of a host port; scales the other links" default:"500Mbps"`
	Duration time.Duration `help:"Duration of each load" default:"3s"`
	At       time.Duration `help:"Time of the event, from the first traffic" default:"1s"`
	Plot     string        `help:"Plot throughput, and traffic to the failed component" placeholder:"FILE.png"`
	Force    bool          `help:"Replace an existing plot"`
	JSON     bool          `help:"Print as JSON"`
	pace     *load.Pace    `kong:"-"` // nil: At and Duration, by the clock
}

func (c *labRunCmd) Help() string {
	return `Builds the scenario's fabric with static routes and sends MRC WRITEs from the first host to the
last, over one plane per NIC port. Each event of the scenario (a link with up: false, or
bit_error_rate) has its own lab and run. Without events, a spine link fails, a plane of the receiver
is drained, and a path loses 2 % of its packets. Reports the time until at most a tenth of the
traffic still takes the failed path.

Examples:
  railyard lab run scenarios/lab-planes.yaml --plot move.png
  railyard lab run scenarios/lab-planes.yaml --rate 200Mbps --duration 5s --json`
}

// Run is the lab run command.
func (c *labRunCmd) Run(e *env) error {
	rate, err := unit.ParseRate(c.Rate)
	if err != nil {
		return field.Under("--rate", err)
	}
	const least, most, around = 500 * time.Millisecond, time.Minute, 300 * time.Millisecond
	switch {
	case c.Duration < 2*least || c.Duration > most:
		return field.New("--duration", "%[3]v is out of range %[1]v–%[2]v", 2*least, most, c.Duration)
	case c.At < around || c.At > c.Duration-least:
		return field.New("--at", "%v is out of range %v–%v before the end of the load", c.At, around, least)
	case c.Plot == "" && c.Force:
		return field.New("--force", "has no effect without a file to write")
	case c.Plot != "" && strings.ToLower(filepath.Ext(c.Plot)) != ".png":
		return field.New("--plot", "writes .png, found %s", field.Quote(c.Plot))
	}
	if c.Plot != "" {
		if _, err := rates.New("", c.Plot, "none", c.Force); err != nil {
			return input.Fault(err)
		}
	}
	plan, err := scenariofile.Network(c.Scenario, c.Set)
	if err != nil {
		return err
	}
	events, err := load.Events(plan)
	if err != nil {
		return err
	}
	ctx, cancel := interruptible()
	defer cancel()
	trial := &load.Trial{Name: c.Name, Rate: rate, Duration: c.Duration, At: c.At, Pace: c.pace}
	var moves []load.Move
	for i := 0; i < max(1, len(events)); i++ { // a built lab uses the ports' default names
		m, all, err := trial.Run(ctx, plan, events, i)
		if err != nil {
			return labError(err)
		}
		events, moves = all, append(moves, *m)
	}
	err = e.show(c.JSON, moves, func() { table.Moves(e.stdout, moves) })
	if c.Plot != "" && err == nil {
		img, err := plot.Moves(moves)
		if err != nil {
			return err
		}
		return plot.WritePNG(img, c.Plot, c.Force)
	}
	return err
}

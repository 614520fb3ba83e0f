package main

import (
	"fmt"
	"strings"
	"time"

	"railyard/internal/field"
	"railyard/internal/lab"
	"railyard/internal/runner"
)

type labFailCmd struct {
	labName
	Kind      string        `arg:"" help:"link, switch, nic or server" enum:"link,switch,nic,server" placeholder:"KIND"`
	Thing     string        `arg:"" help:"Component: spine-1:Eth2, spine-1, host-1/nic-2, host-1" placeholder:"NAME"`
	Up        bool          `help:"Recover the component"`
	Ports     []string      `help:"Line card of a switch: Eth1-Eth4" placeholder:"PORT,PORT"`
	Share     float64       `help:"Reduce the rate of its links to this share; 1: full rate" placeholder:"SHARE" range:"0.0001,1" name:"rate-share" without:"up,flap"`
	Direction string        `help:"Direction of the rate: out (sent by the named end), in, both" enum:"out,in,both" default:"both" with:"rate-share"`
	Boot      time.Duration `help:"Recover after this time" placeholder:"TIME" without:"up,flap,rate-share"`
	Flap      time.Duration `help:"Flap: time between two down events" placeholder:"TIME" without:"up"`
	Duty      float64       `help:"Percentage of the flap period that is down" default:"50" range:"0.1,99.9" with:"flap"`
	Count     int           `help:"Number of flaps" default:"5" range:"1,10000" with:"flap"`
	Storm     bool          `help:"PFC storm of a nic, until --up" without:"flap,boot,rate-share"`
	Loss      *float64      `help:"Drop this percentage of the RoCE packets that the port of a link sends; 0: none" placeholder:"PERCENT" range:"0,100" without:"up,flap,boot,rate-share,storm"`
	JSON      bool          `help:"Print as JSON"`
}

func (c *labFailCmd) Help() string {
	return `Fails a component of the lab with all of its links; names are as in a scenario's events.
Processes of a failed host end. Lab links have no PFC: with --storm the switch sends nothing to the
NIC and drops what its queue does not hold.

Examples:
  railyard lab fail switch spine-1
  railyard lab fail switch spine-1 --up
  railyard lab fail switch rail-1 --ports Eth1-Eth2
  railyard lab fail nic host-1/nic-1 --flap 2s --count 3
  railyard lab fail nic host-1/nic-1 --storm
  railyard lab fail link spine-1:Eth1 --rate-share 0.1 --direction in
  railyard lab fail link spine-1:Eth1 --loss 0.1`
}

// Run is the lab fail command.
func (c *labFailCmd) Run(e *env) error {
	if c.Kind == "server" && (c.Boot > 0 || c.Flap > 0) {
		return field.New("KIND", "a server's processes end with it and do not restart; name its nic")
	}
	if c.Loss != nil && c.Kind != "link" {
		return field.New("--loss", "drops packets of a link's port, found a %s", c.Kind)
	}
	if c.Loss != nil {
		lossy := labLossCmd{labName: c.labName, Port: c.Thing, Percent: *c.Loss, JSON: c.JSON}
		return lossy.Run(e)
	}
	s, err := lab.Load(c.Name)
	if err != nil {
		return labError(err)
	}
	ctx, cancel := interruptible()
	defer cancel()
	f := lab.Failure{Kind: c.Kind, Name: c.Thing, Ports: c.Ports, Up: c.Up, Share: c.Share,
		Direction: c.Direction, Storm: c.Storm}
	down, period, count := c.Boot, c.Boot, 1
	if c.Flap > 0 {
		down, period, count = time.Duration(float64(c.Flap)*c.Duty/100), c.Flap, c.Count
	}
	if period == 0 {
		f.Up = c.Up
		if err := lab.Fail(ctx, s, f); err != nil {
			return labError(err)
		}
		return c.print(e, c.state())
	}
	if err := lab.Flap(ctx, s, f, down, period, count); err != nil {
		return labError(err)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w; %s is up", runner.ErrInterrupted, c.Thing)
	}
	return c.print(e, fmt.Sprintf("was down %d × %v and is up", count, down))
}

// state returns the component's current state.
func (c *labFailCmd) state() string {
	switch {
	case c.Storm && c.Up:
		return "pauses no more"
	case c.Storm:
		return "pauses continuously"
	case c.Share != 0 && c.Direction != "both":
		return fmt.Sprintf("has %g of its rate, %s", c.Share, c.Direction)
	case c.Share != 0:
		return fmt.Sprintf("has %g of its rate", c.Share)
	case c.Up:
		return "is up"
	}
	return "is down"
}

func (c *labFailCmd) print(e *env, state string) error {
	if c.JSON {
		return printJSON(e.stdout, labFailResult{c.Kind, c.Thing, c.Ports, state})
	}
	name := c.Kind + " " + c.Thing
	if len(c.Ports) > 0 {
		name += " " + strings.Join(c.Ports, ",")
	}
	fmt.Fprintf(e.stdout, "%s %s\n", name, state)
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/lab"
	"railyard/internal/lab/load"
	"railyard/internal/report/table"
	"railyard/internal/scenariofile"
	"railyard/unit"
)

type labCmd struct {
	Up      labUpCmd      `cmd:"" help:"Build a fabric of namespaces from a scenario"`
	Status  labStatusCmd  `cmd:"" help:"Show nodes, ports, counters and BGP sessions"`
	Link    labLinkCmd    `cmd:"" hidden:"" help:"Shut down a link or bring it up"`
	Fail    labFailCmd    `cmd:"" help:"Fail, flap or slow down a component; drop packets"`
	Loss    labLossCmd    `cmd:"" hidden:"" help:"Drop packets of a port at random"`
	Exec    labExecCmd    `cmd:"" help:"Run a command in a node's namespace"`
	Rdma    labRdmaCmd    `cmd:"" help:"Run rdma allreduce with one rank per host"`
	Run     labRunCmd     `cmd:"" help:"Measure MRC's reroute time on a lab fabric"`
	Compare labCompareCmd `cmd:"" help:"Compare congestion controls by an all-reduce"`
	Down    labDownCmd    `cmd:"" help:"Remove a lab, also after a crash"`
}

func (c *labCmd) Help() string {
	return `A fabric in this host's kernel: one network namespace per host and switch, one veth pair per link at
a reduced rate, layer 4 ECMP, BGP unnumbered (FRR) or static routes, and ECN marks by nftables above
95 % of a port's rate. Needs root.

Examples:
  railyard lab up scenarios/lab-2x2.yaml --rate 500Mbps
  railyard lab rdma allreduce --bytes 16MiB --qps 4 --rate-plot rate.png
  railyard lab compare --cc dcqcn,swift,nscc --rate-plot cc.png
  railyard lab fail link spine-1:Eth1
  railyard lab fail switch spine-2
  railyard lab run scenarios/lab-planes.yaml --plot move.png
  railyard lab status
  railyard lab down`
}

// labName is the flag of every lab command.
type labName struct {
	Name string `help:"Name of the lab" default:"lab"`
}

// labError distinguishes features that this host lacks from failures.
func labError(err error) error {
	if in := (*lab.InputError)(nil); errors.As(err, &in) {
		return input.Fault(err)
	}
	return err
}

type labUpCmd struct {
	labName
	Scenario string        `arg:"" help:"Scenario file (YAML); - reads stdin" placeholder:"SCENARIO"`
	Set      []string      `help:"Override a value of the scenario; repeatable" placeholder:"KEY=VALUE" sep:"none"`
	Rate     string        `help:"Rate of a host port; scales the other links" default:"500Mbps"`
	Routing  string        `help:"frr (BGP unnumbered) or static (frr, if installed)" placeholder:"KIND"`
	Address  string        `help:"Links between switches under BGP: unnumbered, or p2p (a /31 each)" enum:"unnumbered,p2p" default:"unnumbered" name:"addressing"`
	NoECN    bool          `help:"Disable ECN marking" name:"no-ecn"`
	Wait     time.Duration `help:"Timeout for routes on all switches" default:"30s" range:"1s,1h"`
	JSON     bool          `help:"Print the lab as JSON"`
}

// Run is the lab up command.
func (c *labUpCmd) Run(e *env) error {
	plan, err := scenariofile.Cabled(c.Scenario, c.Set)
	if err != nil {
		return err
	}
	if plan.IPv6 {
		return plan.Refuse("fabric.ip", "6, and labs give hosts IPv4 addresses; accepted: 4")
	}
	rate, err := unit.ParseRate(c.Rate)
	if err != nil {
		return field.Under("--rate", err)
	}
	if c.Routing == "" {
		if c.Routing = lab.RoutingStatic; lab.HasFRR() {
			c.Routing = lab.RoutingFRR
		}
	}
	ctx, cancel := interruptible()
	defer cancel()
	s, err := lab.Up(ctx, plan.Graph, lab.Options{Name: c.Name, Routing: c.Routing, Rate: rate,
		NoECN: c.NoECN, Numbered: c.Address == "p2p", Wait: c.Wait,
		Say: func(f string, a ...any) { fmt.Fprintf(e.stderr, f+"\n", a...) }})
	if err != nil {
		return labError(err)
	}
	if c.JSON {
		return printJSON(e.stdout, s)
	}
	fmt.Fprintf(e.stdout, "lab %s is up: %s, %s, host ports at %v, %s routes\n", s.Name,
		unit.Plural(len(s.Nodes), "node"), unit.Plural(len(s.Links), "cable"), s.Rate, s.Routing)
	for _, n := range s.NICs {
		fmt.Fprintf(e.stdout, "  %-12s %-15v namespace %s\n", s.Nodes[n.Node].Name, n.Addr,
			s.Nodes[n.Node].Namespace)
	}
	return nil
}

type labStatusCmd struct {
	labName
	JSON bool `help:"Print as JSON"`
}

// Run is the lab status command.
func (c *labStatusCmd) Run(e *env) error {
	s, err := lab.Load(c.Name)
	if err != nil {
		return labError(err)
	}
	st, err := lab.Status(context.Background(), s)
	if err != nil {
		return labError(err)
	}
	return e.show(c.JSON, st, func() { table.LabStatus(e.stdout, c.Name, st) })
}

type labLinkCmd struct {
	labName
	Port  string `arg:"" help:"Either end of the link: spine-1:Eth2" placeholder:"PORT"`
	State string `arg:"" help:"State of the link" enum:"up,down" placeholder:"up|down"`
	JSON  bool   `help:"Print as JSON"`
}

// Run is the lab link command.
func (c *labLinkCmd) Run(e *env) error {
	return c.set(e, c.JSON, labLinkResult{c.Port, c.State == "up"}, fmt.Sprintf("%s is %s", c.Port, c.State),
		func(s *lab.State) error { return lab.SetLink(context.Background(), s, c.Port, c.State == "up") })
}

// set changes the lab and prints the change.
func (c *labName) set(e *env, asJSON bool, value any, words string, change func(s *lab.State) error) error {
	s, err := lab.Load(c.Name)
	if err == nil {
		err = change(s)
	}
	switch {
	case err != nil:
		return labError(err)
	case asJSON:
		return printJSON(e.stdout, value)
	}
	fmt.Fprintln(e.stdout, words)
	return nil
}

type labLossCmd struct {
	labName
	Port    string  `arg:"" help:"Sending port" placeholder:"PORT"`
	Percent float64 `arg:"" help:"Percentage of RoCE packets to drop; 0: none" placeholder:"PERCENT" range:"0,100"`
	JSON    bool    `help:"Print as JSON"`
}

// Run is the lab loss command.
func (c *labLossCmd) Run(e *env) error {
	return c.set(e, c.JSON, labLossResult{c.Percent, c.Port},
		fmt.Sprintf("%s loses %g %% of its RoCE packets", c.Port, c.Percent),
		func(s *lab.State) error { return lab.SetLoss(context.Background(), s, c.Port, c.Percent/100) })
}

type labExecCmd struct {
	labName
	Node string   `arg:"" help:"Host or switch" placeholder:"NODE"`
	Args []string `arg:"" passthrough:"" help:"Command and arguments" placeholder:"COMMAND"`
}

// Run is the lab exec command.
func (c *labExecCmd) Run(e *env) error {
	s, err := lab.Load(c.Name)
	if err != nil {
		return labError(err)
	}
	var names []string
	for i, n := range s.Nodes {
		if names = append(names, n.Name); n.Name != c.Node {
			continue
		}
		args := c.Args
		if len(args) > 0 && args[0] == "--" {
			args = args[1:]
		}
		args = append(s.Inside(i), args...)
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, e.terminal(), e.stderr
		err := cmd.Run()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			return &exitError{exit.ExitCode()} // the command has printed the reason
		}
		return err
	}
	return field.Choice("NODE", c.Node, names, "unknown node %s in lab %s", field.Quote(c.Node), c.Name)
}

type labDownCmd struct {
	labName
	JSON bool `help:"Print as JSON"`
}

// Run is the lab down command.
func (c *labDownCmd) Run(e *env) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	s, err := lab.Down(ctx, c.Name)
	if err != nil {
		return labError(err)
	}
	return e.show(c.JSON, labDownResult{s.Name, s.Made}, func() {
		fmt.Fprintf(e.stdout, "lab %s is removed: %d namespaces\n", s.Name, len(s.Made))
	})
}

type labRdmaCmd struct {
	labName
	Args []string `arg:"" passthrough:"" help:"allreduce and its flags" placeholder:"allreduce"`
}

func (c *labRdmaCmd) Help() string {
	return `Runs one rank per host, on its first NIC, in the order of the hosts. Flags are those of railyard
rdma allreduce. Line rate, addresses and rendezvous come from the lab; captures and plots have one
file per rank.

Example:
  railyard lab rdma allreduce --bytes 16MiB --iters 20 --pcap lab.pcapng --rate-plot rate.png`
}

// Run is the lab rdma command.
func (c *labRdmaCmd) Run(e *env) error {
	if len(c.Args) == 0 || c.Args[0] != "allreduce" {
		return input.Fault(
			errors.New("lab rdma runs allreduce; other tests run with lab exec NODE railyard rdma"))
	}
	for _, own := range []string{"--rank", "--ranks", "--rendezvous", "--addr", "--line-rate"} {
		for _, a := range c.Args {
			if a == own || strings.HasPrefix(a, own+"=") {
				return field.New(own, "is set by the lab and cannot be set here")
			}
		}
	}
	s, err := lab.Load(c.Name)
	if err != nil {
		return labError(err)
	}
	ctx, cancel := interruptible()
	defer cancel()
	return load.AllReduce(ctx, s, c.Args[1:], e.stdout, e.stderr)
}

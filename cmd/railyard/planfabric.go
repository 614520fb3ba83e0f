package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"railyard/internal/field"
	"railyard/internal/model"
	"railyard/internal/planner"
	"railyard/internal/planner/named"
	"railyard/internal/render"
	"railyard/internal/report/table"
	"railyard/internal/scenario"
	"railyard/internal/swconf/design"
	"railyard/unit"
)

type planFabricCmd struct {
	GPUs   int    `help:"Number of GPUs" name:"gpus" placeholder:"N" range:"1,100000000" without:"prices-example"`
	GPU    string `help:"Accelerator; sets the rate of its NIC" default:"h100" name:"gpu" without:"prices-example"`
	Server int    `help:"GPUs and NICs per host, or per rack that shares NVLink" default:"8" range:"1,576" without:"prices-example"`
	NIC    int    `help:"NIC rate, Gbit/s (the accelerator's usual one)" name:"nic" placeholder:"G" range:"1,6400" without:"prices-example"`
	Ports  int    `help:"Ports per NIC, which share its rate; one plane per port" default:"1" name:"nic-ports" range:"1,8" without:"prices-example"`
	Switch string `help:"Switch: PORTSxRATE, a capacity (51.2T) or a model (tomahawk5)" default:"128x400G" without:"prices-example"`
	Top    string `help:"Switch of the upper tiers, such as a chassis (--switch)" name:"top-switch" placeholder:"SWITCH" without:"prices-example"`
	Ratio  string `help:"Maximum oversubscription" default:"1:1" placeholder:"RATIO" name:"oversubscription" without:"prices-example"`
	Prices string `help:"Price file (see --prices-example)" placeholder:"FILE" without:"prices-example"`
	Ex     bool   `help:"Print the default price file" name:"prices-example"`
	Out    string `help:"Write each design as a scenario" placeholder:"DIR" without:"prices-example"`
	Force  bool   `help:"Replace existing files" with:"out"`
	BOM    bool   `help:"List switches, cables, breakouts and optics of each design" name:"bom" without:"prices-example"`
	Check  bool   `help:"Simulate each design and check for PFC deadlock" without:"prices-example"`
	JSON   bool   `help:"Print as JSON" without:"prices-example"`
}

func (c *planFabricCmd) Help() string {
	return `Lists feasible designs with switches, links, bisection, hops, power and cost, and infeasible ones
with the reason. Default prices are round figures for comparison only; edit them.

Examples:
  railyard plan fabric --gpus 1024 --switch 128x400G --bom
  railyard plan fabric --gpus 28672 --switch 128x400G --oversubscription 7:1 --out fabrics
  railyard plan fabric --gpus 32768 --switch 128x400G --top-switch 288x400G --oversubscription 7:1
  railyard plan fabric --gpus 1152 --switch 1152x400G
  railyard plan fabric --gpus 32768 --check  # checks for deadlock
  railyard plan fabric --gpus 16384 --switch 64x400G  # rail-planes: 768 switches, as DeepSeek's
  railyard plan fabric --gpus 15360 --nic-ports 2  # port-planes, as Alibaba's HPN
  railyard plan fabric --gpus 1024 --switch tomahawk5 --oversubscription 2:1`
}

// Run is the plan fabric command.
func (c *planFabricCmd) Run(e *env) error {
	if c.Ex {
		_, err := e.stdout.Write(planner.DefaultPrices())
		return err
	}
	in, err := c.input()
	if err != nil {
		return err
	}
	designs, err := planner.Fabrics(in)
	if err != nil {
		return field.Flags(err)
	}
	var lost error
	if c.Out != "" {
		var files []design.File
		for _, d := range designs {
			if d.Scenario != "" {
				files = append(files, design.File{Path: fmt.Sprintf("%s-%d.yaml", d.Name, c.GPUs),
					Text: d.Scenario})
			}
		}
		if lost = render.Write(c.Out, files, c.Force); early(lost) != nil {
			return lost
		}
	}
	locks := map[string]*lockup{}
	for i := range designs {
		if d := &designs[i]; c.Check && d.Scenario != "" {
			if locks[d.Name], err = check(d); err != nil {
				return fmt.Errorf("%s: %w", d.Name, err)
			}
		}
	}
	if c.JSON {
		var out any = designs
		if c.Check {
			out = checkedDesigns{locks, designs}
		}
		return errors.Join(printJSON(e.stdout, out), lost)
	}
	c.print(e.stdout, &in, designs, locks)
	return lost
}

func (c *planFabricCmd) input() (in planner.FabricInput, err error) {
	if c.GPUs == 0 {
		return in, field.New("--gpus", "is missing: how many GPUs?")
	}
	in = planner.FabricInput{GPUs: c.GPUs, PerServer: c.Server, NICRate: c.NIC, NICPorts: c.Ports}
	g, err := model.FindGPU(c.GPU)
	if err != nil {
		return in, field.Under("--gpu", err)
	}
	if in.NICRate == 0 {
		in.NICRate = int(g.NIC / unit.Gbps)
	}
	if in.Leaf, err = planner.ParseSwitch(c.Switch); err != nil {
		return in, field.Under("--switch", err)
	}
	in.Top = in.Leaf
	if c.Top != "" {
		if in.Top, err = planner.ParseSwitch(c.Top); err != nil {
			return in, field.Under("--top-switch", err)
		}
	}
	if in.Ratio, err = planner.ParseRatio(c.Ratio); err != nil {
		return in, field.Under("--oversubscription", err)
	}
	in.Prices, err = named.Prices(c.Prices)
	return in, err
}

func (c *planFabricCmd) print(w io.Writer, in *planner.FabricInput, designs []planner.Design,
	locks map[string]*lockup) {
	more := table.FabricParts{Parts: c.BOM, Deadlock: map[string]string{}, Scenarios: map[string]string{}}
	for name, l := range locks {
		more.Deadlock[name] = l.words()
	}
	for _, d := range designs {
		if c.Out != "" && d.Scenario != "" {
			more.Scenarios[d.Name] = filepath.Join(c.Out, fmt.Sprintf("%s-%d.yaml", d.Name, c.GPUs))
		}
	}
	table.Fabrics(w, in, designs, &more)
}

// lockup is the result of plan fabric --check for a design.
type lockup struct {
	GPUs    int    `json:"gpus"`
	Routing string `json:"lb"`
	Ring    string `json:"ring,omitempty"` // buffers of a ring in which each may be blocked on the next
	// whether lb is only assumed, because the routing needs no switch configuration that config render writes
	Assumed  bool    `json:"lb_not_configurable,omitempty"`
	ECMPRing string  `json:"ring_with_ecmp,omitempty"`
	Seconds  float64 `json:"seconds"`
}

// check loads a design's scenario and checks it for pause deadlocks.
func check(d *planner.Design) (*lockup, error) {
	began := time.Now()
	doc, err := scenario.Parse(d.Name, []byte(d.Scenario), nil)
	if err != nil {
		return nil, err
	}
	plan, err := doc.Network(func(string) ([]byte, error) { return nil, errors.New("no file is named") })
	if err != nil {
		return nil, err
	}
	l := &lockup{GPUs: plan.Graph.TotalGPUs(), Routing: plan.LB.Name, Ring: plan.Ring(),
		Assumed: !render.Configurable(plan.LB)}
	if l.Assumed {
		if doc, err = scenario.Parse(d.Name, []byte(d.Scenario), []string{"lb=ecmp", "fabric.allow_deadlock=true"}); err != nil {
			return nil, err
		}
		if plan, err = doc.Network(func(string) ([]byte, error) { return nil, errors.New("no file is named") }); err != nil {
			return nil, err
		}
		l.ECMPRing = plan.Ring()
	}
	l.Seconds = time.Since(began).Seconds()
	return l, nil
}

// words describes the result.
func (l *lockup) words() string {
	if l.Ring != "" {
		return fmt.Sprintf("with lb %s pauses can deadlock: %s", l.Routing, l.Ring)
	}
	found := fmt.Sprintf("no deadlock by pauses among %s with lb %s, whatever the load (%.1f s to look)",
		unit.Plural(l.GPUs, "GPU"), l.Routing, l.Seconds)
	switch {
	case !l.Assumed:
		return found
	case l.ECMPRing == "":
		return fmt.Sprintf("%s. No switch configuration has lb %s; with lb ecmp there is none either", found, l.Routing)
	}
	return fmt.Sprintf("%s. No switch configuration has lb %s; with lb ecmp, which config render writes, pauses can deadlock: %s",
		found, l.Routing, l.ECMPRing)
}

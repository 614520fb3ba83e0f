package sim

import (
	"fmt"

	"railyard/internal/exec"
	"railyard/internal/scenario"
	"railyard/internal/topo"
	"railyard/unit"
)

// Check rejects a plan without building the run. Its pauses must not be able to form a circular dependency at the
// start, and every transfer between GPUs needs a path. The run's packets may not fit this host's memory.
func Check(p *scenario.Plan) error {
	routes := p.Graph.Reroute(nil, nil, scenario.Besides(p.LB, p.Scheduled))
	if err := p.Deadlock(routes); err != nil {
		return err
	}
	jobs, err := p.Mix()
	if err != nil {
		return err
	}
	if from, to, cut := exec.New(&routed{p.Graph, routes}, Machine(p), jobs).Unreachable(); cut {
		return noPath(p.Graph, from, to)
	}
	return nil
}

func noPath(g *topo.Graph, from, to int) error {
	return fmt.Errorf("%s cannot reach %s: no path in the fabric, not even over NVLink", g.GPUName(from), g.GPUName(to))
}

// routed is an exec.Carrier that carries nothing: the routes over all links.
type routed struct {
	graph  *topo.Graph
	routes *topo.Routes
}

// Now, After and Send do nothing: no operation begins.
func (*routed) Now() unit.Time                       { return 0 }
func (*routed) After(unit.Time, exec.Bell)           {}
func (*routed) Send(_ int32, _, _ int, _ unit.Bytes) {}
func (c *routed) Reaches(from, to int) bool          { return reaches(c.graph, c.routes, from, to) }

package configuration

import (
	"fmt"
	"slices"

	"railyard/internal/input"
	"railyard/internal/scenario"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/dialect"
)

// Parse reads one configuration file.
func Parse(path, os string) (*swconf.Config, error) {
	text, err := input.Text(path, cli.MaxSize)
	if err != nil {
		return nil, input.Fault(err)
	}
	return In(path, text, os)
}

// In reads a configuration in the language of --os; "" detects it. It refuses a text that another language recognizes
// better.
func In(path string, text []byte, os string) (*swconf.Config, error) {
	c, err := dialect.Parse(path, text, swconf.OS(os))
	if os == "" || err != nil && !slices.Contains(dialect.Names(), os) {
		return c, input.Fault(err)
	}
	found, none := dialect.Parse(path, text, "")
	switch other := none == nil && string(found.OS) != os; {
	case other && err != nil:
		return nil, input.Fault(fmt.Errorf("%s: looks like %s: --os %s, or none", path, dialect.Title(found.OS), found.OS))
	case err != nil:
		return nil, input.Fault(err)
	case other && better(found, c):
		return nil, input.Fault(fmt.Errorf("%s: looks like %s (%d of its %d lines are understood as that, %d as %s): --os %s, or none", path, dialect.Title(found.OS), found.Read, found.Total, c.Read,
			dialect.Title(c.OS), found.OS))
	case c.Read+c.Passed == 0 && c.Total > 0:
		return nil, input.Fault(fmt.Errorf("%s: is not a configuration of %s: none of its %d lines is understood", path,
			dialect.Title(c.OS), c.Total))
	}
	return c, nil
}

// better reports whether a language uses more lines of a text than another and leaves fewer unrecognized, or uses
// more than twice as many. Some languages accept lines of others as irrelevant.
func better(found, c *swconf.Config) bool {
	unknown := func(c *swconf.Config) int { return c.Total - c.Read - c.Passed }
	return found.Read > c.Read && unknown(found) < unknown(c) || found.Read > 2*c.Read
}

// Against adds to a lint's input the values from the plan of a scenario: fabric, buffers, DSCPs, path MTU.
func Against(in *swconf.Input, p *scenario.Plan) {
	s := p.Default()
	in.Graph, in.Base, in.Specs = p.Graph, p.Spec, p.SpecOf
	in.Response, in.Pipeline = p.Switching.Response, p.Switching.Pipeline
	in.DataDSCP, in.CNPDSCP, in.PathMTU = s.DSCP, s.CNPDSCP, p.RC.MTU
	in.Lossy = p.Spec.LosslessMask() == 0
}

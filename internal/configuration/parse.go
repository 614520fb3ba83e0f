package configuration

import (
	"fmt"

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
	c, err := dialect.Parse(path, text, swconf.OS(os))
	if err != nil {
		return nil, input.Fault(err)
	}
	return c, mistaken(path, text, c, os)
}

// mistaken refuses a configuration most of which is unrecognized in the language of --os.
func mistaken(path string, text []byte, c *swconf.Config, os string) error {
	known := c.Read + c.Passed
	if os == "" || 2*known >= c.Total {
		return nil
	}
	if err := LooksLike(path, text, c); err != nil || known > 0 {
		return err
	}
	return input.Fault(fmt.Errorf("%s: is not a configuration of %s: none of its %d lines is understood", path,
		dialect.Title(c.OS), c.Total))
}

// LooksLike refuses a configuration that another language recognizes better.
func LooksLike(path string, text []byte, c *swconf.Config) error {
	found, err := dialect.Parse(path, text, "")
	if err != nil || found.OS == c.OS || found.Read <= c.Read {
		return nil
	}
	return input.Fault(fmt.Errorf("%s: looks like %s (%d of its %d lines are understood as that, %d as %s): --os %s, or none", path, dialect.Title(found.OS), found.Read, found.Total, c.Read,
		dialect.Title(c.OS), found.OS))
}

// Against adds to a lint's input the values from the plan of a scenario: fabric, buffers, DSCPs, path MTU.
func Against(in *swconf.Input, p *scenario.Plan) {
	s := p.Default()
	in.Graph, in.Base, in.Specs = p.Graph, p.Spec, p.SpecOf
	in.Response, in.Pipeline = p.Switching.Response, p.Switching.Pipeline
	in.DataDSCP, in.CNPDSCP, in.PathMTU = s.DSCP, s.CNPDSCP, p.RC.MTU
	in.Lossy = p.Spec.LosslessMask() == 0
}

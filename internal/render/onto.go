package render

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"railyard/internal/configuration"
	"railyard/internal/devices"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/scenario"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
	"railyard/internal/swconf/onto"
	"railyard/internal/swconf/sonic"
)

// Onto merges a fabric into running configurations of its devices.
type Onto struct {
	Scenario                    string
	Set                         []string
	Path                        string // path of a running configuration, or a folder of them
	Switch                      string // name of the switch that a device becomes; "": the device's name
	OS                          string
	Addressing, Multihome, ASIC string
	InBand                      bool // change ports over which a device may be managed
	Devices                     *devices.Choice
}

// Running is a device's running configuration.
type Running struct {
	file    string
	text    []byte
	running *swconf.Config
	frr     *Running // next to a config_db.json, which has no BGP
}

// ofSONiC are names that only SONiC gives to what FRR routes over.
var ofSONiC = regexp.MustCompile(`(?m)sonic-cfggen|^ *(interface|neighbor) (Ethernet|PortChannel)\d`)

// Text reads a text. FRR's configuration on a SONiC switch is usable only with its config_db.json, which has the
// ports' names and addresses.
func (c *Onto) Text(file string) (*Running, error) {
	text, err := input.Text(file, cli.MaxSize)
	if err != nil {
		return nil, input.Fault(err)
	}
	running, err := configuration.In(file, text, c.OS)
	if err != nil {
		return nil, err
	}
	if at := ofSONiC.FindIndex(text); running.OS == swconf.FRR && c.OS == "" && at != nil {
		return nil, input.Fault(fmt.Errorf("%s:%d: is the FRR part of a SONiC switch: name its folder with the config_db.json, which has its ports; --os frr reads it alone", file,
			1+bytes.Count(text[:at[0]], []byte("\n"))))
	}
	if known := running.Read + running.Passed; 2*known < running.Total {
		return nil, input.Fault(fmt.Errorf("%s: is not a running configuration: it reads like %s, but %d of its %d lines are not understood", file, dialect.Title(running.OS), running.Total-known,
			running.Total))
	}
	return &Running{file: file, text: text, running: running}, nil
}

// Merge makes the way from a device to the fabric's switch, and that of its FRR in Merge.FRR.
func (c *Onto) Merge(plan *scenario.Plan, b *Running) (*onto.Merge, error) {
	if err := c.onDevice(plan, b.running, b.text); err != nil {
		return nil, err
	}
	d, err := Design(plan, c.Scenario, b.running.OS, c.Addressing, c.Multihome, c.ASIC)
	if err != nil {
		return nil, input.Fault(err)
	}
	name, files, err := c.rendered(d, b)
	if err != nil {
		return nil, err
	}
	one := func(b *Running) (*onto.Merge, error) {
		for _, f := range files {
			got, err := dialect.Parse(f.Path, []byte(f.Text), "")
			if path.Dir(f.Path) != name || err != nil || got.OS != b.running.OS ||
				strings.HasSuffix(f.Path, "daemons") {
				continue
			}
			m, err := onto.Onto(b.file, b.text, f.Text, b.running.OS, onto.Options{InBand: c.InBand})
			if err != nil {
				return nil, input.Fault(err)
			}
			m.Switch = name
			if own := b.running.Hostname; own.Is() && own.V != name {
				m.Remarks = append(m.Remarks, fmt.Sprintf("%s:%d: it goes on calling itself %s", b.file,
					own.At.Line, field.Quote(own.V)))
			}
			return m, nil
		}
		return nil, input.Fault(fmt.Errorf("%s is not rendered in %s", name, dialect.Title(b.running.OS)))
	}
	m, err := one(b)
	if err == nil && b.frr != nil {
		m.FRR, err = one(b.frr)
	}
	return m, err
}

// onDevice sets the ports of SONiC switches: the device's configuration names those in use, unless a flag or the
// scenario does; its hwsku may define how they can be broken out. Other switches are assumed to be of the same
// device if their cables fit it; otherwise their ports keep the scenario's names.
func (c *Onto) onDevice(plan *scenario.Plan, running *swconf.Config, text []byte) error {
	if running.OS != swconf.SONiC {
		if c.Devices.Given() {
			return field.New("--hwsku and --profile", "has no effect with %s, which is %s", c.Path,
				dialect.Title(running.OS))
		}
		return nil
	}
	g := plan.Graph
	if err := c.Devices.Fit(g); err != nil {
		return err
	}
	bare := func(node int) bool { return g.Nodes[node].Panel == nil || g.Nodes[node].Panel.Device == nil }
	known := sonic.Known(running.HwSKU.V)
	if own := g.Node(cmp.Or(c.Switch, running.Hostname.V)); own >= 0 && bare(own) {
		p, err := sonic.Running(c.Path, text)
		if err != nil {
			return input.Fault(err)
		}
		only := func(p *sonic.Profile) func(node int) *sonic.Profile {
			return func(node int) *sonic.Profile {
				if node == own {
					return p
				}
				return nil
			}
		}
		if err := sonic.Fit(g, only(p)); err != nil && (known == nil || sonic.Fit(g, only(known)) != nil) {
			return input.Fault(err)
		}
	}
	sonic.Try(g, func(node int) *sonic.Profile {
		if bare(node) {
			return known
		}
		return nil
	})
	return nil
}

// rendered is the name and the files of the switch that a device is to become.
func (c *Onto) rendered(d *design.Design, b *Running) (name string, files []design.File,
	err error) {
	var names []string
	for _, s := range d.Switches {
		names = append(names, s.Name)
	}
	if name = c.Switch; name == "" {
		name = b.running.Hostname.V
	}
	if !slices.Contains(names, name) {
		e := field.Choice("--switch", name, names, "the fabric has no switch %s", field.Quote(name)).ListedBy("railyard topo SCENARIO --cables")
		if c.Switch == "" {
			e = field.Choice(b.file, name, names, "is of %s, which is not a switch of the fabric; --switch sets the switch that it becomes, with this file alone", field.Quote(name)).ListedBy("railyard topo SCENARIO --cables")
		}
		return "", nil, input.Fault(e)
	}
	if files, err = dialect.RenderOne(d, name); err != nil {
		return "", nil, input.Fault(err)
	}
	return name, files, nil
}

package render

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"railyard/internal/configuration"
	"railyard/internal/input"
	"railyard/internal/scenariofile"
	"railyard/internal/swconf"
	"railyard/internal/swconf/onto"
	"railyard/internal/topo"
	"railyard/unit"
)

// All merges each device into the switch of its name, independently: a refused device does not stop the rest. It
// returns the switches for which nothing is made, and what was refused.
func (c *Onto) All(devices []*Running) (merges []*onto.Merge, missing []string, refused, err error) {
	var bad []error
	done := map[string]bool{}
	for _, b := range devices {
		plan, err := scenariofile.Cabled(c.Scenario, c.Set) // a device gives the fabric its ports
		if err != nil {
			return nil, nil, nil, err
		}
		missing = missing[:0]
		for _, n := range plan.Graph.Nodes {
			if n.Role != topo.Host {
				missing = append(missing, n.Name)
			}
		}
		m, err := c.Merge(plan, b)
		if err != nil {
			bad = append(bad, err)
			continue
		}
		done[m.Switch] = true
		merges = append(merges, m)
	}
	if len(bad) > 0 {
		refused = input.Fault(&notMerged{len(devices), bad})
	}
	return merges, slices.DeleteFunc(missing, func(n string) bool { return done[n] }), refused, nil
}

// notMerged are devices of a folder that a merge was refused for.
type notMerged struct {
	of  int
	bad []error
}

func (n *notMerged) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "refused %d of %s, and made for the others", len(n.bad), unit.Plural(n.of, "device"))
	for _, err := range n.bad {
		fmt.Fprintf(&b, "\n%v", err)
	}
	return b.String()
}

// Texts reads a folder: configurations of switches, with FRR's files of SONiC switches.
func (c *Onto) Texts() (out []*Running, none []string, err error) {
	files, err := configuration.Files([]string{c.Path})
	if err != nil {
		return nil, nil, err
	}
	of := map[string]string{}
	at := map[string]*Running{} // a config_db.json, by its folder
	var halves []*Running
	for _, f := range files {
		half := *c
		if filepath.Base(f.Path) == "frr.conf" {
			half.OS = string(swconf.FRR)
		}
		b, err := half.Text(f.Path)
		switch {
		case err != nil && f.Perhaps:
			none = append(none, err.Error())
			continue
		case err != nil:
			return nil, nil, err
		case b.running.OS == swconf.FRR:
			halves = append(halves, b)
			continue
		case b.running.OS == swconf.SONiC:
			at[filepath.Dir(f.Path)] = b
		}
		out = append(out, b)
	}
	for _, b := range halves {
		if whole := at[filepath.Dir(b.file)]; whole != nil {
			whole.frr = b
		} else {
			out = append(out, b)
		}
	}
	for _, b := range out {
		name := b.running.Hostname.V
		if other := of[name]; other != "" {
			return nil, nil, input.Fault(fmt.Errorf("%s and %s are both of %q: a device has one text", other,
				b.file, name))
		}
		of[name] = b.file
	}
	if len(out) == 0 {
		return nil, nil, input.Fault(fmt.Errorf("%s: no configuration of a switch in it", c.Path))
	}
	return out, none, nil
}

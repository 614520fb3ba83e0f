package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"railyard/internal/configuration"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/report"
	"railyard/internal/scenariofile"
	"railyard/internal/swconf"
	"railyard/internal/swconf/onto"
	"railyard/internal/topo"
	"railyard/unit"
)

// ontoAll makes of every device of a folder the switch of its name, each for itself: what one is refused does
// not hold up the others.
func (c *configRenderCmd) ontoAll(e *env) error {
	if c.Switch != "" {
		return field.New("--switch", "means nothing with %s, a folder: each device becomes the switch of its host name", c.Onto)
	}
	if c.Out == "" && !c.JSON {
		return field.New("--out", "is needed with %s, a folder: what is typed at each device goes to a file of its own", c.Onto)
	}
	devices, none, err := c.switchTexts()
	if err != nil {
		return err
	}
	tellNone(e.stderr, none)
	var merges []*onto.Merge
	var refused []error
	done := map[string]bool{}
	var names []string
	for _, b := range devices {
		plan, err := scenariofile.Cabled(c.Scenario, c.Set) // a device gives the fabric its ports
		if err != nil {
			return err
		}
		names = names[:0]
		for _, n := range plan.Graph.Nodes {
			if n.Role != topo.Host {
				names = append(names, n.Name)
			}
		}
		m, err := c.merge(plan, b)
		if err != nil {
			refused = append(refused, err)
			continue
		}
		done[m.Switch] = true
		merges = append(merges, m)
	}
	if c.JSON {
		if err := printJSON(e.stdout, merges); err != nil {
			return err
		}
	} else if err := c.writeAll(e, merges); err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return done[n] })
	if len(names) > 0 {
		report.Labelled(e.stderr, "note: ", fmt.Sprintf("nothing is made for %s: no text of theirs here, or refused", swconf.Compress(names)))
	}
	if len(refused) > 0 {
		return input.Fault(&notMerged{len(devices), refused})
	}
	return nil
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

// writeAll writes what is typed at each device, and says what that interrupts.
func (c *configRenderCmd) writeAll(e *env, merges []*onto.Merge) error {
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return input.Fault(err)
	}
	for _, m := range merges {
		c.interrupts(e, m)
		for _, half := range []*onto.Merge{m, m.FRR} {
			if half == nil || half.Script == "" {
				continue
			}
			name := filepath.Join(c.Out, m.Switch+".txt")
			if half.OS == swconf.SONiC {
				name = filepath.Join(c.Out, m.Switch+".patch.json")
			}
			if err := output.Write(name, c.Force, func(w io.Writer) error {
				_, err := io.WriteString(w, half.Script)
				return err
			}); err != nil {
				return err
			}
			fmt.Fprintf(e.stdout, "%s\n", name)
		}
	}
	return nil
}

// switchTexts reads a folder: texts that are a switch's, FRR's halves of SONiC switches with the others.
func (c *configRenderCmd) switchTexts() (out []*switchText, none []string, err error) {
	files, err := configuration.Files([]string{c.Onto})
	if err != nil {
		return nil, nil, err
	}
	of := map[string]string{}
	at := map[string]*switchText{} // a config_db.json, by its folder
	var halves []*switchText
	for _, f := range files {
		half := *c
		if filepath.Base(f.Path) == "frr.conf" {
			half.OS = string(swconf.FRR)
		}
		b, err := half.switchText(f.Path)
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
		return nil, nil, input.Fault(fmt.Errorf("%s: no configuration of a switch in it", c.Onto))
	}
	return out, none, nil
}

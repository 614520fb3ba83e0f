package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"railyard/internal/capture"
	"railyard/internal/configuration"
	"railyard/internal/dcbx"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/runner"
	"railyard/internal/scenariofile"
	"railyard/internal/swconf"
	"railyard/internal/topo"
	"railyard/roce"
	"railyard/unit"
)

type configDcbxCmd struct {
	readConfig
	Files  []string `arg:"" help:"Configurations, or directories of them." placeholder:"FILE"`
	Fabric string   `help:"The scenario whose cables join them; servers take part then." placeholder:"SCENARIO"`
	Set    []string `help:"Override a value of the scenario." placeholder:"KEY=VALUE" sep:"none" with:"fabric"`
	Link   []string `help:"A cable: leaf-1:Ethernet1/3=spine-1:Ethernet1/1. May be repeated; found in interface descriptions unless given." placeholder:"A=B" sep:"none"`
	NIC    string   `help:"What servers do: willing (take what the switch says), fixed (pause priority 3 whatever it says) or silent." enum:"willing,fixed,silent" default:"willing" name:"nic"`
	roceDSCP
	Pcap  string `help:"Write the LLDP frames as pcapng." placeholder:"FILE"`
	Force bool   `help:"Replace an existing capture." with:"pcap"`
	All   bool   `help:"Print every cable, not only one of each kind."`
	JSON  bool   `help:"Print as JSON."`

	data, cnp int // DSCPs
}

func (c *configDcbxCmd) Help() string {
	return `Plays the LLDP exchange of neighbours from their configurations (IEEE and CEE DCBX, willing
bits) and says what each port ends up doing about PFC. Exits with 1 when two ends do not agree.

Examples:
  railyard config dcbx leaf.cfg spine.cfg --link leaf-1:Ethernet1/3=spine-1:Ethernet1/1
  railyard config dcbx configs/pod64 --fabric scenarios/pod64-llama2-7b.yaml`
}

// dcbxRow is a cable's result as JSON.
type dcbxRow struct {
	A        string   `json:"a"`
	B        string   `json:"b"`
	Version  string   `json:"version"`
	OperA    string   `json:"a_pfc"`
	OperB    string   `json:"b_pfc"`
	WhyA     string   `json:"a_why"`
	WhyB     string   `json:"b_why"`
	Problems []string `json:"problems"`
	Frames   int      `json:"frames"`
}

// Run is the config dcbx command.
func (c *configDcbxCmd) Run(e *env) error {
	files, err := configuration.Files(c.Files)
	if err != nil {
		return err
	}
	var hosts []string
	for _, f := range slices.Clone(files) {
		if _, is, err := configuration.HostText(f.Path, c.OS); err == nil && is {
			hosts = append(hosts, f.Path+": a server's text; servers take part with --fabric SCENARIO, "+
				"as --nic says")
			files = slices.DeleteFunc(files, func(o configuration.File) bool { return o == f })
		}
	}
	if len(files) == 0 {
		return input.Fault(fmt.Errorf("no switch's configuration among %s; the first is %s",
			unit.Plural(len(hosts), "file"), hosts[0]))
	}
	configs, none, err := configuration.ParseAll(files, c.OS)
	if err != nil {
		return err
	}
	tellNone(e.stderr, append(hosts, none...))
	by := map[string]*swconf.Config{}
	var order []*swconf.Config
	for _, cfg := range configs {
		if by[cfg.Name()] == nil && cfg.HasQoS() {
			by[cfg.Name()] = cfg
			order = append(order, cfg)
		}
	}
	if c.data, c.cnp, err = c.dscps(order, 0, 0); err != nil {
		return err
	}
	var results []*dcbx.Result
	switch {
	case c.Fabric != "":
		results, err = c.fabric(by)
	case len(c.Link) > 0:
		results, err = c.links(by)
	default:
		results = c.described(order)
	}
	if err != nil {
		return err
	}
	if len(results) == 0 {
		return input.Fault(
			errors.New("no cable joins these switches; name it with --link " +
				"leaf-1:Ethernet1/3=spine-1:Ethernet1/1, or give --fabric"))
	}
	if c.Pcap != "" {
		if err := c.write(results); err != nil {
			return err
		}
	}
	bad := 0
	for _, r := range results {
		if !r.OK() {
			bad++
		}
	}
	if c.JSON {
		err = printJSON(e.stdout, rows(results))
	} else {
		c.print(e.stdout, results, bad)
	}
	if err == nil && bad > 0 {
		return &exitError{exitFailed}
	}
	return err
}

// station makes a switch port's side; index keeps MAC addresses apart.
func (c *configDcbxCmd) station(cfg *swconf.Config, p *swconf.Port, index int) dcbx.Station {
	return dcbx.FromPort(cfg, p, c.data, c.cnp, index)
}

// fabric plays every cable of a scenario that has a configuration at both ends,
// or at one and a server at the other.
func (c *configDcbxCmd) fabric(by map[string]*swconf.Config) (out []*dcbx.Result, err error) {
	plan, err := scenariofile.Network(c.Fabric, c.Set)
	if err != nil {
		return nil, err
	}
	if c.data, c.cnp, err = c.dscps(nil, plan.Default().DSCP,
		plan.Default().CNPDSCP); err != nil {
		return nil, err
	}
	g := plan.Graph
	side := func(link, node int, port string, index int) (dcbx.Station, bool) {
		n := &g.Nodes[node]
		if n.Role == topo.Host {
			s := dcbx.NIC(n.Name, port, index, c.NIC == "willing", 0)
			if c.NIC == "fixed" {
				s.Enable, s.Mode = 1<<3, swconf.PFCOn
			}
			s.LLDP = c.NIC != "silent"
			return s, true
		}
		cfg := by[n.Name]
		if cfg == nil {
			return dcbx.Station{}, false
		}
		p := cfg.Plugged(n.Panel, g.Jack(link, node))
		if p == nil {
			return dcbx.Station{}, false
		}
		return c.station(cfg, p, index), true
	}
	for i, l := range g.Links {
		a, ok1 := side(i, l.A, l.APort, 2*i)
		b, ok2 := side(i, l.B, l.BPort, 2*i+1)
		if ok1 && ok2 {
			out = append(out, dcbx.Exchange(a, b))
		}
	}
	return out, nil
}

// links plays the cables that were named.
func (c *configDcbxCmd) links(by map[string]*swconf.Config) (out []*dcbx.Result, err error) {
	for i, l := range c.Link {
		var ends [2]dcbx.Station
		named := strings.Split(l, "=")
		for j, end := range named {
			name, port, ok := strings.Cut(end, ":")
			if !ok || len(named) != len(ends) {
				return nil, field.New("--link "+l, "expected SWITCH:PORT=SWITCH:PORT")
			}
			cfg := by[name]
			if cfg == nil {
				return nil, field.New("--link "+l, "no configuration has the hostname %q", name)
			}
			p := cfg.Port(port)
			if p == nil {
				return nil, field.New("--link "+l, "%s configures no port %q", name, port)
			}
			ends[j] = c.station(cfg, p, 2*i+j)
		}
		out = append(out, dcbx.Exchange(ends[0], ends[1]))
	}
	return out, nil
}

// described plays the cables that interface descriptions tell of.
func (c *configDcbxCmd) described(order []*swconf.Config) (out []*dcbx.Result) {
	for i, k := range swconf.Described(order) {
		out = append(out, dcbx.Exchange(c.station(k.From, k.A, 2*i), c.station(k.To, k.B, 2*i+1)))
	}
	return out
}

// write writes the frames, an interface per end of a cable.
func (c *configDcbxCmd) write(results []*dcbx.Result) error {
	var names []string
	for _, r := range results {
		names = append(names, r.A.Name, r.B.Name)
	}
	return output.Write(c.Pcap, c.Force, func(f io.Writer) error {
		w, err := capture.NewWriter(f, "railyard "+runner.Version(), names...)
		if err != nil {
			return err
		}
		for i, r := range results {
			for _, x := range r.Frames {
				iface := 2 * i
				if !x.FromA {
					iface++
				}
				w.Frame(time.Unix(0, int64(x.At/unit.Nanosecond)), iface, true, x.Bytes, x.Comment)
			}
		}
		_, err = w.Close()
		return err
	})
}

func rows(results []*dcbx.Result) []dcbxRow {
	out := []dcbxRow{}
	for _, r := range results {
		out = append(out, dcbxRow{r.A.Name, r.B.Name, r.Version.String(), swconf.Priorities(r.OperA),
			swconf.Priorities(r.OperB), r.WhyA, r.WhyB,
			append([]string{}, r.Problems...), len(r.Frames)})
	}
	return out
}

// print shows a line per cable that differs from those before it.
func (c *configDcbxCmd) print(w io.Writer, results []*dcbx.Result, bad int) {
	type kind struct {
		version    dcbx.Version
		a, b       uint8
		wa, wb     string
		problems   int
		sysA, sysB roce.MAC // only the kind byte counts
	}
	count := map[kind]int{}
	kindOf := func(r *dcbx.Result) kind {
		return kind{r.Version, r.OperA, r.OperB, r.WhyA, r.WhyB, len(r.Problems), roce.MAC{1: r.A.MAC[1]},
			roce.MAC{1: r.B.MAC[1]}}
	}
	for _, r := range results {
		count[kindOf(r)]++
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "end\tDCBX\tconfigured\tin operation\tbecause")
	for _, r := range results {
		k := kindOf(r)
		n := count[k]
		if n == 0 {
			continue
		}
		if !c.All {
			count[k] = 0
		}
		for i, s := range []struct {
			st   dcbx.Station
			oper uint8
			why  string
		}{{r.A, r.OperA, r.WhyA}, {r.B, r.OperB, r.WhyB}} {
			will := ""
			if s.st.Willing {
				will = " willing"
			}
			version := r.Version.String()
			if i > 0 {
				version = ""
			}
			fmt.Fprintf(t, "%s\t%s\t%s %s%s\t%s\t%s\n", s.st.Name, version, s.st.Mode,
				swconf.Priorities(s.st.Enable), will, swconf.Priorities(s.oper), s.why)
		}
		for _, p := range r.Problems {
			fmt.Fprintf(t, "  problem: %s\n", p)
		}
		if n > 1 && !c.All {
			fmt.Fprintf(t, "  and %s alike\n", unit.Plural(n-1, "cable"))
		}
	}
	t.Flush()
	fmt.Fprintf(w, "\n%s, %d of them with problems\n", unit.Plural(len(results), "cable"), bad)
	if c.Pcap != "" {
		fmt.Fprintf(w, "LLDP frames in %s\n", c.Pcap)
	}
}

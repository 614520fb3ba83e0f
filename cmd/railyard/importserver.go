package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/machine"
	"railyard/internal/output"
	"railyard/internal/scenariofile"
)

// importedServer is what import says of a server with --json.
type importedServer struct {
	Format  string        `json:"format"`
	NICs    []importedNIC `json:"nics"`
	LeftOut []string      `json:"nics_near_no_gpu,omitempty"`
	GPUs    []importedGPU `json:"gpus"`
	Notes   []string      `json:"notes,omitempty"`
	NVLinks int           `json:"nvlinks_per_gpu"`
	Type    string        `json:"type"` // as a scenario has it
	Written string        `json:"written_to,omitempty"`
}

type importedNIC struct {
	Name string `json:"name"`
	Rate int64  `json:"rate_bps,omitempty"`
}

type importedGPU struct {
	Name string   `json:"name"`
	NICs []string `json:"nics"`
	Near string   `json:"near"`
}

// importServer turns what a server says of itself into a type.
func (c *importCmd) importServer(e *env) error {
	for flag, said := range map[string]bool{"--format": c.Format != "", "--rate": c.Rate != "",
		"--host-length": c.HostLength != "", "--fabric-length": c.FabricLength != "", "--gpus": c.GPUs != 0,
		"--nic-ports": c.NICPorts != 0, "--servers": c.Servers != "", "--switches": c.Switches != ""} {
		if said {
			return field.New("--server", "a server's topology has no cables: %s has no effect", flag)
		}
	}
	text, err := input.Text(c.Server, machine.MaxSize)
	if err != nil {
		return input.Fault(err)
	}
	s, err := machine.Read(c.Server, text)
	if err != nil {
		return err
	}
	out := &importedServer{Format: s.Format, LeftOut: s.Apart, NVLinks: s.Links(), Notes: s.Notes}
	for _, n := range s.NICs {
		out.NICs = append(out.NICs, importedNIC{n.Name, int64(n.Rate)})
	}
	for g, uses := range s.Uses {
		gpu := importedGPU{Name: s.GPUs[g], Near: s.Near[g].String()}
		for _, n := range uses {
			gpu.NICs = append(gpu.NICs, s.NICs[n].Name)
		}
		out.GPUs = append(out.GPUs, gpu)
	}
	out.Type = serverType(c.Server, s)
	if c.Out != "" {
		if err := output.WriteBytes(c.Out, c.Force, []byte(out.Type)); err != nil {
			return err
		}
		out.Written = c.Out
	}
	if c.JSON {
		return printJSON(e.stdout, out)
	}
	for _, l := range strings.Split(strings.TrimSpace(s.String()), "\n") {
		fmt.Fprintln(e.stdout, "# "+l)
	}
	if c.Out == "" {
		_, err = io.WriteString(e.stdout, out.Type)
	}
	return err
}

// importMachine takes a single file that is about the inside of a server, which needs no flag to be known:
// its topology, or the graphs that NCCL found in it.
func (c *importCmd) importMachine(e *env) (done bool, err error) {
	if len(c.Files) != 1 || c.Format != "" {
		return false, nil
	}
	if st, err := os.Stat(c.Files[0]); err != nil || !st.Mode().IsRegular() {
		return false, nil // told by whoever reads it
	}
	text, err := beginning(c.Files[0])
	if err != nil {
		return true, input.Fault(err)
	}
	switch {
	case machine.IsGraphs(text):
		return true, c.importGraphs(e)
	case machine.IsServer(text):
		c.Server, c.Files = c.Files[0], nil
		return true, c.importServer(e)
	}
	return false, nil
}

// importGraphs says what NCCL's graphs say, and makes a type of as many GPUs and NICs.
func (c *importCmd) importGraphs(e *env) error {
	name := c.Files[0]
	text, err := input.Text(name, machine.MaxSize)
	if err != nil {
		return input.Fault(err)
	}
	graphs, err := machine.ReadGraphs(name, text)
	if err != nil {
		return err
	}
	gpus, nics := machine.Size(graphs)
	if gpus == 0 {
		return input.Fault(&field.Error{File: name, Msg: "has no channel through any GPU"})
	}
	kind := fmt.Sprintf("fabric:\n  types:\n    %s: {gpus: %d, nics: %d} # who is near whom it does not "+
		"say: NCCL_TOPO_DUMP_FILE does\n", typeName(name), gpus, max(1, nics))
	if c.Out != "" {
		if err := output.WriteBytes(c.Out, c.Force, []byte(kind)); err != nil {
			return err
		}
	}
	if c.JSON {
		return printJSON(e.stdout, map[string]any{"format": "nccl-graphs", "gpus": gpus, "nics": nics,
			"graphs": graphs, "type": kind, "written_to": c.Out})
	}
	for i := range graphs {
		for _, l := range graphs[i].Words() {
			fmt.Fprintln(e.stdout, "# "+l)
		}
	}
	if c.Out == "" {
		_, err = io.WriteString(e.stdout, kind)
	}
	return err
}

// typeName is a type's name after a file.
func typeName(file string) string {
	name := strings.ReplaceAll(scenariofile.Slug("", file), ".", "-")
	if name == "" || !unicode.IsLetter(rune(name[0])) {
		name = "server-" + name
	}
	return name[:min(len(name), 31)]
}

// plainPath is what a path may have without quotes in YAML.
const plainPath = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-"

// serverType is a server as a scenario has it.
func serverType(file string, s *machine.Server) string {
	rate, why := s.NICs[0].Rate, "the file says no rate of NICs"
	for _, n := range s.NICs {
		if n.Rate != rate {
			rate, why = 0, "its NICs have several rates: say them at the cables"
		}
	}
	keys := fmt.Sprintf("gpus: %d, nics: %d", len(s.GPUs), len(s.NICs))
	if rate > 0 {
		keys, why = keys+fmt.Sprintf(", nic_rate: %v", rate), ""
	}
	name := typeName(file)
	if strings.IndexFunc(file, func(r rune) bool { return !strings.ContainsRune(plainPath, r) }) >= 0 {
		file = fmt.Sprintf("%q", file)
	}
	out := "fabric:\n  types:\n    " + name + ": {" + keys + ", topology: " + file + "}"
	if why != "" {
		out += " # nic_rate: " + why
	}
	return out + "\n"
}

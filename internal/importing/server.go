package importing

import (
	"fmt"
	"os"
	"strings"
	"unicode"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/machine"
	"railyard/internal/scenariofile"
)

// Server is the JSON output of import for a server.
type Server struct {
	Format  string   `json:"format"`
	NICs    []NIC    `json:"nics"`
	LeftOut []string `json:"nics_near_no_gpu,omitempty"`
	GPUs    []GPU    `json:"gpus"`
	Notes   []string `json:"notes,omitempty"`
	NVLinks int      `json:"nvlinks_per_gpu"`
	Type    string   `json:"type"` // type as in a scenario
	Written string   `json:"written_to,omitempty"`

	words string
}

// Graphs is the JSON output of import for NCCL's graphs.
type Graphs struct {
	Format  string          `json:"format"`
	GPUs    int             `json:"gpus"`
	Graphs  []machine.Graph `json:"graphs"`
	NICs    int             `json:"nics"`
	Type    string          `json:"type"`
	Written string          `json:"written_to"`
}

func (s *Server) YAML() string          { return s.Type }
func (s *Server) Text() string          { return s.words }
func (s *Server) WrittenTo(path string) { s.Written = path }
func (s *Server) Comment() bool         { return true }

func (g *Graphs) YAML() string { return g.Type }
func (g *Graphs) Text() string {
	var all []string
	for i := range g.Graphs {
		all = append(all, g.Graphs[i].Words()...)
	}
	return strings.Join(all, "\n")
}
func (g *Graphs) WrittenTo(path string) { g.Written = path }
func (g *Graphs) Comment() bool         { return true }

type NIC struct {
	Name string `json:"name"`
	Rate int64  `json:"rate_bps,omitempty"`
}

type GPU struct {
	Name string   `json:"name"`
	NICs []string `json:"nics"`
	Near string   `json:"near"`
}

// server converts a server's description of itself to a type.
func (c *reader) server() (*Server, error) {
	for flag, said := range map[string]bool{"--format": c.Format != "", "--rate": c.Rate != "",
		"--host-length": c.HostLength != "", "--fabric-length": c.FabricLength != "", "--gpus": c.GPUs != 0,
		"--nic-ports": c.NICPorts != 0, "--servers": c.Servers != "", "--switches": c.Switches != ""} {
		if said {
			return nil, field.New("--server", "the topology of a host has no cables: %s has no effect", flag)
		}
	}
	text, err := input.Text(c.Server, machine.MaxSize)
	if err != nil {
		return nil, input.Fault(err)
	}
	s, err := machine.Read(c.Server, text)
	if err != nil {
		return nil, err
	}
	out := &Server{Format: s.Format, LeftOut: s.Apart, NVLinks: s.Links(), Notes: s.Notes}
	for _, n := range s.NICs {
		out.NICs = append(out.NICs, NIC{n.Name, int64(n.Rate)})
	}
	for g, uses := range s.Uses {
		gpu := GPU{Name: s.GPUs[g], Near: s.Near[g].String()}
		for _, n := range uses {
			gpu.NICs = append(gpu.NICs, s.NICs[n].Name)
		}
		out.GPUs = append(out.GPUs, gpu)
	}
	out.Type, out.words = serverType(c.Server, s), s.String()
	return out, nil
}

// machine imports a single file about the inside of a server, which is detected without a flag: its topology, or NCCL's
// graphs of it. It returns nothing for other files.
func (c *reader) machine() (Result, error) {
	if len(c.Files) != 1 || c.Format != "" {
		return nil, nil
	}
	if st, err := os.Stat(c.Files[0]); err != nil || !st.Mode().IsRegular() {
		return nil, nil // the reader reports the error
	}
	text, err := beginning(c.Files[0])
	if err != nil {
		return nil, input.Fault(err)
	}
	switch {
	case machine.IsGraphs(text):
		return either(c.graphs())
	case machine.IsServer(text):
		c.Server, c.Files = c.Files[0], nil
		return either(c.server())
	}
	return nil, nil
}

// graphs describes NCCL's graphs, and makes a type of as many GPUs and NICs.
func (c *reader) graphs() (*Graphs, error) {
	name := c.Files[0]
	text, err := input.Text(name, machine.MaxSize)
	if err != nil {
		return nil, input.Fault(err)
	}
	graphs, err := machine.ReadGraphs(name, text)
	if err != nil {
		return nil, err
	}
	gpus, nics := machine.Size(graphs)
	if gpus == 0 {
		return nil, input.Fault(&field.Error{File: name, Msg: "contains no channel through a GPU"})
	}
	return &Graphs{Format: "nccl-graphs", GPUs: gpus, NICs: nics, Graphs: graphs,
		Type: fmt.Sprintf("fabric:\n  types:\n    %s: {gpus: %d, nics: %d} # distances between devices: see NCCL_TOPO_DUMP_FILE\n", typeName(name), gpus, max(1, nics))}, nil
}

// typeName is a type's name after a file.
func typeName(file string) string {
	name := strings.ReplaceAll(scenariofile.Slug("", file), ".", "-")
	if name == "" || !unicode.IsLetter(rune(name[0])) {
		name = "server-" + name
	}
	return name[:min(len(name), 31)]
}

// plainPath matches paths that need no quotes in YAML.
const plainPath = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-"

// serverType is a server as a scenario has it.
func serverType(file string, s *machine.Server) string {
	rate, why := s.NICs[0].Rate, "no NIC rate in the file"
	for _, n := range s.NICs {
		if n.Rate != rate {
			rate, why = 0, "its NICs have several rates: set them at the cables"
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

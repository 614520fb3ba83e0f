package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"railyard/internal/field"
	"railyard/internal/machine"
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
	text, err := readBounded(c.Server, machine.MaxSize)
	if err != nil {
		return &inputError{err}
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
		if err := writeBytes(c.Out, c.Force, []byte(out.Type)); err != nil {
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
	name := strings.ReplaceAll(slug("", file), ".", "-")
	if name == "" || !unicode.IsLetter(rune(name[0])) {
		name = "server-" + name
	}
	if strings.IndexFunc(file, func(r rune) bool { return !strings.ContainsRune(plainPath, r) }) >= 0 {
		file = fmt.Sprintf("%q", file)
	}
	out := "fabric:\n  types:\n    " + name[:min(len(name), 31)] + ": {" + keys + ", topology: " + file + "}"
	if why != "" {
		out += " # nic_rate: " + why
	}
	return out + "\n"
}

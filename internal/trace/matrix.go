package trace

import (
	"bytes"
	"strings"

	"railyard/internal/workload"
)

// isMatrix knows a connection matrix by its first line and by arrows or a count of them; a topology of
// htsim's begins with Nodes too.
func isMatrix(_ string, head []byte) bool {
	nodes, connections := false, false
	for line := range bytes.Lines(head) {
		words := strings.Fields(string(line))
		switch {
		case len(words) == 0 || words[0][0] == '#':
		case words[0] == "Nodes":
			nodes = true
		case !nodes:
			return false
		case words[0] == "Connections" || strings.Contains(words[0], "->"):
			connections = true
		}
	}
	return nodes && connections
}

// readMatrix reads htsim's connection matrix (docs/references.md, formats): who sends how many bytes to whom, each
// at its start, in picoseconds, or once others have ended. Nodes are GPUs by their number, from 0.
func readMatrix(_ *Options, files []File) (*Trace, error) {
	if len(files) != 1 {
		return nil, at(files[1].Name, 0, "a connection matrix is one file; found %d", len(files))
	}
	f, t := files[0], &Trace{}
	m, err := workload.ParseMatrix(f.Name, f.Text, func(what string, line int) {
		note(&t.Report.Left, what, f.Name, line)
	})
	if err != nil {
		return nil, err
	}
	if m.Nodes > maxRanks {
		return nil, at(f.Name, 0, "has %d nodes, expected %d at most", m.Nodes, maxRanks)
	}
	t.Ranks = m.Nodes
	t.Report.Mapped = append(t.Report.Mapped, Count{What: "connections, as transfers", N: m.Flows(), File: f.Name})
	t.DAG, err = m.DAG(m.Nodes)
	return t, err
}

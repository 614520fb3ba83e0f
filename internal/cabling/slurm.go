package cabling

import (
	"regexp"
	"strings"

	"railyard/internal/field"
	"railyard/internal/slurm"
)

var slurmMark = regexp.MustCompile(`(?im)^\s*SwitchName=`)

func looksSlurm(_, text string) bool { return slurmMark.MatchString(text) }

// readSlurm parses topology.conf (topology.conf(5)): the nodes and lower switches of each switch. The file is a
// tree with one cable to each. It lacks parallel cables, ports, rates and further switches of a segment.
func readSlurm(b *builder, text string) error {
	b.note(Place{File: b.file}, "topology.conf is a tree without ports, rates and parallel cables")
	return lines(text, func(n int, line string) error {
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) == "" {
			return nil
		}
		at := b.at(n, column(line, 0))
		vals, cols := map[string]string{}, map[string]int{}
		for i, w := range strings.Fields(line) {
			k, v, ok := strings.Cut(w, "=")
			if !ok {
				return b.at(n, column(line, i)).fail("%s is not a key=value", field.Quote(w))
			}
			vals[strings.ToLower(k)], cols[strings.ToLower(k)] = v, column(line, i)
		}
		if vals["switchname"] == "" {
			b.note(at, "a line without SwitchName is left out")
			return nil
		}
		sw := b.node(at, vals["switchname"])
		_, role := kindOf(vals["switchname"])
		b.is(sw, Switch, role)
		for _, below := range []struct {
			key  string
			kind Kind
		}{{"nodes", Server}, {"switches", Switch}} {
			names, err := slurm.Hosts(vals[below.key])
			if err != nil {
				return b.at(n, cols[below.key]).fail("%s: %v", below.key, err)
			}
			for _, name := range names {
				x := b.node(at, name)
				b.is(x, below.kind, roleOf(name))
				b.cable(Cable{A: End{Node: x}, B: End{Node: sw}, At: at})
			}
		}
		return nil
	})
}

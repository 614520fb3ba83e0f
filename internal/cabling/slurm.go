package cabling

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/topo"
)

var slurmMark = regexp.MustCompile(`(?im)^\s*SwitchName=`)

func looksSlurm(_, text string) bool { return slurmMark.MatchString(text) }

// readSlurm reads topology.conf (topology.conf(5)): which switch has which nodes and switches
// below it. That is a tree, one cable to each; parallel cables, ports, rates and further
// switches of a segment are not in it.
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
				return b.at(n, column(line, i)).fail("%s is no key=value", field.Quote(w))
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
			names, err := hostlist(vals[below.key])
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

// hostlist reads Slurm's host[1-4,7],login.
func hostlist(s string) (out []string, err error) {
	depth, start := 0, 0
	for i := 0; i <= len(s); i++ {
		switch {
		case i < len(s) && s[i] == '[':
			depth++
		case i < len(s) && s[i] == ']':
			depth--
		case i == len(s) || s[i] == ',' && depth == 0:
			if s[start:i] != "" {
				if out, err = expand(out, s[start:i]); err != nil {
					return nil, err
				}
			}
			start = i + 1
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("%s has a bracket without its other half", field.Quote(s))
	}
	return out, nil
}

// expand writes out the brackets of one name.
func expand(out []string, s string) ([]string, error) {
	head, rest, ok := strings.Cut(s, "[")
	if !ok {
		return append(out, s), nil
	}
	in, tail, ok := strings.Cut(rest, "]")
	if !ok {
		return nil, fmt.Errorf("%s has a bracket without its other half", field.Quote(s))
	}
	for _, part := range strings.Split(in, ",") {
		lo, hi, isRange := strings.Cut(part, "-")
		if !isRange {
			hi = lo
		}
		a, err1 := strconv.Atoi(lo)
		z, err2 := strconv.Atoi(hi)
		if err1 != nil || err2 != nil || a < 0 || z < a || z-a > topo.MaxNodes {
			return nil, fmt.Errorf("%s: %s is no range of numbers", field.Quote(s), field.Quote(part))
		}
		for v := a; v <= z; v++ {
			var err error
			if out, err = expand(out, fmt.Sprintf("%s%0*d%s", head, len(lo), v, tail)); err != nil {
				return nil, err
			}
			if len(out) > topo.MaxNodes {
				return nil, fmt.Errorf("%s names more than %d nodes", field.Quote(s), topo.MaxNodes)
			}
		}
	}
	return out, nil
}

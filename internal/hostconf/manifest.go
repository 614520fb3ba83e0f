package hostconf

import (
	"regexp"
	"strings"

	"railyard/internal/swconf"
)

// Manifests are files of Kubernetes, Compose and netplan. They are parsed line by line, so that templates of them
// are supported, too. The parser reads variables of containers, scripts in block scalars, the MTU of netplan's
// devices, and requests to NVIDIA's operator for NICs.
var (
	manifestLike = regexp.MustCompile(`(?m)^(?:apiVersion:|network:\s*$|services:\s*$|\s*- name:\s*["']?` +
		variables + `\w+["']?\s*$|\s+` + variables + `\w+:\s)`)
	named   = regexp.MustCompile(`^(\s*)- name:\s*["']?(` + variables + `\w+)["']?\s*$`)
	valued  = regexp.MustCompile(`^\s*value:\s*(\S.*)$`)
	keyed   = regexp.MustCompile(`^\s*(?:- )?["']?(` + variables + `\w+)["']?\s*[:=]\s*(\S.*)$`)
	block   = regexp.MustCompile(`^(\s*)(?:- )?(?:[\w./-]+:\s*)?[|>][-+]?\d?\s*$`)
	ports   = regexp.MustCompile(`^(\s*)(?:ethernets|bonds):\s*$`)
	device  = regexp.MustCompile(`^(\s*)([\w.@-]+):\s*$`)
	mtuLine = regexp.MustCompile(`^\s*mtu:\s*(\d+)\s*$`)
	operate = regexp.MustCompile(`^(\s*)roceOptimized:\s*$`)
	asks    = regexp.MustCompile(`^\s*(enabled|trust|pfc|tos):\s*["']?([\w,]+)["']?\s*$`)
)

// variables are prefixes of names that concern RDMA.
const variables = `(?:NCCL|UCX_IB|NVSHMEM_IB|MORI_RDMA)_`

// indent returns the indentation of a line.
func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

// below returns the lines that belong to one line by their indentation: all following lines that are deeper.
func below(lines []string, i int) (end int) {
	by := indent(lines[i])
	for end = i + 1; end < len(lines); end++ {
		if strings.TrimSpace(lines[end]) != "" && indent(lines[end]) <= by {
			break
		}
	}
	return end
}

// manifest parses such a file.
func (r *reader) manifest(text string) {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		at := r.at(i+1, indent(lines[i])+1)
		m := named.FindStringSubmatch(lines[i])
		switch {
		case m != nil && i+1 < len(lines) && valued.MatchString(lines[i+1]):
			i++
			r.mark(at, read)
			r.variable(m[2], unquoted(valued.FindStringSubmatch(lines[i])[1]), r.at(i+1, 1))
		case keyed.MatchString(lines[i]):
			m := keyed.FindStringSubmatch(lines[i])
			r.variable(m[1], unquoted(m[2]), at)
		case block.MatchString(lines[i]):
			end := below(lines, i)
			if body := strings.Join(lines[i+1:end], "\n"); Looks(body) > 0 {
				r.inner(strings.Repeat("\n", i+1)+body, at)
			}
			i = end - 1
		case ports.MatchString(lines[i]):
			end := below(lines, i)
			r.netplan(lines, i+1, end)
			i = end - 1
		case operate.MatchString(lines[i]):
			end := below(lines, i)
			r.operator(lines, i, end)
			i = end - 1
		}
	}
}

func unquoted(s string) string {
	s, _, _ = strings.Cut(s, " #")
	return strings.Trim(strings.TrimSpace(s), `"'`)
}

// inner parses a script within the file, at its own lines.
func (r *reader) inner(text string, at swconf.Place) {
	if systemd := unitLike.MatchString(text); systemd {
		r.unit(text)
	} else if err := r.script(text); err != nil {
		r.unknown(at, "a script", "is not read: %v", err)
	}
}

// netplan reads devices from one line to another.
func (r *reader) netplan(lines []string, from, to int) {
	dev, by := "", -1
	for i := from; i < to; i++ {
		if m := device.FindStringSubmatch(lines[i]); m != nil && (by < 0 || len(m[1]) <= by) {
			dev, by = m[2], len(m[1])
		}
		if m := mtuLine.FindStringSubmatch(lines[i]); m != nil && dev != "" {
			at := r.at(i+1, 1)
			r.mark(at, read)
			r.mtu(r.net(dev, at), m[1], at)
		}
	}
}

// operator applies roceOptimized as NVIDIA's nic-configuration-operator does. Unless other values are given, it
// sets the operator's own: ROCE_CC_PRIO_MASK_P1 255, CNP_DSCP_P1 4, CNP_802P_PRIO_P1 6, PFC for priority 3, trust
// of DSCPs, and ToS 0.
func (r *reader) operator(lines []string, from, to int) {
	by := map[string]option{"enabled": {}, "trust": {value: "dscp"}, "pfc": {value: "0,0,0,1,0,0,0,0"},
		"tos": {value: "0"}}
	top := r.at(from+1, 1)
	for i := from; i < to; i++ {
		if m := asks.FindStringSubmatch(lines[i]); m != nil {
			by[m[1]] = option{name: m[1], value: m[2], at: r.at(i+1, 1)}
			r.mark(r.at(i+1, 1), read)
		}
	}
	if by["enabled"].value != "true" {
		return
	}
	r.mark(top, read)
	for name, o := range by {
		if o.at.Line == 0 {
			o.name, o.at = name, top
			by[name] = o
		}
	}
	n := r.mst(swconf.Every, top)
	for _, kv := range [][2]string{{"ROCE_CC_PRIO_MASK_P1", "255"}, {"CNP_DSCP_P1", "4"}, {"CNP_802P_PRIO_P1", "6"}} {
		r.firmware(n, kv[0], kv[1], top)
	}
	r.trust(n, by["trust"].value, by["trust"].at)
	r.mlnxOption(n, by["pfc"])
	if v, ok := r.small(by["tos"].value, 255, "tos", by["tos"].at); ok {
		n.ToS = swconf.Say(v, by["tos"].at)
	}
}

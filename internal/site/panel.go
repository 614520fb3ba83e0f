package site

import (
	"sort"
	"strings"

	"railyard/internal/panel"
	"railyard/unit"
)

// panel is the front of a switch: its ports as they are written, with the lanes that its model gives a port
// of their rate. Nil where neither a model nor a system is named: nobody knows how its ports are called.
func (t *Type) panel() *panel.Panel {
	model := modelOf(strings.ToLower(t.Model))
	if model == nil && t.OS == "" {
		return nil
	}
	kinds, _ := parsePorts(t.Ports) // checked with the type
	p := &panel.Panel{System: t.OS, Model: strings.ToLower(t.Model)}
	lane := unit.Rate(0)
	if model != nil {
		own, _ := parsePorts(model.Ports)
		sort.Slice(own, func(i, k int) bool { return own[i].rate > own[k].rate })
		if model.Lanes > 0 {
			lane = own[0].rate / unit.Rate(model.Lanes)
		}
	}
	for _, k := range kinds {
		r := panel.Run{Ports: k.count}
		if lane > 0 {
			r.Lanes = int((k.rate + lane - 1) / lane)
		}
		p.Runs = append(p.Runs, r)
	}
	return p
}

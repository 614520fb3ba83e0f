package main

import (
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/inside"
	"railyard/internal/model"
	"railyard/internal/report/table"
	"railyard/internal/sheet"
	"railyard/internal/site"
	"railyard/internal/swconf/sonic"
)

type modelsCmd struct {
	Name string `arg:"" optional:"" help:"Model to print with its sources (list all)" placeholder:"MODEL"`
	JSON bool   `help:"Print as JSON"`
}

func (c *modelsCmd) Help() string {
	return `fabric.types.NAME.model takes the switches and hosts, server.gpu the GPUs, and config render --hwsku
the SONiC devices. Every figure has its source, or is marked as unsourced.

Examples:
  railyard models
  railyard models sn5600
  railyard models --json`
}

func shelves() []sheet.Shelf {
	return []sheet.Shelf{{Kind: "switches", Models: site.Sheets}, {Kind: "servers", Models: site.Boxes},
		{Kind: "GPUs", Models: model.Sheets}, {Kind: "baseboards", Models: inside.BoardSheets}, {Kind: "devices of SONiC", Models: sonic.Devices}}
}

// Run is the models command.
func (c *modelsCmd) Run(e *env) error {
	all := shelves()
	if c.Name != "" {
		return c.one(e, all)
	}
	return e.show(c.JSON, all, func() { table.Models(e.stdout, all) })
}

// one prints all properties of a model. A name may be a server's and a GPU's.
func (c *modelsCmd) one(e *env, all []sheet.Shelf) error {
	var names []string
	for _, s := range all {
		for i := range s.Models {
			m := &s.Models[i]
			names = append(names, m.Key)
			if !strings.EqualFold(m.Key, c.Name) {
				continue
			}
			return e.show(c.JSON, m, func() { table.Model(e.stdout, m) })
		}
	}
	return input.Fault(field.Choice("MODEL", c.Name, names, "unknown model %s", field.Quote(c.Name)).ListedBy("railyard models"))
}

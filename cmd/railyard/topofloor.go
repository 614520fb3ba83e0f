package main

import (
	"fmt"
	"io"
	"path/filepath"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/planner"
	"railyard/internal/report/screen"
	"railyard/internal/topo"
	"railyard/unit"
)

// cableKind is cables of one kind, by what a price list sells for their lengths.
type cableKind struct {
	Name   string    `json:"name"`
	Rate   unit.Rate `json:"rate_bps"`
	Count  int       `json:"count"`
	Metres float64   `json:"metres"`
	Price  float64   `json:"price"`
	Watts  float64   `json:"watts"`
}

// cableKinds sorts a fabric's cables by kind, in the order of the list and of rates.
func cableKinds(g *topo.Graph, p *planner.Prices) (out []cableKind) {
	at := map[string]int{}
	for _, part := range p.Cables { // the order of the list
		for _, l := range g.Links {
			m := float64(l.LengthMM) / 1000
			if p.CablePart(m) != part {
				continue
			}
			key := part.Name + l.Rate.String()
			i, ok := at[key]
			if !ok {
				i = len(out)
				at[key], out = i, append(out, cableKind{Name: part.Name, Rate: l.Rate})
			}
			k := &out[i]
			k.Count, k.Metres = k.Count+1, k.Metres+m
			k.Price, k.Watts = k.Price+part.Price, k.Watts+part.Watts
		}
	}
	return out
}

// prices reads the price list of --prices, the embedded one unless given.
func (c *topoCmd) prices() (*planner.Prices, error) {
	var text []byte
	if c.Prices != "" {
		var err error
		if text, err = input.Text(c.Prices, 1<<20); err != nil {
			return nil, input.Fault(err)
		}
	}
	p, err := planner.ParsePrices(filepath.Base(c.Prices), text)
	if err != nil {
		return nil, input.Fault(err)
	}
	return p, nil
}

// printCables prints a floor's cables by kind.
func printCables(w io.Writer, g *topo.Graph, inv *topo.Inventory, p *planner.Prices) {
	fmt.Fprintf(w, "%s, %s m of cable\n", unit.Plural(inv.Racks, "rack"), unit.Digits(inv.Metres))
	t := screen.Table{Columns: []screen.Column{{Head: "Cable"}, {Head: "count"}, {Head: "rate"}, {Head: "m"},
		{Head: p.Currency}, {Head: "W"}}}
	for _, k := range cableKinds(g, p) {
		t.Add(k.Name, unit.ShowCount(k.Count), k.Rate.Show(), unit.Digits(k.Metres), unit.Digits(k.Price),
			unit.Digits(k.Watts))
	}
	t.Print(w)
}

// mostDomains bounds how many failures are tried, each by a walk over the fabric.
const mostDomains = 5_000

// failures prints switches and racks with what each would take away.
func (c *topoCmd) failures(e *env, g *topo.Graph) error {
	if n := len(g.Nodes) - len(g.Hosts); n > mostDomains {
		return input.Fault(field.New("--failures", "%d switches; accepted: up to %d", n,
			mostDomains))
	}
	list := g.FailureDomains()
	if c.JSON {
		return printJSON(e.stdout, list)
	}
	if c.Dot {
		_, err := io.WriteString(e.stdout, g.DotFailures(list))
		return err
	}
	t := screen.Table{Columns: []screen.Column{{Head: "Failure domain"}, {Left: true}, {Head: "GPUs inside", Rare: true},
		{Head: "GPUs isolated", Rare: true}}}
	for i := 0; i < len(list); {
		k := i
		for k < len(list) && list[k].Kind == list[i].Kind && list[k].Own == list[i].Own &&
			list[k].Off == list[i].Off {
			k++
		}
		name := list[i].Name
		if k > i+1 {
			name += fmt.Sprintf(" and %d more", k-i-1)
		}
		t.Add(list[i].Kind, name, unit.ShowCount(list[i].Own), unit.ShowCount(list[i].Off))
		i = k
	}
	answer := "no failure of a switch or rack isolates a GPU"
	if n := 0; t.Rows() > 0 {
		for _, d := range list {
			if d.Off > 0 {
				n++
			}
		}
		if n > 0 {
			answer = fmt.Sprintf("%d of %d failure domains isolate GPUs", n, len(list))
		}
	}
	screen.Painted(e.stdout, screen.Answer, "", answer)
	t.Print(e.stdout)
	return nil
}

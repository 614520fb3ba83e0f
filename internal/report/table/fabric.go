package table

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/planner"
	"railyard/internal/report"
	"railyard/internal/report/screen"
	"railyard/unit"
)

// FabricParts are optional columns of a table of designs, by name.
type FabricParts struct {
	Parts     bool              // switches by tier, and cables
	Deadlock  map[string]string // result of the check
	Scenarios map[string]string // files that were written
}

// Fabrics prints the feasible designs, the cheapest first, and the infeasible ones with reasons.
func Fabrics(w io.Writer, in *planner.FabricInput, designs []planner.Design, more *FabricParts) {
	fits := slices.DeleteFunc(slices.Clone(designs), func(d planner.Design) bool { return !d.Fits() })
	slices.SortStableFunc(fits, func(a, b planner.Design) int { return cmp.Compare(a.Cost, b.Cost) })
	screen.Painted(w, screen.Answer, "", fabricAnswer(in, fits))
	money := func(v float64) string { return unit.ShowMoney(v, in.Prices.Currency) }
	t := screen.Table{Columns: []screen.Column{{Head: "Design"}, {Head: "switches"}, {Head: "links"}, {Head: "hops", Spare: true},
		{Head: "oversub.", Spare: true}, {Head: "bisection", Rare: true}, {Head: "kW"}, {Head: "cost"}, {Head: "per GPU"},
		{Head: "blast *", Rare: true}}}
	for i := range fits {
		d := &fits[i]
		over, half := "–", "–" // a fabric of one host has no halves
		if d.Ratio > 0 {
			over = unit.Digits(d.Ratio) + ":1"
		}
		if d.Bisection > 0 {
			half = unit.ShowShare(d.Bisection)
		}
		t.Add(named(in, d), unit.ShowCount(d.Switches()), unit.ShowCount(d.CableCount()), fmt.Sprint(d.Hops), over,
			half,
			unit.ShowCount(int64(d.Watts/1000+0.5)), money(d.Cost), money(d.Cost/float64(in.GPUs)),
			unit.ShowCount(min(blast(d), in.GPUs)))
	}
	if t.Print(w); len(fits) > 0 {
		if slices.ContainsFunc(fits, func(d planner.Design) bool { return blast(&d) > 0 }) {
			fmt.Fprintln(w, "* blast radius: GPUs isolated by the failure of one leaf or rail switch")
		}
		if in.NICPorts > 1 && slices.ContainsFunc(fits, func(d planner.Design) bool { return otherNICs(in, &d) }) {
			report.Wrap(w, "", fmt.Sprintf("%s needs other NICs: with one port of %dG", oneWidePort, in.NICRate))
		}
	}
	listed(w, "Cabled for more than "+unit.Plural(in.GPUs, "GPU"), fits, func(d *planner.Design) string {
		if n := d.Cabled(); n > in.GPUs {
			return unit.ShowCount(n)
		}
		return ""
	})
	if in.Ratio > 1 {
		listed(w, "Oversubscription limits traffic of rail designs; their bisection is within rails", fits,
			func(d *planner.Design) string { return limited(in, d) })
	}
	listed(w, "Other than "+planner.ShowRatio(in.Ratio), fits, func(d *planner.Design) string { return d.Missed })
	if more.Parts {
		for i := range fits {
			fabricParts(w, in, &fits[i], more)
		}
		if r := in.Prices.Racks; len(fits) > 0 {
			fmt.Fprintln(w)
			report.Wrap(w, "", fmt.Sprintf("Cable lengths assume %s a rack and %s a row (racks of --prices), and a switch in the middle of its hosts' racks.",
				unit.Plural(r.Hosts, "host"), unit.Plural(r.Row, "rack")))
		}
	} else {
		listed(w, "Deadlock", fits, func(d *planner.Design) string { return more.Deadlock[d.Name] })
		listed(w, "Scenarios", fits, func(d *planner.Design) string {
			if d.Scenario == "" && len(more.Scenarios) > 0 {
				return noScenario
			}
			return more.Scenarios[d.Name]
		})
	}
	listed(w, "Infeasible", designs, func(d *planner.Design) string { return d.Reason })
}

// limited returns the traffic that the upper tier of a rail design limits; "" of other designs.
func limited(in *planner.FabricInput, d *planner.Design) string {
	within := ""
	if len(d.Tiers) > 0 && d.Tiers[0].Count > in.PerServer {
		within = fmt.Sprintf("between the %d switches of a rail", d.Tiers[0].Count/in.PerServer)
	}
	switch {
	case d.Name == "rail-only":
		return "none; no links between rails"
	case d.Name == "rail-planes", d.Name == "rail-port-planes":
		return within + "; no links between rails"
	case d.Name == "rail-pods":
		return "between pods"
	case d.Name == "rail-spine" && within != "":
		return "between rails, and " + within
	case d.Name == "rail-spine":
		return "between rails"
	}
	return ""
}

// noScenario is why a design has none.
const noScenario = "no scenario: too large for packet fidelity"

// listed prints remarks on designs below a heading.
func listed(w io.Writer, heading string, all []planner.Design, say func(*planner.Design) string) {
	for i := range all {
		if words := say(&all[i]); words != "" {
			if heading != "" {
				fmt.Fprintln(w, heading)
				heading = ""
			}
			report.Labelled(w, fmt.Sprintf("  %-16s  ", all[i].Name), words)
		}
	}
}

// fabricAnswer returns the number of designs, and the cheapest with an oversubscription up to the maximum, or none.
// For 1:1 it requires full bisection. If none has it, the cheapest of all.
func fabricAnswer(in *planner.FabricInput, fits []planner.Design) string {
	nics := fmt.Sprintf("%dG NICs", in.NICRate)
	if n := in.NICPorts; n > 1 {
		nics = fmt.Sprintf("NICs of %d × %dG", n, in.NICRate/n)
	}
	asked := fmt.Sprintf("Hosts of %s, %s, %s", unit.Plural(in.PerServer, "GPU"), nics, planner.ShowRatio(in.Ratio))
	say := fmt.Sprintf("%s for %s", unit.Plural(len(fits), "feasible design"), unit.Plural(in.GPUs, "GPU"))
	if len(fits) == 0 {
		return say + ". " + asked
	}
	what, best := "cheapest with full bisection", slices.Clone(fits)
	missed := func(d planner.Design) bool { return d.Bisection > 0 && d.Bisection < 1-1e-9 }
	if in.Ratio > 1 {
		what = "cheapest with " + planner.ShowRatio(in.Ratio) + " or less"
		missed = func(d planner.Design) bool { return !d.Within(in.Ratio) }
	}
	best = slices.DeleteFunc(best, missed)
	if len(best) == 0 {
		best = fits
	}
	these := slices.DeleteFunc(slices.Clone(best), func(d planner.Design) bool { return otherNICs(in, &d) })
	if len(these) > 0 {
		best = these
	} else if !slices.ContainsFunc(fits, func(d planner.Design) bool { return !otherNICs(in, &d) }) {
		say += ", none with these NICs"
	}
	if missed(best[0]) || in.Ratio == 1 && best[0].Bisection < 1-1e-9 { // or one host, which has no halves
		what = "cheapest"
	}
	var names []string
	for _, d := range best {
		if d.Cost == best[0].Cost {
			names = append(names, d.Name)
		}
	}
	return fmt.Sprintf("%s; %s: %s (%s). %s", say, what, unit.ShowMoney(best[0].Cost, in.Prices.Currency),
		strings.Join(names, ", "), asked)
}

// oneWidePort marks designs for NICs of one port if NICs of several were requested.
const oneWidePort = "†"

// otherNICs reports whether a design needs NICs with another number of ports than requested.
func otherNICs(in *planner.FabricInput, d *planner.Design) bool {
	return d.NICPorts != max(1, in.NICPorts)
}

// named returns a design's name with its mark.
func named(in *planner.FabricInput, d *planner.Design) string {
	if otherNICs(in, d) {
		return d.Name + " " + oneWidePort
	}
	return d.Name
}

// blast returns how many GPUs the failure of one switch of NICs isolates.
func blast(d *planner.Design) (most int) {
	for _, t := range d.Tiers {
		most = max(most, t.Failure)
	}
	return most
}

// fabricParts prints the switches by tier, cables and notes of a design.
func fabricParts(w io.Writer, in *planner.FabricInput, d *planner.Design, more *FabricParts) {
	fmt.Fprintln(w)
	room := ""
	if d.GPUs > d.Cabled() {
		room = fmt.Sprintf(", ports for %s", unit.ShowCount(d.GPUs))
	}
	if hosts := in.Hosts(); d.Cabled() > hosts*in.PerServer {
		room += fmt.Sprintf("; bill for %s of %s", unit.Plural(hosts, "host"), unit.Plural(in.PerServer, "GPU"))
	}
	report.Wrap(w, "", fmt.Sprintf("%s: %s; cabled for %s%s", d.Name, d.Title, unit.Plural(d.Cabled(), "GPU"), room))
	line := func(n int, what string, price, total float64) {
		money := func(v float64) string { return unit.ShowMoney(v, in.Prices.Currency) }
		if len([]rune(what)) > 48 { // the prices have a separate line
			fmt.Fprintf(w, "  %7s  %s\n", unit.ShowCount(n), what)
			fmt.Fprintf(w, "  %57s %9s %9s\n", "", money(price), money(total))
			return
		}
		fmt.Fprintf(w, "  %7s  %-48s %9s %9s\n", unit.ShowCount(n), what, money(price), money(total))
	}
	fmt.Fprintf(w, "  %7s  %-48s %9s %9s\n", "Count", "Part", "each", "total")
	for _, x := range d.Tiers {
		down, up := fmt.Sprintf("%d down", x.Down), ""
		for _, p := range d.Cables {
			switch {
			case p.From == x.Role:
				up = fmt.Sprintf(", %d × %dG up", x.Up, p.Rate)
			case p.To == x.Role:
				down = fmt.Sprintf("%d × %dG down", x.Down, p.Rate)
			}
		}
		line(x.Count, fmt.Sprintf("%s %s: %s%s", x.Role, x.Model, down, up), x.Price, x.Total)
	}
	for _, p := range d.Cables {
		for _, x := range p.Order {
			line(x.Count, fmt.Sprintf("%v: %s to %s", x, p.From, p.To), x.Price, x.Total)
		}
	}
	for _, note := range []string{d.Note, more.Deadlock[d.Name], more.Scenarios[d.Name]} {
		if note != "" {
			report.Wrap(w, "  ", note)
		}
	}
	if d.Scenario == "" {
		fmt.Fprintln(w, "  "+noScenario)
	}
}

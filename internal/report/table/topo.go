package table

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"railyard/internal/cabling"
	"railyard/internal/planner"
	"railyard/internal/report"
	"railyard/internal/report/screen"
	"railyard/internal/swconf"
	"railyard/internal/topo"
	"railyard/unit"
)

// Inventory prints a fabric's components: the answer (size, oversubscription, bisection), tiers, links.
func Inventory(w io.Writer, inv *topo.Inventory) {
	answer := fmt.Sprintf("%s fabric: %s", inv.Kind, unit.Plural(inv.GPUs, "GPU"))
	over := 0.0
	for _, t := range inv.Tiers {
		if t.Up > 0 {
			over = max(over, t.Oversubscription)
		}
	}
	switch {
	case over > 1:
		answer += ", oversubscription " + toOne(over)
	case over > 0:
		answer += ", non-blocking (1:1)"
	}
	if inv.Hosts >= 2 {
		answer += fmt.Sprintf(", bisection %s per direction", inv.Bisection.Show())
		if inv.Share > 0 && inv.Share != 1 {
			answer += fmt.Sprintf(" (%s of the rate of half the hosts)", unit.ShowShare(inv.Share))
		}
	}
	screen.Painted(w, screen.Answer, "", answer)
	switches, links := 0, 0
	for _, t := range inv.Tiers {
		switches += t.Switches
	}
	for _, c := range inv.Cables {
		links += c.Count
	}
	parts := fmt.Sprintf("%s, %s, %s, %s, %s", unit.Plural(inv.Hosts, "host"), unit.Plural(inv.GPUs, "GPU"),
		unit.Plural(inv.NICs, "NIC"), unit.Plural(switches, "switch"), unit.Plural(links, "link"))
	if inv.Domains > 0 {
		parts += fmt.Sprintf("; %s of up to %s", unit.Plural(inv.Domains, "NVLink domain"),
			unit.Plural(inv.PerDomain, "GPU"))
	}
	screen.Wrap(w, "", parts)
	tiers := screen.Table{Columns: []screen.Column{{Head: "Tier"}, {Head: "switches"}, {Head: "downlinks"},
		{Head: "uplinks"}, {Head: "oversubscription"}}}
	for _, t := range inv.Tiers {
		up, over := unit.NotApplicable, unit.NotApplicable
		if t.Up > 0 {
			up, over = t.Up.Show(), toOne(t.Oversubscription)
		}
		tiers.Add(t.Role, unit.ShowCount(t.Switches), t.Down.Show(), up, over)
	}
	tiers.Print(w)
	cables := screen.Table{Columns: []screen.Column{{Head: "Links"}, {Head: "count"}, {Head: "rate"},
		{Head: "cable"}}}
	for _, c := range inv.Cables {
		cable := unit.Digits(float64(c.LengthMM)/1000) + " m"
		switch {
		case c.Delay > 0 && c.LengthMM == 0:
			cable = c.Delay.Show()
		case c.Delay > 0:
			cable += ", " + c.Delay.Show()
		}
		cables.Add(c.From+" – "+c.To, unit.ShowCount(c.Count), c.Rate.Show(), cable)
	}
	cables.Print(w)
	if len(inv.Channels) == 0 {
		return
	}
	channels := screen.Table{Columns: []screen.Column{{Head: "Layer 3 port channels"}, {Head: "count"},
		{Head: "rate"}, {Head: "members"}, {Head: "min. links"}}}
	for _, c := range inv.Channels {
		channels.Add(c.From+" – "+c.To, unit.ShowCount(c.Count), c.Rate.Show(), fmt.Sprint(c.Members),
			fmt.Sprint(c.Min))
	}
	channels.Print(w)
}

// toOne formats an oversubscription: 1:1, 1.5:1.
func toOne(x float64) string { return unit.Digits(x) + ":1" }

// CableDifferences prints a comparison of cabling with the design.
func CableDifferences(w io.Writer, d *cabling.Difference, passed []string) {
	for _, p := range passed {
		report.Wrap(w, "", p)
	}
	answer := "cabling matches the design"
	if n := len(d.Findings); n > 0 {
		answer = "cabling differs from the design: " + unit.Plural(n, "finding")
	}
	screen.Painted(w, screen.Answer, "", fmt.Sprintf("%s (%s designed, %d cabled, %d equal, %d of them on the same ports)",
		answer, unit.Plural(d.Design, "link"), d.Cabled, d.Same, d.Ports))
	if len(d.Findings) == 0 {
		return
	}
	for i, f := range d.Findings {
		if i == 200 {
			fmt.Fprintf(w, "and %d more (--json has all)\n", len(d.Findings)-i)
			break
		}
		text := f.String()
		if f.Place != "" {
			text += " (" + f.Place + ")"
		}
		report.Wrap(w, "  ", text)
	}
}

// CableKinds prints a floor's cables by kind, with prices in a currency.
func CableKinds(w io.Writer, inv *topo.Inventory, kinds []planner.CableKind, currency string) {
	fmt.Fprintf(w, "%s, %s m of cable\n", unit.Plural(inv.Racks, "rack"), unit.Digits(inv.Metres))
	t := screen.Table{Columns: []screen.Column{{Head: "Cable"}, {Head: "count"}, {Head: "rate"}, {Head: "m"},
		{Head: currency}, {Head: "W"}}}
	for _, k := range kinds {
		t.Add(k.Name, unit.ShowCount(k.Count), k.Rate.Show(), unit.Digits(k.Metres), unit.Digits(k.Price),
			unit.Digits(k.Watts))
	}
	t.Print(w)
}

// FailureDomains prints switches and racks with the GPUs that their failure isolates.
func FailureDomains(w io.Writer, list []topo.Domain) {
	t := screen.Table{Columns: []screen.Column{{Head: "Failure domain"}, {Left: true}, {Head: "GPUs inside", Rare: true},
		{Head: "GPUs isolated", Rare: true}, {Head: "GPUs separated", Rare: true}}}
	for i := 0; i < len(list); {
		k := i
		for k < len(list) && list[k].Kind == list[i].Kind && list[k].Own == list[i].Own &&
			list[k].Off == list[i].Off && list[k].Split == list[i].Split {
			k++
		}
		name := list[i].Name
		if k > i+1 {
			name += fmt.Sprintf(" and %d more", k-i-1)
		}
		t.Add(list[i].Kind, name, unit.ShowCount(list[i].Own), unit.ShowCount(list[i].Off),
			unit.ShowCount(list[i].Split))
		i = k
	}
	off, split := 0, 0
	for _, d := range list {
		switch {
		case d.Off > 0:
			off++
		case d.Split > 0:
			split++
		}
	}
	answer := "no failure of a switch or rack isolates a GPU"
	if off > 0 {
		answer = fmt.Sprintf("%d of %d failure domains isolate GPUs", off, len(list))
	}
	if split > 0 {
		answer += fmt.Sprintf("; %d separate those of a rail or plane, whose NICs no longer reach all others", split)
	}
	screen.Painted(w, screen.Answer, "", answer)
	t.Print(w)
}

// PortMaps prints the ports of switches by rail, with the host, the NIC and the GPUs of each.
func PortMaps(w io.Writer, maps []*topo.PortMap) {
	for i, p := range maps {
		if i > 0 {
			fmt.Fprintln(w)
		}
		portMap(w, p)
	}
}

func portMap(w io.Writer, p *topo.PortMap) {
	fmt.Fprint(w, p.Switch)
	if len(p.Alike) > 0 {
		fmt.Fprintf(w, "; same ports: %s", swconf.Brackets(p.Alike))
	}
	fmt.Fprintln(w)
	row := func(what string, ports []topo.PortEnd) {
		var names, to []string
		gpus := ""
		for i, x := range ports {
			switch own := fmt.Sprintf(" (GPU %s)", strings.Trim(fmt.Sprint(x.GPUs), "[]")); {
			case i == 0 && len(x.GPUs) > 0:
				gpus = own
			case gpus != own:
				gpus = ""
			}
			names = append(names, x.Port)
			end, _, _ := strings.Cut(x.To, ":")
			if len(x.GPUs) > 0 {
				end = x.To
			}
			to = append(to, end)
		}
		report.Labelled(w, fmt.Sprintf("  %-9s ", what),
			headed(strings.Split(swconf.Compress(names), ", "))+" to "+ends(to)+gpus)
	}
	for _, r := range p.Rails {
		row("rail "+strconv.Itoa(r.Rail), r.Ports)
	}
	if len(p.Others) > 0 {
		row("switches", p.Others)
	}
	if n := len(p.Free); n > 0 {
		fmt.Fprintf(w, "  %-9s %s\n", "free", unit.Plural(n, "port"))
	}
}

// ends writes host-1:nic3, host-2:nic3 as host-[1-2]:nic3; others unchanged, each once.
func ends(to []string) string {
	var tails []string
	heads := map[string][]string{}
	for _, end := range to {
		head, tail, _ := strings.Cut(end, ":")
		if heads[tail] == nil {
			tails = append(tails, tail)
		}
		if n := len(heads[tail]); n == 0 || heads[tail][n-1] != head {
			heads[tail] = append(heads[tail], head)
		}
	}
	var out []string
	for _, tail := range tails {
		text := swconf.Brackets(heads[tail])
		if tail != "" {
			text += ":" + tail
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// headed writes Ethernet1/1, Ethernet1/4, Ethernet1/5 as Ethernet1/1, 4, 5.
func headed(names []string) string {
	var out []string
	last := ""
	for _, n := range names {
		cut := strings.LastIndexFunc(n, func(r rune) bool { return r != '-' && (r < '0' || r > '9') }) + 1
		if head := n[:cut]; head != last || cut == 0 {
			last = head
			out = append(out, n)
			continue
		}
		out = append(out, n[cut:])
	}
	return strings.Join(out, ", ")
}

package report

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"railyard/internal/report/screen"
	"railyard/internal/swconf"
	"railyard/unit"
)

// severities are the names of severities and their styles, in the order of printing.
var severities = map[swconf.Severity]struct {
	order int
	name  string
	style screen.Style
}{swconf.Error: {0, "error", screen.Error}, swconf.Warning: {1, "warning", screen.Warning},
	swconf.Info: {2, "note", screen.Share}}

// whose matches details by which findings differ that are equal for a reader: names of ports and of their
// neighbours.
var whose = regexp.MustCompile(`neighbour \S+|\b(?:Ethernet|Eth|swp|et-|port-channel|Port-Channel)\d[\w/:.-]*`)

// Findings prints what lint found, errors first: rule and message, the place with its line, cause and remedy.
// Findings that differ only in the names of ports or in the switch are printed once, with all places in the first
// file and all switches. line returns a line of a file, or "". name returns the switch of a file.
func Findings(w io.Writer, list []swconf.Finding, line func(file string, n int) string, name func(file string) string) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b swconf.Finding) int {
		return cmp.Compare(severities[a.Severity].order, severities[b.Severity].order)
	})
	layout := screen.Of(w)
	alike := map[[5]string][]swconf.Finding{}
	var order [][5]string
	for _, f := range list {
		k := [5]string{string(f.Severity), f.Rule, f.Ports, f.Fix, shape(f.Message, name(f.File))}
		if alike[k] == nil {
			order = append(order, k)
		}
		alike[k] = append(alike[k], f)
	}
	for _, k := range order {
		group := alike[k]
		f, s := group[0], severities[group[0].Severity]
		switches, at, others := onSwitches(group, name)
		message := f.Message
		switch n := len(switches); {
		case n > 1 && others > 0:
			message += fmt.Sprintf(" (and %s, on %d switches)", unit.Plural(others, "more port"), n)
		case n > 1:
			message += fmt.Sprintf(" (on %d switches)", n)
		case others > 0:
			message += fmt.Sprintf(" (and %s)", unit.Plural(others, "more port"))
		}
		screen.Labelled(w, layout.Paint(s.style, s.name+"["+f.Rule+"]:")+" ", message)
		if f.Ports != "" {
			at += ", " + f.Ports
		}
		Labelled(w, "  --> ", at)
		if f.Line > 0 && f.Column > 0 {
			excerpt(w, layout, line(f.File, f.Line), f.Line, f.Column)
		}
		if len(switches) > 1 {
			Labelled(w, "   = switches: ", swconf.Switches(switches))
		}
		Labelled(w, "   = cause: ", f.Why)
		screen.Painted(w, screen.Remedy, "   = remedy: ", f.Fix)
	}
}

// shape returns a message without the names of ports and of its switch.
func shape(message, name string) string {
	message = whose.ReplaceAllString(message, "*")
	if name == "" || !strings.Contains(message, name) {
		return message
	}
	return regexp.MustCompile(`(^|[\s"'(])`+regexp.QuoteMeta(name)+`\b`).ReplaceAllString(message, "${1}*")
}

// onSwitches returns the switches of equal findings, the places in the file of the first, and how many further
// ports the messages name.
func onSwitches(group []swconf.Finding, name func(file string) string) (switches []string, at string, ports int) {
	first := group[0]
	var files, more []string
	named := map[[2]string]bool{}
	for i, f := range group {
		if i == 0 || f.File != group[i-1].File {
			files = append(files, f.File)
			if n := name(f.File); !slices.Contains(switches, n) {
				switches = append(switches, n)
			}
		}
		place := fmt.Sprintf("%d:%d", f.Line, f.Column)
		if f.File == first.File && (f.Line != first.Line || f.Column != first.Column) && !slices.Contains(more, place) {
			more = append(more, place)
		}
		if whose.MatchString(f.Message) {
			named[[2]string{f.File, f.Message}] = true
		}
	}
	if len(switches) < len(files) { // several files of one switch, or of one name
		switches = files
	}
	if at = first.File; first.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", first.File, first.Line, first.Column)
	}
	if len(more) > 0 {
		at += ", " + strings.Join(more[:min(len(more), 8)], ", ")
		if n := len(more) - 8; n > 0 {
			at += fmt.Sprintf(" and %d more", n)
		}
	}
	return switches, at, max(len(named)-1, 0)
}

// excerpt prints a line of a configuration with a mark below the word at column; of a long line only the
// surrounding part.
func excerpt(w io.Writer, layout screen.Layout, text string, line, column int) {
	text = strings.TrimRight(strings.ReplaceAll(text, "\t", " "), " \r")
	if text == "" || column > len(text) {
		return
	}
	number, most := fmt.Sprint(line), 100
	if layout.Width > 0 {
		most = max(min(most, layout.Width-len(number)-3), 20)
	}
	if len(text) > most {
		if strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
			return // columns are bytes
		}
		from := max(0, min(column-1-most/3, len(text)-most))
		cut := []byte(text[from : from+most])
		if from > 0 {
			copy(cut, "...")
		}
		if from+most < len(text) {
			copy(cut[most-3:], "...")
		}
		text, column = string(cut), column-from
	}
	n := strings.IndexByte(text[column-1:]+" ", ' ')
	fmt.Fprintf(w, "%s | %s\n", number, text)
	fmt.Fprintf(w, "%s | %s%s\n", strings.Repeat(" ", len(number)), strings.Repeat(" ", column-1),
		strings.Repeat("^", max(n, 1)))
}

// Tally prints how many lines were recognized, by kind of file, and the count of findings.
func Tally(w io.Writer, configs []*swconf.Config, hosts []*swconf.Host, title func(swconf.OS) string,
	list []swconf.Finding) {
	type sum struct{ files, lines, unknown int }
	var order []string
	sums := map[string]*sum{}
	count := func(what string, total, unknown int) {
		s := sums[what]
		if s == nil {
			s = &sum{}
			sums[what], order = s, append(order, what)
		}
		s.files, s.lines, s.unknown = s.files+1, s.lines+total, s.unknown+unknown
	}
	for _, c := range configs {
		count(title(c.OS), c.Total, len(c.Unknown))
	}
	for _, h := range hosts {
		count("hosts", h.Total, len(h.Unknown))
	}
	var parts []string
	for _, what := range order {
		s := sums[what]
		part := fmt.Sprintf("%s: %s of %s recognized", what, unit.ShowCount(s.lines-s.unknown),
			unit.Plural(s.lines, "line"))
		if s.files > 1 {
			part += fmt.Sprintf(" in %d files", s.files)
		}
		parts = append(parts, part)
	}
	screen.Painted(w, screen.Answer, "", fmt.Sprintf("%s. %s, %s, %s", strings.Join(parts, "; "),
		unit.Plural(swconf.Count(list, swconf.Error), "error"),
		unit.Plural(swconf.Count(list, swconf.Warning), "warning"),
		unit.Plural(swconf.Count(list, swconf.Info), "note")))
}

// Behaviour prints a switch's treatment of packets: one table per group of equally configured ports.
func Behaviour(w io.Writer, c *swconf.Config, title string) {
	screen.Painted(w, screen.Answer, "", named(c, title))
	for _, v := range c.Views() {
		ports := swconf.Compress(v.Ports)
		if ports == "" {
			ports = "all ports (no interface is configured)"
		}
		Wrap(w, "", ports+": "+strings.Join(treatments(v.Rows), ", "))
		t := screen.Table{Indent: "  ", Columns: []screen.Column{{Head: "DSCP"}, {Head: "CoS", Left: true, Rare: true},
			{Head: "group"}, {Head: "queue", Left: true}, {Head: "scheduling", Left: true},
			{Head: "ECN marking", Left: true}, {Head: "PFC", Left: true}}}
		most := 0 // the row with most DSCPs represents all others
		for i, r := range v.Rows {
			if len(r.DSCP) > len(v.Rows[most].DSCP) {
				most = i
			}
		}
		for i, r := range v.Rows {
			dscp := r.DSCP
			switch {
			case dscp == "none":
				dscp = "(none)"
			case i == most && len(dscp) > 9 && len(v.Rows) > 1:
				dscp = "other"
			}
			t.Add(dscp, r.COS, fmt.Sprint(r.Group), clip(r.Queue, 18), worded(r.Schedule), worded(r.ECN), worded(r.PFC))
		}
		t.Print(w)
		trust, watchdog := "", "off"
		if v.Trust != "" {
			trust = "; trust " + v.Trust
		}
		if v.Watchdog {
			watchdog = "on"
		}
		Wrap(w, "  ", fmt.Sprintf("Policies %s (in), %s (out)%s; PFC %s; watchdog %s; MTU %s", orNone(v.Input),
			orNone(v.Output), trust, v.PFC, watchdog, mtuText(v.MTU)))
	}
	if wd := c.Watchdog; wd.On.V {
		show := func(t unit.Time) string {
			if t == 0 {
				return "a time not configured"
			}
			return t.Show()
		}
		Wrap(w, "", fmt.Sprintf("PFC watchdog: polls every %s, detects after %s, restores after %s", show(wd.Poll.V),
			show(wd.Detect.V), show(wd.Restore.V)))
	} else {
		fmt.Fprintln(w, "PFC watchdog off")
	}
	if d := c.DLB; d != nil {
		mac := d.MAC.V
		if mac == "" && c.OS == swconf.NXOS {
			mac = swconf.DefaultDLBMAC
		}
		if mac != "" {
			mac = ", MAC " + mac
		}
		fmt.Fprintf(w, "Dynamic load balancing: %s%s\n", d.Mode.V, mac)
	}
	if c.Hash.Is() {
		Wrap(w, "", "ECMP hash: "+c.Hash.V)
	}
	if s := c.Segments(); s != "" {
		Wrap(w, "", "SRv6: "+s)
	}
}

// named returns the name, language and file of a configuration.
func named(c *swconf.Config, title string) string {
	if c.Name() == c.File {
		return c.File + " (" + title + ")"
	}
	return fmt.Sprintf("%s (%s, %s)", c.Name(), title, c.File)
}

// treatments summarizes the rows that have more than best effort: DSCP 24 has PFC and ECN (queue 3).
func treatments(rows []swconf.Row) (out []string) {
	for _, r := range rows {
		var has []string
		if r.PFCWorks() {
			has = append(has, "PFC")
		}
		if strings.HasPrefix(r.ECN, "marks") {
			has = append(has, "ECN")
		}
		if strings.HasPrefix(r.Schedule, "strict") && r.Schedule == "strict" {
			has = append(has, "strict priority")
		}
		of := "DSCP " + r.DSCP
		if r.DSCP == "none" && r.COS != "" {
			of = "CoS " + r.COS
		}
		if of != "DSCP none" && len(has) > 0 && len(r.DSCP) <= 9 {
			out = append(out, fmt.Sprintf("%s has %s (queue %d)", of, strings.Join(has, " and "), r.Group))
		}
	}
	if out == nil {
		out = []string{"no DSCP has PFC, ECN or strict priority"}
	}
	return out
}

// worded converts a value of a view for printing; --json keeps it.
func worded(s string) string {
	switch s {
	case "no":
		return unit.NotApplicable
	case "leftover":
		return "best effort"
	case "not set":
		return "default"
	}
	if rest, ok := strings.CutPrefix(s, "marks "); ok {
		return strings.Replace(rest, "..", "–", 1)
	}
	return strings.NewReplacer("platform's thresholds", "platform thresholds", "(not configured)",
		"(in another configuration)").Replace(s)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func mtuText(n int64) string {
	if n == 0 {
		return "default"
	}
	return fmt.Sprint(n)
}

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/jobscript"
	"railyard/internal/report"
	"railyard/internal/slurm"
	"railyard/unit"
)

// submitted is what submit says of a job.
type submitted struct {
	Script    string            `json:"script"`
	Name      string            `json:"name"`
	Cluster   []string          `json:"cluster"`
	Nodes     []string          `json:"nodes"`
	Of        int               `json:"cluster_nodes"`
	Program   string            `json:"program"`
	Launched  []string          `json:"launched_by"`
	At        string            `json:"at"`
	World     int               `json:"processes"`
	Model     string            `json:"model,omitempty"`
	Training  []jobscript.Entry `json:"training,omitempty"`
	Benchmark string            `json:"benchmark,omitempty"`
	Ranks     []submittedRank   `json:"ranks"`
	Notes     []string          `json:"notes"`
	Left      []string          `json:"not_used"` // options and flags without bearing
	Scenario  string            `json:"scenario,omitempty"`

	training []string // entries with their places
}

// submittedRank is who gets what.
type submittedRank struct {
	Rank    int      `json:"rank"`
	Host    string   `json:"host"`
	Local   int      `json:"local_rank"`
	GPU     int      `json:"gpu"`
	NIC     string   `json:"nic,omitempty"`
	Rail    int      `json:"rail,omitempty"`
	Port    string   `json:"switch_port,omitempty"`
	Environ []string `json:"environment"` // NAME=value
}

// placed writes a place.
func placed(p slurm.Place) string {
	switch {
	case p.File == "":
		return ""
	case p.Line == 0:
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// shown gathers what there is to say.
func (s *submission) shown(c *submitCmd) *submitted {
	l := s.crew.Launch
	out := &submitted{Script: c.Script, Name: s.name, Cluster: s.cluster.from, Nodes: s.alloc.Names(),
		Of: len(s.cluster.slurm.Nodes), Program: slurm.Open(l.Program), Launched: l.By, At: placed(l.At),
		World: len(s.crew.Processes), Scenario: s.text, Notes: []string{}, Left: []string{}}
	if out.Launched == nil {
		out.Launched = []string{}
	}
	for i := range s.crew.Processes {
		out.Ranks = append(out.Ranks, s.rank(&s.crew.Processes[i]))
	}
	if s.train != nil {
		out.Training = s.train.Entries
		out.Model = s.train.Shape.Name
		if out.Model == "" {
			m := s.train.Shape.Parsed
			out.Model = fmt.Sprintf("%d layers of %d, %d heads", m.Layers, m.Hidden, m.Heads)
		}
		for _, e := range out.Training {
			from := e.Name
			switch {
			case e.Said && e.At.File == c.Script:
				from = fmt.Sprintf("%-36s line %d", from, e.At.Line)
			case e.Said:
				from = fmt.Sprintf("%-36s %s", from, placed(e.At))
			}
			out.training = append(out.training, fmt.Sprintf("%-18s %-12s %s", e.Key, e.Value, from))
		}
	}
	if s.work.Collective != "" {
		out.Benchmark = s.work.Collective + " of " + s.work.Bytes.String()
		if s.work.Note != "" {
			out.Notes = append(out.Notes, s.work.Note)
		}
	}
	s.notes(out)
	for _, set := range c.Set {
		out.Notes = append(out.Notes, "--set "+set+" counts before what the script says")
	}
	if c.DryRun && s.plan != nil { // a run prints them itself
		out.Notes = append(out.Notes, s.plan.Notes...)
	}
	return out
}

// rank is who a process is.
func (s *submission) rank(p *jobscript.Process) submittedRank {
	r := submittedRank{Rank: p.Rank, Host: s.crew.Host(p), Local: p.Local, GPU: p.GPU}
	for _, v := range s.crew.Environment(p) {
		r.Environ = append(r.Environ, v.Name+"="+v.Value)
	}
	if s.plan == nil || p.GPU < 0 {
		return r
	}
	g := s.plan.Graph
	host := r.Host
	if s.cluster.graph == nil {
		host = plainNode(host)
	}
	gpu, err := g.FindGPU(fmt.Sprintf("%s/gpu-%d", host, p.GPU+1))
	if err != nil || gpu >= len(g.NICOf) || g.Ways(gpu) == 0 {
		return r
	}
	nic := &g.NICs[g.WayOf(gpu, 0)]
	r.NIC, r.Rail = fmt.Sprintf("nic-%d", nic.Index+1), nic.Rail+1
	if len(nic.Links) > 0 {
		link := nic.Links[0]
		sw := g.Links[link].A + g.Links[link].B - g.Hosts[nic.Host]
		r.Port = g.End(link, sw)
	}
	return r
}

// notes gathers everything that was told on the way.
func (s *submission) notes(out *submitted) {
	add := func(n slurm.Note) {
		text := n.Text
		if at := placed(n.At); at != "" {
			text = at + ": " + text
		}
		if !slices.Contains(out.Notes, text) {
			out.Notes = append(out.Notes, text)
		}
	}
	for _, list := range [][]slurm.Note{s.script.Job.Notes, s.script.Notes, s.cluster.slurm.Notes,
		s.alloc.Notes, s.found.Notes, s.crew.Notes, s.work.Said.Notes} {
		for _, n := range list {
			add(n)
		}
	}
	out.Notes = append(out.Notes, s.cluster.notes...)
	for _, l := range s.found.Launches {
		if l.Step != nil && &l != s.crew.Launch && l.At != s.crew.Launch.At {
			add(slurm.Note{At: l.At, Text: "starts " + slurm.Open(l.Program) + " too, which is not the job"})
		}
	}
	for _, w := range s.script.Job.Idle {
		out.Left = append(out.Left, w.Text)
	}
	if s.crew.Launch.Step != nil {
		for _, w := range s.crew.Launch.Step.Idle {
			out.Left = append(out.Left, w.Text)
		}
	}
	for _, v := range s.work.Said.Left {
		out.Left = append(out.Left, slurm.Open(v.Name))
	}
}

// print writes it for a screen.
func (o *submitted) print(w io.Writer, c *submitCmd) {
	report.Wrap(w, "", fmt.Sprintf("%s: %s on %s of %d: %s", o.Name, unit.Plural(o.World, "process"),
		unit.Plural(len(o.Nodes), "node"), o.Of, slurm.Fold(o.Nodes)))
	report.Labelled(w, "  starts    ", fmt.Sprintf("%s  (%s)", strings.Join(append(slices.Clone(o.Launched),
		o.Program), " > "), o.At))
	switch {
	case o.Model != "":
		report.Labelled(w, "  trains    ", o.Model)
		for _, l := range o.training {
			fmt.Fprintln(w, cut("            "+l, 100))
		}
	case o.Benchmark != "":
		report.Labelled(w, "  measures  ", o.Benchmark)
	}
	o.table(w, c)
	o.environment(w, c)
	if len(o.Notes) > 0 {
		fmt.Fprintln(w, "\nNot read, assumed, or worth knowing:")
	}
	for i, n := range o.Notes {
		if i == 24 {
			fmt.Fprintf(w, "  and %d more (--json has all)\n", len(o.Notes)-i)
			break
		}
		report.Wrap(w, "  ", n)
	}
	if n := len(o.Left); n > 0 {
		report.Labelled(w, "\nWithout bearing here: ", fmt.Sprintf("%s: %s", unit.Plural(n, "option"),
			listed(o.Left, 12)))
	}
	if c.Scenario != "" && o.Scenario != "" {
		fmt.Fprintf(w, "\nScenario written to %s\n", c.Scenario)
	}
	if !c.DryRun {
		fmt.Fprintln(w)
	}
}

// listed is some words, and how many more there are.
func listed(all []string, most int) string {
	all = slices.Compact(slices.Clone(all))
	if len(all) <= most {
		return strings.Join(all, " ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:most], " "), len(all)-most)
}

// table is who gets which rank, host, GPU, NIC, rail and port, as many as were asked for.
func (o *submitted) table(w io.Writer, c *submitCmd) {
	wide := 4
	for i := range o.Ranks {
		wide = max(wide, min(24, len(o.Ranks[i].Host)))
	}
	fmt.Fprintf(w, "\n%7s  %-*s %5s %4s  %-7s %4s  %s\n", "rank", wide, "host", "local", "GPU", "NIC", "rail",
		"switch port")
	for i := range o.Ranks {
		r := &o.Ranks[i]
		if i == c.Ranks {
			fmt.Fprintf(w, "        and %s more (--ranks %d, --json)\n", unit.Plural(len(o.Ranks)-i, "rank"),
				len(o.Ranks))
			break
		}
		gpu, rail := "-", "-"
		if r.GPU >= 0 {
			gpu = fmt.Sprint(r.GPU)
		}
		if r.Rail > 0 {
			rail = fmt.Sprint(r.Rail)
		}
		line := fmt.Sprintf("%7d  %-*s %5d %4s  %-7s %4s  %s", r.Rank, wide, r.Host, r.Local, gpu, r.NIC,
			rail,
			r.Port)
		fmt.Fprintln(w, strings.TrimRight(cut(line, 100), " "))
	}
}

// cut is a line's first n characters.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// environment is what one rank finds, and by that what all do.
func (o *submitted) environment(w io.Writer, c *submitCmd) {
	r := &o.Ranks[c.Rank]
	fmt.Fprintf(w, "\nEnvironment of rank %d", c.Rank)
	count := map[string]int{}
	for k := range o.Ranks {
		for _, v := range o.Ranks[k].Environ {
			count[v]++
		}
	}
	same := 0
	for _, v := range r.Environ {
		if count[v] == len(o.Ranks) {
			same++
		}
	}
	fmt.Fprintf(w, " (%d of %d are the same for all):\n", same, len(r.Environ))
	for _, v := range r.Environ {
		fmt.Fprintln(w, cut("  "+v, 100))
	}
}

package submission

import (
	"fmt"
	"slices"

	"railyard/internal/jobscript"
	"railyard/internal/slurm"
)

// Report is the report of submit about a job.
type Report struct {
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
	Ranks     []Rank            `json:"ranks"`
	Notes     []string          `json:"notes"`
	Left      []string          `json:"not_used"` // options and flags without bearing
	Scenario  string            `json:"scenario,omitempty"`

	Lines []string `json:"-"` // entries with their places
}

// Rank is the placement of a rank.
type Rank struct {
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

// Report collects the report.
func (s *Submission) Report() *Report {
	c := s.of
	l := s.crew.Launch
	out := &Report{Script: c.Script, Name: s.name, Cluster: s.cluster.from, Nodes: s.alloc.Names(),
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
				from = fmt.Sprintf("%-30s line %d", from, e.At.Line)
			case e.Said:
				from = fmt.Sprintf("%-30s %s", from, placed(e.At))
			}
			out.Lines = append(out.Lines, fmt.Sprintf("%-17s %-10s %s", e.Key, e.Value, from))
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
		out.Notes = append(out.Notes, "--set "+set+" takes precedence over the script")
	}
	if c.DryRun && s.Plan != nil { // a run prints them itself
		out.Notes = append(out.Notes, s.Plan.Notes...)
	}
	return out
}

// rank returns the placement of a process.
func (s *Submission) rank(p *jobscript.Process) Rank {
	r := Rank{Rank: p.Rank, Host: s.crew.Host(p), Local: p.Local, GPU: p.GPU}
	for _, v := range s.crew.Environment(p) {
		r.Environ = append(r.Environ, v.Name+"="+v.Value)
	}
	if s.Plan == nil || p.GPU < 0 {
		return r
	}
	g := s.Plan.Graph
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

// notes collects all notes of the previous steps.
func (s *Submission) notes(out *Report) {
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

// Package web shows run directories as pages: a local server, and single files that
// open from disk. Everything a page shows comes from a run directory.
//
// The answer (answer.go, parts.go) is the step along its critical path by class, each class divided among the
// causes of the account. Rows are the sums of critical.parquet, columns those of summary.json. The table between is
// fitted from the losses of each class's collectives on the path, and rounded so that both sums are exact.
package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"railyard/internal/input"
	"railyard/internal/report"
	"railyard/internal/result"
)

// maxRows bounds the rows of a table, because a small file can have very many.
const maxRows = 20_000_000

// Directory is one run directory; its tables are read on first use.
type Directory struct {
	Name     string
	Dir      string
	Manifest result.Manifest
	Summary  result.Summary
	Topology result.Topology

	mu     sync.Mutex
	ports  []result.PortRow
	ranks  []result.RankRow
	paused []halt
	tables map[string]any
}

// Open reads what every view of a run needs.
func Open(dir string) (*Directory, error) {
	r := &Directory{Name: filepath.Base(dir), Dir: dir, tables: map[string]any{}}
	for _, f := range []struct {
		name string
		into any
	}{{"run.json", &r.Manifest}, {"summary.json", &r.Summary}, {"topology.json", &r.Topology}} {
		if err := readJSON(filepath.Join(dir, f.name), f.into); err != nil {
			return nil, r.broken(f.name, err)
		}
	}
	ports, err := table[result.PortRow](r, "ports")
	if err != nil {
		return nil, err
	}
	r.ports = ports
	if err := r.check(); err != nil {
		return nil, err
	}
	if err := result.CheckContent(&r.Manifest, dir, "topology.json"); err != nil {
		return nil, r.broken("topology.json", err)
	}
	if err := result.CheckSummary(&r.Manifest, &r.Summary, dir); err != nil {
		return nil, r.broken("summary.json", err)
	}
	return r, nil
}

// check rejects a topology whose numbers do not fit the tables.
func (r *Directory) check() error {
	nodes, ports := len(r.Topology.Nodes), int32(len(r.ports))
	for i, l := range r.Topology.Links {
		if l.A < 0 || l.A >= nodes || l.B < 0 || l.B >= nodes || l.FromA < 0 || l.FromA >= ports ||
			l.FromB < 0 || l.FromB >= ports {
			return r.broken("topology.json", fmt.Errorf("link %d refers to nodes or ports that do not exist", i))
		}
	}
	for i, c := range r.Topology.Changes {
		if c.Link < 0 || c.Link >= len(r.Topology.Links) {
			return r.broken("topology.json", fmt.Errorf("change %d refers to a link that does not exist", i))
		}
	}
	for i, n := range r.Topology.Nodes {
		if n.Config >= len(r.Topology.Configs) {
			return r.broken("topology.json", fmt.Errorf("node %d refers to a configuration that does not exist", i))
		}
	}
	for i, n := range r.Topology.NICs {
		if n.Host < 0 || n.Host >= nodes {
			return r.broken("topology.json", fmt.Errorf("NIC %d refers to a server that does not exist", i))
		}
		for _, l := range n.Links {
			if l < 0 || l >= len(r.Topology.Links) {
				return r.broken("topology.json", fmt.Errorf("NIC %d refers to a link that does not exist", i))
			}
		}
	}
	for _, d := range r.Topology.Domains {
		for _, n := range d.Nodes {
			if n < 0 || n >= nodes {
				return r.broken("topology.json", fmt.Errorf("domain %q refers to a server that does not exist", d.Name))
			}
		}
	}
	return nil
}

// broken describes an unusable file of a run, and the remedy.
func (r *Directory) broken(file string, err error) error {
	switch {
	case errors.Is(err, os.ErrNotExist) && file == "topology.json":
		return fmt.Errorf("%s has no topology.json: it was written by an older Railyard; run its scenario again", r.Name)
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s has no %s: it is not a run directory, or that of a run which has written nothing yet", r.Name, file)
	}
	return fmt.Errorf("%s: %s cannot be read: %w", r.Name, file, err)
}

func readJSON(path string, into any) error {
	b, err := input.Read(path, result.MaxJSON)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

// table reads a table once.
func table[T any](r *Directory, name string) (rows []T, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t, ok := r.tables[name]; ok {
		return t.([]T), nil
	}
	defer func() {
		if p := recover(); p != nil { // the reader of a foreign file
			err = r.broken(name+".parquet", fmt.Errorf("%v", p))
		}
	}()
	if n, err := result.TableRows(r.Dir, name); err != nil || n > maxRows {
		if err == nil {
			err = fmt.Errorf("it has %d rows, at most %d are read", n, maxRows)
		}
		return nil, r.broken(name+".parquet", err)
	}
	if rows, err = result.ReadTable[T](r.Dir, name); err != nil {
		return nil, r.broken(name+".parquet", err)
	}
	r.tables[name] = rows
	return rows, nil
}

// Entry is a run in the list.
type Entry struct {
	Name     string    `json:"name"`
	Title    string    `json:"title"`
	At       time.Time `json:"at"`
	Complete bool      `json:"complete"`
	StepTime int64     `json:"step_time_ps"`
	MFU      float64   `json:"mfu"`
	GPUs     int       `json:"gpus"`
	LB       string    `json:"lb"`
	Marks    int64     `json:"ecn_marks"`
	Pauses   int64     `json:"pfc_pauses"`
	Drops    int64     `json:"drops"`
	Seed     uint64    `json:"seed"`
	// Fidelity names the model used instead of packets, and the expected error. Sets are the settings in addition
	// to the scenario. Main is the largest cost, by the terminal's name; "" at a bound.
	Fidelity string      `json:"fidelity,omitempty"`
	Sets     []string    `json:"sets"`
	Main     string      `json:"main_cause"`
	Causes   []CauseTime `json:"causes"`              // of the step along its critical path, in the order of bars
	Bubble   int64       `json:"bubble_ps,omitempty"` // of a training's pipeline: computing of other stages
	Outcome  string      `json:"outcome,omitempty"`
	Error    string      `json:"error,omitempty"`
}

// explain adds a run's description on its card.
func (e *Entry) explain(dir string, s *result.Summary) {
	if report.FidelityLine(s) != "" {
		e.Fidelity = strings.Trim(report.Approximation(s.Fidelity, s.Expected), " ()")
	}
	var m result.Manifest
	if plain(dir) == nil && readJSON(filepath.Join(dir, "run.json"), &m) == nil {
		e.Sets = m.Set
	}
	if s.Outcome != nil {
		e.Outcome = s.Outcome.Ended
	}
	if e.Main = report.MainCause(s); report.AtBound(s) {
		e.Main = "bound by " + s.Collectives[0].BoundWhy
	}
	if s.Chain == nil {
		return
	}
	e.Causes, e.Bubble = causesOf(s.Chain), s.Bubble
}

// List reads the summaries of the runs in a folder, the newest first. What cannot
// be read is listed with the reason.
func List(root string) ([]Entry, error) {
	dirs, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	out := []Entry{}
	for _, d := range dirs {
		if !d.IsDir() || d.Name()[0] == '.' || studied(filepath.Join(root, d.Name())) {
			continue
		}
		e := Entry{Name: d.Name(), Title: d.Name()}
		dir := filepath.Join(root, d.Name())
		if st, err := os.Stat(filepath.Join(dir, "run.json")); err == nil {
			e.At = st.ModTime().UTC()
		} else if st, err := d.Info(); err == nil {
			e.At = st.ModTime().UTC()
		}
		var s result.Summary
		if err := readJSON(filepath.Join(dir, "summary.json"), &s); err != nil {
			e.Error = (&Directory{Name: d.Name()}).broken("summary.json", err).Error()
		} else {
			if s.Name != "" {
				e.Title = s.Name
			}
			e.Complete, e.StepTime, e.MFU, e.GPUs, e.LB, e.Marks, e.Pauses, e.Drops, e.Seed = s.Complete,
				s.StepTime, s.MFU, s.GPUs, s.LB, s.ECNMarks, s.PFCPauses, s.Drops, s.Seed
			e.explain(dir, &s)
		}
		out = append(out, e)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].At.After(out[j].At) })
	return out, nil
}

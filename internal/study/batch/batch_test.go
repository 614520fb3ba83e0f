package batch

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/study"
	"railyard/internal/study/sweep"
	"railyard/unit"
)

const tiny = `name: tiny
fabric: {kind: rail-only, hosts: 4, host_link: {rate: 100Gbps, delay: 1us}, fabric_link: {rate: 100Gbps, delay: 1us}}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-3/gpu-1, bytes: 64KiB},
  {from: host-2/gpu-1, to: host-3/gpu-1, bytes: 64KiB}]}}
`

// begun opens a study of 10 trials in a directory.
func begun(t *testing.T, scenario, dir string) *sweep.Study {
	t.Helper()
	s, err := sweep.New(&sweep.File{Scenario: scenario, Seeds: 2, Vary: []sweep.Vary{
		{Key: "transport.ack_every", Values: []string{"1", "2", "4", "8"}}}}, sweep.Options{Dir: dir})
	if err == nil {
		err = s.Open()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	s.Pool = &study.Pool{Workers: 1, Memory: unit.GB}
	return s
}

// inFolder is an engine that runs the parts itself, one of them twice and one with a truncated line.
type inFolder struct {
	t *testing.T
	Folder
}

func (e *inFolder) Simulate(ctx context.Context, s *sweep.Study, trials []*sweep.Trial) error {
	t := e.t
	round, err := e.Put(s, trials)
	if err != nil {
		return err
	}
	open := map[string]*sweep.Trial{}
	for _, x := range trials {
		open[x.ID.String()] = x
	}
	take := func(r *sweep.Record) error {
		x := open[r.Trial]
		if x == nil {
			t.Errorf("trial %s has two records", r.Trial)
			return nil
		}
		delete(open, r.Trial)
		return s.Take(x, r)
	}
	pool := &study.Pool{Workers: 2, Memory: unit.GB}
	for k, want := range []int{4, 3, 3} {
		part := sweep.Shard{K: k + 1, Of: 3}
		if n, err := Work(ctx, round, part, pool); err != nil || n != want {
			t.Errorf("part %d simulates %d: %v", k+1, n, err)
		}
		if n, err := Work(ctx, round, part, pool); err != nil || n != 0 {
			t.Errorf("part %d again simulates %d: %v", k+1, n, err)
		}
		if k == 1 {
			path := filepath.Join(round, "records-2.jsonl")
			b, _ := os.ReadFile(path)
			os.WriteFile(path, b[:len(b)-5], 0o600)
		}
		if err := e.Collect(take); err != nil {
			t.Error(err)
		}
		if k == 1 {
			if n, err := Work(ctx, round, part, pool); err != nil || n != 1 {
				t.Errorf("what was cut off: %d, %v", n, err)
			}
		}
	}
	return e.Collect(take)
}

// The parts of a folder together have all trials once, with the results of one process.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tiny.yaml")
	if err := os.WriteFile(path, []byte(tiny), 0o600); err != nil {
		t.Fatal(err)
	}
	var results [][]byte
	for _, name := range []string{"alone", "folder"} {
		s := begun(t, path, filepath.Join(dir, name))
		if name == "folder" {
			s.Engine = &inFolder{t, Folder{Dir: filepath.Join(s.Dir, "rounds")}}
		}
		if err := s.Run(context.Background()); err != nil || s.Simulated != 10 {
			t.Fatal(s.Simulated, err)
		}
		if err := s.Write(); err != nil {
			t.Fatal(err)
		}
		b, _ := os.ReadFile(filepath.Join(s.Dir, sweep.CSVName))
		results = append(results, b)
	}
	if !bytes.Equal(results[0], results[1]) {
		t.Errorf("%s\n%s", results[0], results[1])
	}
}

// A scenario that was changed, and a missing folder, are refused.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tiny.yaml")
	os.WriteFile(path, []byte(tiny), 0o600)
	s := begun(t, path, filepath.Join(dir, "s"))
	f := &Folder{Dir: filepath.Join(dir, "rounds")}
	s.Engine = engineFunc(func(_ context.Context, s *sweep.Study, trials []*sweep.Trial) error {
		_, err := f.Put(s, trials)
		return err
	})
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	all, _ := filepath.Glob(filepath.Join(f.Dir, "1", "????????????????*.json"))
	for _, x := range all {
		b, _ := os.ReadFile(x)
		os.WriteFile(x, bytes.Replace(b, []byte("tiny.yaml"), []byte("Tiny.yaml"), 1), 0o600)
	}
	pool := &study.Pool{Workers: 1}
	if _, err := Work(context.Background(), filepath.Join(f.Dir, "1"), sweep.Shard{}, pool); err == nil ||
		!strings.Contains(err.Error(), "another digest") {
		t.Error(err)
	}
	if _, err := Work(context.Background(), filepath.Join(f.Dir, "2"), sweep.Shard{}, pool); err == nil {
		t.Error("a missing folder is accepted")
	}
}

type engineFunc func(context.Context, *sweep.Study, []*sweep.Trial) error

func (f engineFunc) Simulate(ctx context.Context, s *sweep.Study, trials []*sweep.Trial) error {
	return f(ctx, s, trials)
}

package sweep

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"railyard/internal/result"
)

// RunsName is the folder of a study that has its run directories.
const RunsName = "runs"

// runDir returns the run directory of a trial.
func (s *Study) runDir(t *Trial) string {
	name := fmt.Sprintf("point-%04d", t.Point)
	if seed, ok := t.seed(); ok && s.Seeds(t.Point) > 1 {
		name += fmt.Sprintf("-seed-%d", seed)
	} else if s.Seeds(t.Point) > 1 {
		name += fmt.Sprintf("-seed-plus-%d", t.Seed)
	}
	if s.Rungs() > 1 {
		name += fmt.Sprintf("-rung-%d", t.Rung)
	}
	return filepath.Join(s.Dir, RunsName, name)
}

// RunDirs yields the points and names of the existing run directories, by point and seed.
func (s *Study) RunDirs() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		there := map[string]bool{}
		dirs, _ := os.ReadDir(filepath.Join(s.Dir, RunsName)) // no directory is kept, or it is unreadable
		for _, d := range dirs {
			there[d.Name()] = d.IsDir()
		}
		if len(there) == 0 {
			return
		}
		for t := range s.planned() {
			if name := filepath.Base(s.runDir(t)); there[name] && !yield(t.Point, name) {
				return
			}
		}
	}
}

// Keep writes the missing run directories of the study. It simulates those trials again, with equal results. It
// returns the directories of the best points, the best first.
func (s *Study) Keep(ctx context.Context, a *Analysis) (dirs []string, err error) {
	best, all, _ := parseKeep(s.File.Keep)
	if best == 0 && !all {
		return nil, nil
	}
	place := map[int]int{} // of points
	for i, r := range a.Ranking {
		if !a.Partial && (all || i < best) {
			place[r.Point] = i
		}
	}
	var todo []*Trial
	dirs = make([]string, len(place))
	for t := range s.planned() {
		at, ok := place[t.Point]
		if !ok && !all || t.Rung < a.Rung && !all {
			continue
		}
		dir := s.runDir(t)
		if ok && t.Seed == 0 && t.Rung == a.Rung {
			dirs[at] = dir
		}
		r, err := s.store.Get(t.ID)
		if err != nil {
			return nil, err
		}
		if m, err := result.ReadManifest(dir); r != nil && r.Status == Done && (err != nil || !m.Complete) {
			todo = append(todo, t)
		} else if err == nil && result.Left(dir) { // the process was killed between the run's last file and its end
			if p, err := result.Reserve(dir, true); err == nil {
				p.Release()
			}
		}
	}
	s.Pool.Expect(len(todo))
	return dirs, s.Pool.Each(ctx, len(todo), func(i int) error {
		plan, err := s.plan(todo[i])
		if err == nil {
			_, err = s.Pool.Write(ctx, "", plan, s.runDir(todo[i]))
		}
		return err
	})
}

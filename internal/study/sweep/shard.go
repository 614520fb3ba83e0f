package sweep

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/study"
)

// Shard is a part of a study's trials: every Of-th from K on, 1 to Of. The zero value is all of them.
type Shard struct{ K, Of int }

// MaxShards bounds the parts of a study.
const MaxShards = 100_000

// ParseShard reads K/N; empty is all trials.
func ParseShard(text string) (s Shard, err error) {
	if text == "" {
		return s, nil
	}
	if _, err := fmt.Sscanf(text, "%d/%d", &s.K, &s.Of); err != nil || text != fmt.Sprintf("%d/%d", s.K, s.Of) ||
		s.Of < 1 || s.Of > MaxShards || s.K < 1 || s.K > s.Of {
		return Shard{}, field.New("", "%s is not a part; accepted: K/N with K from 1 to N, N to %d", field.Quote(text),
			MaxShards)
	}
	return s, nil
}

// Has reports whether a trial of a number, from 0, is in the part.
func (s Shard) Has(number int) bool { return s.Of == 0 || number%s.Of == s.K-1 }

// size returns the number of trials of n that are in the part.
func (s Shard) size(n int) int {
	if s.Of == 0 {
		return n
	}
	return (n + s.Of - s.K) / s.Of
}

// suffix distinguishes the default directory of a part.
func (s Shard) suffix() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("-%dof%d", s.K, s.Of)
}

// sameDir reports whether two paths lead to one directory.
func sameDir(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// Merge combines studies of the same designs in a directory, which may be one of them.
func Merge(dirs []string, out string) (*Study, error) {
	s := &Study{Dir: out, from: sources{}, now: time.Now, Pool: &study.Pool{}, next: time.Now().Add(firstPartial)}
	for i, dir := range dirs {
		if k := slices.IndexFunc(dirs[:i], func(d string) bool { return sameDir(d, dir) }); k >= 0 {
			return nil, input.Fault(fmt.Errorf("%s and %s are one directory, and hold one part of the study; accepted: each part once",
				dirs[k], dir))
		}
		designs, err := readDesigns(dir)
		switch {
		case err != nil:
			return nil, err
		case designs == nil:
			return nil, input.Fault(fmt.Errorf("%s holds no study (%s)", dir, ManifestName))
		case designs[0].Command != "":
			return nil, input.Fault(fmt.Errorf("%s holds a study of railyard %s, which has no shards", dir, designs[0].Command))
		case s.designs == nil:
			s.designs = designs
		case !slices.EqualFunc(s.designs, designs, (*Design).same):
			err := fmt.Errorf("%s and %s are not parts of one study", dirs[0], dir)
			if why := s.designs[0].holds(designs[0]); why != nil {
				err = fmt.Errorf("%w: %w", err, why)
			}
			return nil, input.Fault(err)
		}
	}
	had, err := readDesigns(out)
	switch {
	case err != nil:
		return nil, err
	case had == nil && foreign(out):
		return nil, input.Fault(fmt.Errorf("%s holds files but no study; choose another --out", out))
	case had != nil && !slices.EqualFunc(s.designs, had, (*Design).same):
		return nil, input.Fault(fmt.Errorf("%s holds another study; choose another --out", out))
	}
	s.File = s.designs[len(s.designs)-1].File
	if s.store, err = openStore(out, false); err != nil {
		return nil, err
	}
	s.enumerate()
	for _, dir := range dirs {
		if dir == out || sameDir(dir, out) {
			continue
		}
		n, err := s.store.take(dir, func(ID) bool { return true })
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.Taken += n
	}
	return s, errors.Join(writeDesigns(out, s.designs), s.store.journal.Sync())
}

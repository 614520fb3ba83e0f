// Package batch leaves the trials of a study to a batch system by a folder that all hosts share. Slurm submits an
// array that works on it, and Write makes an indexed Job of Kubernetes. A folder has a round for each submission:
//
//	N/tasks.jsonl        a sweep.Task per line
//	N/DIGEST.json        scenarios with their files (sweep.Bundle)
//	N/records-K.jsonl    what part K has simulated: a sweep.Record per line
//
// Parts write separate files, so no lock across hosts is needed, and a restarted part resumes.
package batch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/study"
	"railyard/internal/study/sweep"
)

const (
	tasksName = "tasks.jsonl"
	records   = "records-"
	lines     = ".jsonl"
)

// Folder is a study's folder with rounds.
type Folder struct {
	Dir string

	read map[string]int64 // read positions of record files
}

// rounds returns the numbers of the rounds in order.
func (f *Folder) rounds() (all []int, err error) {
	entries, err := os.ReadDir(f.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && e.IsDir() {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all, err
}

// Put writes a round with trials, and returns its folder.
func (f *Folder) Put(s *sweep.Study, trials []*sweep.Trial) (round string, err error) {
	all, err := f.rounds()
	if err != nil {
		return "", err
	}
	n := 1
	if len(all) > 0 {
		n = all[len(all)-1] + 1
	}
	round = filepath.Join(f.Dir, strconv.Itoa(n))
	if err := os.MkdirAll(round, 0o755); err != nil {
		return "", input.Fault(err)
	}
	for name, b := range s.Bundles() {
		text, err := json.Marshal(b)
		if err == nil {
			err = output.WriteBytes(filepath.Join(round, name+".json"), true, text)
		}
		if err != nil {
			return "", err
		}
	}
	return round, output.Write(filepath.Join(round, tasksName), true, func(w io.Writer) error {
		e := json.NewEncoder(w)
		for _, t := range trials {
			if err := e.Encode(s.Task(t)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Collect calls each with the records that parts have added since the last call.
func (f *Folder) Collect(each func(*sweep.Record) error) error {
	if f.read == nil {
		f.read = map[string]int64{}
	}
	files, err := filepath.Glob(filepath.Join(f.Dir, "*", records+"*"+lines))
	if err != nil {
		return err
	}
	for _, path := range files {
		if err := f.collect(path, each); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// collect reads the complete new lines of a file.
func (f *Folder) collect(path string, each func(*sweep.Record) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Seek(f.read[path], io.SeekStart); err != nil {
		return err
	}
	for r := bufio.NewReader(file); ; {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // an incomplete line is read the next time
		}
		if err != nil {
			return err
		}
		rec := &sweep.Record{}
		if err := json.Unmarshal(line, rec); err != nil {
			return err
		}
		if err := each(rec); err != nil {
			return err
		}
		f.read[path] += int64(len(line))
	}
}

// Work simulates a part of a round's tasks, without tasks that the part has simulated before, and returns their
// number. Tasks that need more memory than available stay open.
func Work(ctx context.Context, round string, part sweep.Shard, pool *study.Pool) (done int, err error) {
	tasks, held, err := readRound(round, part)
	if err != nil {
		return 0, err
	}
	had := map[string]bool{}
	j, err := study.OpenLines(filepath.Join(round, fmt.Sprint(records, max(part.K, 1), lines)), false,
		func(_ int64, line []byte) error {
			r := &sweep.Record{}
			err := json.Unmarshal(line, r)
			had[r.Trial] = true
			return err
		})
	if err != nil {
		return 0, err
	}
	defer j.Close()
	tasks = slices.DeleteFunc(tasks, func(t *sweep.Task) bool { return had[t.Trial] })
	pool.Expect(len(tasks))
	p := &sweep.Performer{Pool: pool}
	results, ended := make(chan *sweep.Record), make(chan error, 1)
	go func() { // one writes
		var failure error
		for r := range results {
			if failure == nil {
				if failure = j.Add(r); failure == nil {
					done++
				}
			}
		}
		ended <- failure
	}()
	err = pool.Each(ctx, len(tasks), func(i int) error {
		r, err := p.Perform(ctx, held[tasks[i].Bundle], tasks[i])
		if sweep.Unfinished(err) {
			return nil
		}
		if err == nil {
			results <- r
		}
		return err
	})
	close(results)
	err = errors.Join(err, <-ended, j.Sync())
	return done, err
}

// readRound reads a part of the tasks of a round, with their scenarios.
func readRound(round string, part sweep.Shard) (tasks []*sweep.Task, held map[string]*sweep.Bundle, err error) {
	text, err := input.Text(filepath.Join(round, tasksName), maxTasks)
	if err != nil {
		return nil, nil, input.Fault(err)
	}
	held = map[string]*sweep.Bundle{}
	for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		if !part.Has(i) {
			continue
		}
		t := &sweep.Task{}
		if err := json.Unmarshal(line, t); err != nil {
			return nil, nil, input.Fault(fmt.Errorf("%s, line %d: %w", tasksName, i+1, err))
		}
		tasks = append(tasks, t)
		if held[t.Bundle] != nil {
			continue
		}
		b := &sweep.Bundle{}
		text, err := input.Text(filepath.Join(round, filepath.Base(t.Bundle)+".json"), maxBundle)
		if err == nil {
			err = json.Unmarshal(text, b)
		}
		if err == nil && b.Digest() != t.Bundle {
			err = errors.New("has another digest than its name")
		}
		if err != nil {
			return nil, nil, input.Fault(fmt.Errorf("%s.json: %w", t.Bundle, err))
		}
		held[t.Bundle] = b
	}
	return tasks, held, nil
}

// Limits of files.
const (
	maxTasks  = 2 << 30
	maxBundle = 1 << 30
)

// quoted returns a word for a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// needs refuses a system whose program is missing.
func needs(engine, program string, look func(string) (string, error)) error {
	if _, err := look(program); err != nil {
		return input.Fault(field.New("--engine", "%s needs %s, which is not installed here; accepted: local, or --shard K/N", engine,
			program))
	}
	return nil
}

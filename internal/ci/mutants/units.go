package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// unit is the smallest test that can detect a mutant: a test, or a group of railyard validate.
type unit struct {
	pkg  string // the package of a test, "" for a group
	name string
	dir  string // its directory
	bin  string
}

// validator is the package whose pkg is "".
const validator = "cmd/railyard"

func (u unit) String() string {
	if u.pkg == "" {
		return "validate " + u.name
	}
	return u.pkg + " " + u.name
}

// baseline is the time of a unit without a mutant, and which mutants it reaches.
type baseline struct {
	CPU    float64 `json:"cpu_s"`
	Sites  []int   `json:"sites,omitempty"`
	Failed bool    `json:"failed,omitempty"`
}

// bench is the binaries that contain all mutants.
type bench struct {
	tree   *tree
	bin    string // folder of binaries
	temp   string // what tests write
	memory int64
	limit  time.Duration // limit of processor time per mutant
	jobs   int
	units  []unit // units that can notice at least one mutant
	log    *journal
}

// tested matches the tests that are run: those without clocks and communication.
var tested = regexp.MustCompile(`^(Test|Example|Fuzz)`)

const untested = "TestReal"

// prepare builds the binaries that may notice the mutants and lists their tests.
func (b *bench) prepare(ctx context.Context, mutants []*mutant, say func(string, ...any)) error {
	for _, d := range []string{b.bin, b.temp} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	over, err := overlay(b.tree, mutants, b.temp)
	if err != nil {
		return err
	}
	packages, groups := map[string]bool{}, map[string]bool{}
	for _, m := range mutants {
		t := m.of()
		packages[t.path] = true
		for _, p := range t.importers {
			packages[p] = true
		}
		for _, g := range t.validate {
			groups[g] = true
		}
	}
	for n, pkg := range sorted(packages) {
		say("building tests %d of %d: %s", n+1, len(packages), pkg)
		bin := filepath.Join(b.bin, strings.ReplaceAll(pkg, "/", "_")+".test")
		if err := build(b.tree, over, pkg, true, bin); err != nil {
			return err
		}
		dir := filepath.Join(b.tree.dir, filepath.FromSlash(pkg))
		if _, err := os.Stat(bin); err != nil {
			continue // a package without tests
		}
		end, err := b.process(dir, []string{bin, "-test.list", "."}, "", time.Minute).run(ctx)
		if err != nil {
			return err
		}
		s := bufio.NewScanner(bytes.NewReader(end.output))
		for s.Scan() {
			if name := s.Text(); tested.MatchString(name) && !strings.HasPrefix(name, untested) {
				b.units = append(b.units, unit{pkg, name, dir, bin})
			}
		}
	}
	if len(groups) == 0 {
		return nil
	}
	say("building %s", validator)
	bin := filepath.Join(b.bin, "railyard")
	if err := build(b.tree, over, validator, false, bin); err != nil {
		return err
	}
	for _, g := range sorted(groups) {
		b.units = append(b.units, unit{"", g, b.temp, bin})
	}
	return nil
}

func sorted(set map[string]bool) (out []string) {
	for s := range set {
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

// process is one program of the bench. Random tests draw the same each time and leave no file behind.
func (b *bench) process(dir string, args []string, mutant string, limit time.Duration) process {
	return process{dir: dir, args: args, limit: limit, memory: b.memory, env: []string{
		"RAILYARD_MUTANT=" + mutant, "RAPID_SEED=1", "RAPID_NOFAILFILE=1", "RAILYARD_LONG=",
		"TMPDIR=" + b.temp, "GOMAXPROCS=2"}}
}

// command returns the command that runs units of one package. They are in one binary.
func command(us []unit) []string {
	if us[0].pkg == "" {
		return []string{us[0].bin, "validate", us[0].name}
	}
	var names []string
	for _, u := range us {
		names = append(names, regexp.QuoteMeta(u.name))
	}
	return []string{us[0].bin, "-test.failfast", "-test.count=1", "-test.timeout=0",
		"-test.run=^(" + strings.Join(names, "|") + ")$"}
}

// measure runs every unit without a mutant, to learn which mutants it reaches. It skips units that are in the
// journal.
func (b *bench) measure(ctx context.Context, say func(string, ...any)) error {
	var todo []unit
	for _, u := range b.units {
		if _, done := b.log.Units[u.String()]; !done {
			todo = append(todo, u)
		}
	}
	var mu sync.Mutex
	n := 0
	return each(ctx, b.jobs, todo, func(ctx context.Context, u unit) error {
		mu.Lock()
		n++
		trace := filepath.Join(b.temp, "trace-"+strconv.Itoa(n))
		say("without mutants %d of %d: %s", n, len(todo), u)
		mu.Unlock()
		os.Remove(trace)
		end, err := b.process(u.dir, command([]unit{u}), "trace:"+trace, time.Hour).run(ctx)
		if err != nil {
			return err
		}
		base := baseline{CPU: end.cpu.Seconds(), Failed: !end.ok}
		if !end.ok {
			if u.pkg == "" && bytes.Contains(end.output, []byte("no group")) {
				return fmt.Errorf("the table names a group that railyard validate does not have: %s", u.name)
			}
			say("fails without a mutant, not used: %s\n%s", u, end.output)
		}
		text, _ := os.ReadFile(trace) // empty if the run reached no mutant
		for _, f := range strings.Fields(string(text)) {
			k, err := strconv.Atoi(f)
			if err != nil {
				return err
			}
			base.Sites = append(base.Sites, k)
		}
		os.Remove(trace)
		return b.log.add(entry{Unit: u.String(), Baseline: &base})
	})
}

// each calls f for all items, several in parallel, until one fails.
func each[T any](ctx context.Context, jobs int, items []T, f func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan T)
	var wg sync.WaitGroup
	for range max(jobs, 1) {
		wg.Go(func() {
			for item := range next {
				if ctx.Err() == nil {
					if err := f(ctx, item); err != nil {
						cancel(err)
					}
				}
			}
		})
	}
	for _, item := range items {
		next <- item
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

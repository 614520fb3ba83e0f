// Command mutants measures what the tests detect: it changes the code in small ways, one at a time, and runs tests.
//
//	go run ./internal/ci/mutants --seed 7 --count 60 --least 90
//
// A mutant is a comparison, an operator or an integer replaced, a condition negated, a statement or an early return
// removed. A seed draws them evenly over the groups of table.go. All mutants are built into the same binaries, and
// an environment variable activates one (go build -overlay: the tree stays unchanged). So a mutant costs the time
// of its tests and no build. Each test first runs without a mutant, which shows the mutants that it reaches. Then
// each mutant is tested by the tests that reach it, the cheapest first, for at most --limit of processor time.
// These are the package's own tests, those of its importers, and groups of railyard validate. A mutant is killed
// when a test fails, or does not end in ten times its time. The journal lets an interrupted run continue.
//
// Of the existing tools, only gremlins v0.6.0 is maintained: it draws no seeded sample, builds anew for each mutant
// and runs either the package's own tests or all of them. go-mutesting, its forks and ooze had no release on the
// module proxy.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	seed    uint64
	count   int
	least   float64
	journal string
	json    bool
	jobs    int
	limit   time.Duration
	only    string
	list    bool
	dir     string
	module  string
}

func main() {
	o := options{dir: ".", module: "railyard"}
	cache, _ := os.UserCacheDir()
	flag.Uint64Var(&o.seed, "seed", 1, "seed that draws the mutants")
	flag.IntVar(&o.count, "count", 60, "number of mutants")
	flag.Float64Var(&o.least, "least", 90, "exit 1 below this kill rate, in percent")
	flag.StringVar(&o.journal, "journal", filepath.Join(cache, "railyard-mutants"), "folder for results and binaries")
	flag.BoolVar(&o.json, "json", false, "print JSON")
	flag.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "processes at once")
	flag.DurationVar(&o.limit, "limit", time.Minute, "processor time per mutant")
	flag.StringVar(&o.only, "only", "", "groups or numbers of mutants to try, comma-separated (all)")
	flag.BoolVar(&o.list, "list", false, "draw and print the mutants, run nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	enough, err := run(ctx, o, table, os.Stdout, os.Stderr)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	case !enough:
		os.Exit(1)
	}
}

// run reports whether the kill rate is high enough.
func run(ctx context.Context, o options, table []group, out, progress io.Writer) (bool, error) {
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return false, err
	}
	var paths []string
	for _, g := range table {
		for _, t := range g.packages {
			paths = append(paths, t.path)
		}
	}
	codes, err := load(dir, o.module, paths)
	if err != nil {
		return false, err
	}
	packages := map[string]*code{}
	for _, c := range codes {
		packages[c.path] = c
	}
	mutants, why := draw(table, packages, o.seed, o.count)
	rep := report{Seed: o.seed, Skipped: why}
	picked := slices.DeleteFunc(slices.Clone(mutants), func(m *mutant) bool { return !o.picks(m) })
	if o.list {
		for _, m := range picked {
			fmt.Fprintf(out, "%d %s %s %s\n%s\n", m.number, m.place(), m.site.fn, m.what, m.diff())
		}
		return true, nil
	}
	of, err := state(dir)
	if err != nil {
		return false, err
	}
	j, err := open(o.journal, strconv.FormatUint(o.seed, 10)+"-"+strconv.Itoa(o.count), of)
	if err != nil {
		return false, err
	}
	temp, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(temp)
	b := &bench{tree: codes[0].tree, bin: filepath.Join(j.dir, "bin"), temp: temp, memory: 5 << 30,
		limit: o.limit, jobs: o.jobs, log: j}
	var mu sync.Mutex
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(progress, format+"\n", args...)
	}
	todo := slices.DeleteFunc(slices.Clone(picked), func(m *mutant) bool {
		_, done := j.Results[m.number]
		return done
	})
	if len(todo) > 0 {
		if err := b.prepare(ctx, mutants, say); err != nil {
			return false, err
		}
		if err := b.measure(ctx, say); err != nil {
			return false, err
		}
	}
	if n := len(picked) - len(todo); n > 0 {
		say("the journal has %d of %d mutants", n, len(picked))
	}
	err = each(ctx, o.jobs, todo, func(ctx context.Context, m *mutant) error {
		r, err := b.hunt(ctx, m)
		if err != nil {
			return err
		}
		if !o.json {
			mu.Lock()
			fmt.Fprintln(out, r.line(len(mutants)))
			mu.Unlock()
		}
		return j.add(entry{Result: &r})
	})
	if err != nil {
		return false, err
	}
	for _, m := range picked {
		rep.Mutants = append(rep.Mutants, j.Results[m.number])
	}
	if err := j.finish(); err != nil {
		return false, err
	}
	rep.sum()
	if o.json {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return rep.Rate >= o.least, e.Encode(rep)
	}
	rep.print(out)
	return rep.Rate >= o.least, nil
}

// picks reports whether a mutant was selected.
func (o options) picks(m *mutant) bool {
	if o.only == "" {
		return true
	}
	asked := strings.Split(o.only, ",")
	return slices.Contains(asked, strconv.Itoa(m.number)) || slices.Contains(asked, m.group.name)
}

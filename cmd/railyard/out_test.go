package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"railyard/internal/output"
	"railyard/internal/result"
)

// small is a scenario that ends in a tenth of a second.
const small = `name: small
fabric: {kind: rail, hosts: 4, segments: 2, spines: 1, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
workload: {traffic: {incast: {bytes: 2MB, fan_in: 3}}}
`

// smallFile changes to a new folder and writes the scenario there.
func smallFile(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("small.yaml", []byte(small), 0o644); err != nil {
		t.Fatal(err)
	}
}

// mounted mounts a file system, or skips the test if that is not permitted.
func mounted(t *testing.T, dir string, args ...string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", append(args, dir)...).CombinedOutput(); err != nil {
		t.Skipf("needs root and leave to mount: %v: %s", err, out)
	}
	t.Cleanup(func() { exec.Command("umount", "-l", dir).Run() })
}

// whole checks that a run directory has all files of its run.json, readable.
func whole(dir string) (*result.Summary, error) {
	s, err := result.ReadSummary(dir)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, e := range entries {
		name, table := strings.CutSuffix(e.Name(), ".parquet")
		if table {
			n++
			if _, err := result.TableRows(dir, name); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "run.json")); err != nil || n < 10 {
		return nil, fmt.Errorf("%d tables, %v", n, err)
	}
	return s, nil
}

// hidden lists the hidden files and folders, under whose names files are written first.
func hidden(dirs ...string) (left []string) {
	for _, dir := range dirs {
		list, _ := filepath.Glob(filepath.Join(dir, ".*"))
		left = append(left, list...)
	}
	return left
}

// Not every directory can be renamed: the current one, a mount point (a volume of Docker), the target of a symbolic
// link. A run is still written there, replaces an earlier one with --force, and removes only files that runs have
// written.
func TestOutAnywhere(t *testing.T) {
	for name, where := range map[string]func(t *testing.T) string{
		"a new one":       func(t *testing.T) string { return "a/b/new" },
		"the current one": func(t *testing.T) string { t.Chdir(t.TempDir()); return "." },
		"a mounted disk": func(t *testing.T) string {
			mounted(t, "disk", "-t", "tmpfs", "none")
			return "disk"
		},
		"a bind mount": func(t *testing.T) string {
			os.Mkdir("src", 0o755)
			mounted(t, "bind", "--bind", "src")
			return "bind"
		},
		"behind a link": func(t *testing.T) string {
			os.Mkdir("real", 0o755)
			os.Symlink("real", "link")
			return "link"
		},
		"a container's image": func(t *testing.T) string { // its folders cannot be renamed
			for _, d := range []string{"low/image", "up", "work"} {
				os.MkdirAll(d, 0o755)
			}
			mounted(t, "root", "-t", "overlay", "-o",
				"lowerdir=low,upperdir=up,workdir=work,redirect_dir=off", "none")
			return "root/image"
		},
		"a disk's own files": func(t *testing.T) string {
			os.MkdirAll("disk/lost+found", 0o755)
			return "disk"
		},
	} {
		t.Run(name, func(t *testing.T) {
			smallFile(t)
			file, _ := filepath.Abs("small.yaml")
			out := where(t)
			for _, args := range [][]string{nil, {"--force"}, {"--force", "--seed", "7"}} {
				code, text, errs := call(t, append([]string{"run", file, "--out", out}, args...)...)
				if code != 0 ||
					!strings.Contains(text, "Results: "+strings.Replace(out, "link", "real", 1)+" ") {
					t.Fatalf("%v: exit %d: %s%s", args, code, text, errs)
				}
				if s, err := whole(out); err != nil || !s.Complete || s.Seed != 7 && len(args) == 3 {
					t.Fatalf("%v: %+v, %v", args, s, err)
				}
				os.WriteFile(filepath.Join(out, "notes.txt"), []byte("mine"), 0o644)
				os.Mkdir(filepath.Join(out, "figures"), 0o755)
			}
			if b, err := os.ReadFile(filepath.Join(out, "notes.txt")); err != nil || string(b) != "mine" {
				t.Errorf("a file that no run wrote is gone: %v", err)
			}
			if left := hidden(out, filepath.Dir(out)); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// A directory that is no run is unchanged even with --force, and is rejected before the simulation.
func TestForceRemovesRunsOnly(t *testing.T) {
	smallFile(t)
	os.Mkdir("theirs", 0o755)
	os.WriteFile("theirs/run.json", []byte(`{"name":"another program's"}`), 0o644)
	os.WriteFile("theirs/data", nil, 0o644)
	os.Symlink("nowhere", "dangling")
	for out, want := range map[string]string{
		"theirs":     "did not write",
		".":          "no run",
		"small.yaml": "is a file",
		"dangling":   "leads nowhere",
	} {
		if code, text, errs := call(t, "run", "small.yaml", "--out", out, "--force"); code != 2 ||
			text != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %q, %q", out, code, text, errs)
		}
	}
	if b, _ := os.ReadFile("theirs/run.json"); !strings.Contains(string(b), "another") {
		t.Errorf("run.json: %s", b)
	}
	if left := hidden(".", "theirs"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// An unwritable directory is detected before a long simulation, not after it.
func TestOutIsProbed(t *testing.T) {
	smallFile(t)
	mounted(t, "full", "-t", "tmpfs", "-o", "size=64k", "none")
	mounted(t, "ro", "-t", "tmpfs", "-o", "ro", "none")
	for _, out := range []string{"full", "full/run", "ro", "ro/run"} {
		code, text, errs := call(t, "run", "small.yaml", "--out", out)
		if code != 2 || text != "" || !strings.Contains(errs, "no space left") &&
			!strings.Contains(errs, "read-only") {
			t.Errorf("%s: exit %d, %q, %q", out, code, text, errs)
		}
	}
	if left := hidden("full", "."); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// The disk is full when the run has ended. The report is printed, the run goes to another folder, and no part of it
// stays in its directory.
func TestDiskFull(t *testing.T) {
	smallFile(t)
	mounted(t, "full", "-t", "tmpfs", "-o", "size=280k", "none")
	mounted(t, "tmp", "-t", "tmpfs", "-o", "size=64k", "none")
	cache, _ := filepath.Abs("cache")
	tmp, _ := filepath.Abs("tmp")
	t.Setenv("TMPDIR", tmp) // full as well
	t.Setenv("XDG_CACHE_HOME", cache)
	args := []string{"run", "small.yaml", "--set", "workload.traffic.incast.bytes=20MB", "--capture",
		"seg-1-rail-1:Eth1", "--out", "full/run"}
	code, text, errs := call(t, args...)
	there := filepath.Join(cache, "railyard", "railyard-small-001")
	if code != 1 || !strings.Contains(text, "of line rate") || !strings.Contains(text, "Results: "+there) ||
		!strings.Contains(errs, "no space left") {
		t.Errorf("exit %d: %s%s", code, text, errs)
	}
	if s, err := whole(there); err != nil || !s.Complete {
		t.Errorf("%+v, %v", s, err)
	}
	if left, _ := os.ReadDir("full"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(tmp, "cache")) // and this: only the report is left
	if code, text, errs := call(t, args...); code != 1 || !strings.Contains(text, "of line rate") ||
		!strings.Contains(errs, "only its report is left") {
		t.Errorf("exit %d: %s%s", code, text, errs)
	}
	if code, text, _ := call(t, append(args, "--json")...); code != 1 ||
		!strings.Contains(text, `"step_time_ps"`) {
		t.Errorf("exit %d: %s", code, text)
	}
}

// Whatever other file cannot be written, the results are still printed, and the exit code shows the error.
func TestPrintedThoughNotWritten(t *testing.T) {
	smallFile(t)
	mounted(t, "full", "-t", "tmpfs", "-o", "size=8k", "none")
	os.WriteFile("full/x", make([]byte, 8192), 0o644)
	mounted(t, "tight", "-t", "tmpfs", "-o", "size=8k", "none")
	for want, args := range map[string][]string{
		"per GPU":      {"plan", "fabric", "--gpus", "64", "--out", "full"},
		"8 ranks":      {"plan", "traffic", "small.yaml", "--parquet", "full/t.parquet"},
		"of the pairs": {"plan", "traffic", "small.yaml", "--plot", "full/t.png"},
		"rows)":        {"validate", "sizing", "--markdown", "full/v.md"},
		"simulations":  {"config", "tune", "small.yaml", "--trials", "2", "--out", "tight", "--study", "trials"},
	} {
		code, out, errs := call(t, args...)
		if code != 1 || !strings.Contains(out, want) || !strings.Contains(errs, "no space left") {
			t.Errorf("%v: exit %d: %s%s", args, code, out, errs)
		}
	}
	if left := hidden("full", "tight"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Of several runs with one --out one gets it; the others report an error before they simulate.
func TestOneOut(t *testing.T) {
	smallFile(t)
	const runs = 4
	var wg sync.WaitGroup
	var simulating, wrote, refused atomic.Int32
	others := make(chan struct{}) // closed when all but one have ended
	ended := sync.OnceFunc(func() { close(others) })
	for range runs {
		wg.Go(func() {
			var text, errs strings.Builder
			e := newHurried(&text, &errs, 1, func(line string) {
				if !isProgress(line) {
					return
				}
				if simulating.Add(1) > 1 {
					t.Error("two simulate for one directory")
					ended()
				}
				<-others // the simulating run has the directory until then
			}).env()
			e.guest = true
			code := e.main([]string{"run", "small.yaml", "--set", "workload.traffic.incast.bytes=200MB",
				"--out", "run"})
			switch {
			case code == 0 && strings.Contains(text.String(), "Results: run "):
				wrote.Add(1)
				return
			case code == 2 && text.String() == "" && strings.Contains(errs.String(), "another run"):
			default:
				t.Errorf("exit %d: %s%s", code, &text, &errs)
			}
			if refused.Add(1) == runs-1 {
				ended()
			}
		})
	}
	wg.Wait()
	if wrote.Load() != 1 || refused.Load() != runs-1 {
		t.Errorf("%d written, %d refused", wrote.Load(), refused.Load())
	}
	if left := hidden("."); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A file that a command was writing when it was killed, or could not write, leaves no file, neither under its name
// nor under another. An existing one stays until the new one is complete.
func TestFilesWhole(t *testing.T) {
	t.Chdir(t.TempDir())
	mounted(t, "full", "-t", "tmpfs", "-o", "size=64k", "none")
	for _, dir := range []string{".", "full"} {
		path := filepath.Join(dir, "x.png")
		os.WriteFile(path, []byte("old"), 0o644)
		f, err := output.Create(path, true) // killed here
		if err != nil {
			t.Fatal(err)
		}
		f.Write([]byte("half"))
		if left := hidden(dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		f.Close()
	}
	if err := output.WriteBytes("full/x.png", true, make([]byte, 1<<20)); err == nil ||
		!strings.Contains(err.Error(), "no space left") {
		t.Error(err)
	}
	if b, _ := os.ReadFile("full/x.png"); string(b) != "old" || len(hidden("full")) > 0 {
		t.Errorf("%q, %v", b, hidden("full"))
	}
	if err := output.WriteBytes("x.png", false, nil); err == nil {
		t.Error("replaced without force")
	}
	if err := output.WriteBytes("x.png", true, []byte("new")); err != nil {
		t.Error(err)
	}
	f, _ := output.Create("y.png", false)
	os.WriteFile("y.png", []byte("theirs"), 0o644) // comes meanwhile
	if err := f.Keep(); err == nil || len(hidden(".")) > 0 {
		t.Errorf("%v, %v", err, hidden("."))
	}
	x, _ := os.ReadFile("x.png")
	y, _ := os.ReadFile("y.png")
	if st, err := os.Stat("x.png"); err != nil || st.Mode().Perm() != 0o644 || string(x) != "new" ||
		string(y) != "theirs" {
		t.Errorf("%q %q %v", x, y, err)
	}
	if err := output.WriteBytes("/dev/null", true, []byte("x")); err != nil {
		t.Error(err)
	}
	if st, err := os.Stat("/dev/null"); err != nil || st.Mode().IsRegular() {
		t.Fatal("/dev/null is a file now")
	}
}

// A variant that fails is a column that says so; the others stay. A word that cannot be
// read is refused before anything is simulated.
func TestCompareKeeps(t *testing.T) {
	smallFile(t)
	lossy := "fabric.host_link.bit_error_rate=0,0.01"
	code, text, errs := call(t, "compare", "small.yaml", "--set", lossy, "--set", "transport.retries=1")
	if code != 1 || !strings.Contains(text, "failed") || !strings.Contains(text, "\nstep ") ||
		!strings.Contains(errs, "1 of 2 variants failed") {
		t.Errorf("exit %d: %s%s", code, text, errs)
	}
	if code, text, _ := call(t, "compare", "small.yaml", "--set", lossy, "--set", "transport.retries=1",
		"--json"); code != 1 || !strings.Contains(text, `"error"`) ||
		!strings.Contains(text, "step_time_ps") {
		t.Errorf("exit %d: %s", code, text)
	}
	for _, lb := range []string{"lb=ecmp,warp", "lb=warp"} { // among others and alone
		if code, text, errs := call(t, "compare", "small.yaml", "--set", lb); code != 2 || text != "" ||
			!strings.Contains(errs, "warp") {
			t.Errorf("%s: exit %d: %s%s", lb, code, text, errs)
		}
	}
}

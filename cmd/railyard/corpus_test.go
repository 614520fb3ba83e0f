package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/metrics"
	"strings"
	"syscall"
	"testing"
	"time"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/corpus.txt anew; the diff is the review")

// Limits of processor time, for any load on the host, and of memory for a bad input. Most take a millisecond.
const (
	corpusTime   = 20 * time.Second
	corpusMemory = 512 << 20
)

// Every line of testdata/corpus.txt that begins with $ is an invalid command line: a value out of range, a path
// that is no file, a text that is no scenario. The exit code and the beginning of the output follow, one line for
// each error. $S is the folder of shipped scenarios, and $D one with the files of corpus_files_test.go.
func TestCorpus(t *testing.T) {
	const golden = "testdata/corpus.txt"
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	place, err := filepath.Abs(golden)
	if err != nil {
		t.Fatal(err)
	}
	folder, shipped := t.TempDir(), scenarios(t)
	for _, sub := range []string{"files", "here"} {
		if err := os.Mkdir(filepath.Join(folder, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	corpusFiles(t, filepath.Join(folder, "files"))
	t.Chdir(filepath.Join(folder, "here"))
	// no message depends on the length of a folder's name
	short := strings.NewReplacer("../files", "$D", shipped, "$S")
	long := strings.NewReplacer("$D", "../files", "$S", shipped)
	var out strings.Builder
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	count := 0
	for i, line := range lines {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			if line == "" || line[0] == '#' {
				fmt.Fprintln(&out, line)
			}
			continue
		}
		count++
		var got string
		t.Run(command, func(t *testing.T) { // a command that never ends is named when the tests' time is over
			got = refused(t, command, strings.Fields(long.Replace(command)), short)
		})
		fmt.Fprintf(&out, "%s\n%s\n", line, got)
		if i+1 < len(lines) && lines[i+1] != got && !*rewrite {
			t.Errorf("%s\n got %s\nwant %s", command, got, lines[i+1])
		}
	}
	if count < 300 {
		t.Errorf("%d inputs, at least 300 are kept", count)
	}
	if left, _ := os.ReadDir("."); len(left) > 0 {
		t.Errorf("bad input left %v behind", left)
	}
	if *rewrite {
		if err := os.WriteFile(place, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// manyWords is a list of four words or more that would be accepted.
var manyWords = regexp.MustCompile(`(accepted: |there are )([^,\n]+, ){3}[^\n]+`)

// refused runs an invalid command line and returns its exit code and message.
func refused(t *testing.T, name string, args []string, short *strings.Replacer) string {
	var before, after syscall.Rusage
	held := allocated()
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call(t, args...)
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
		t.Fatal(err)
	}
	took := time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
	if held = allocated() - held; took > corpusTime || held > corpusMemory {
		t.Errorf("%s: took %v of a processor and %d MB", name, took, held>>20)
	}
	text, _, _ := strings.Cut(errs, "\n  all commands")
	text = strings.TrimSuffix(short.Replace(text), "\n")
	text = manyWords.ReplaceAllString(text, "$1...") // registries grow
	lines := 1 + strings.Count(text, "\n")           // one line, or one for each error
	if code == 0 || lines > 11 || text == "" || len(text) > 600*lines || strings.Contains(text, "goroutine") {
		t.Errorf("%s: exit %d, stdout %.200q, stderr %.600q", name, code, out, text)
	}
	if len(text) > 100 { // the position and the error; the wording may change
		text = text[:100] + "..."
	}
	return fmt.Sprintf("%d %s", code, strings.ReplaceAll(text, "\n", " / "))
}

// allocated returns how many bytes were ever allocated.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

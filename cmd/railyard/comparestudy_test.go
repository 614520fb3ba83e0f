package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"railyard/internal/long"
)

// Killed before any change to a file, a comparison goes on from its directory: the output is that of a comparison that
// nobody disturbed, and no trial that has a record is simulated again. RAILYARD_LONG=1 tries all changes.
func TestKilledCompare(t *testing.T) {
	smallFile(t)
	plain := []string{"compare", "small.yaml", "--set", "lb=ecmp,spray", "--seeds", "3"}
	again := append(plain, "--study", "killed")
	_, want, _ := call(t, plain...)
	journal := func() []byte { b, _ := os.ReadFile("killed/trials.jsonl"); return b }
	changes := len(killedAt(t, 0, railyard(again...)))
	if changes < 8 || bytes.Count(journal(), []byte("\n")) != 6 {
		t.Fatalf("%d changes to files, %d trials", changes, bytes.Count(journal(), []byte("\n")))
	}
	for n := 1; n <= changes; n++ {
		if !long.On() && n%3 != 1 {
			continue
		}
		if err := os.RemoveAll("killed"); err != nil {
			t.Fatal(err)
		}
		killedAt(t, n, railyard(again...))
		had := journal()
		code, out, errs := call(t, again...)
		has := journal()
		if code != 0 || out != want || !bytes.HasPrefix(has, had[:bytes.LastIndexByte(had, '\n')+1]) ||
			bytes.Count(has, []byte("\n")) != 6 {
			t.Fatalf("killed before change %d of %d: exit %d, %s%s", n, changes, code, out, errs)
		}
	}
}

// A comparison is simulated by workers as well, with the output of one that is simulated here.
func TestCompareWorkers(t *testing.T) {
	smallFile(t)
	plain := []string{"compare", "small.yaml", "--set", "lb=ecmp,spray", "--seeds", "2", "--json"}
	_, want, _ := call(t, plain...)
	code, out, errs := call(t, append(plain, "--study", "c", "--listen", "127.0.0.1:0")...)
	if code != 0 || out != want {
		t.Errorf("exit %d, %s; output differs: %v", code, errs, out != want)
	}
}

// A directory of another study, and an engine without a directory, its tool or its server, are one clear error.
func TestCompareStudyRefused(t *testing.T) {
	smallFile(t)
	t.Setenv("PATH", t.TempDir())
	compare := []string{"compare", "small.yaml", "--set", "lb=ecmp,spray"}
	if code, _, errs := call(t, append(compare, "--study", "c")...); code != 0 {
		t.Fatal(errs)
	}
	if code, _, errs := call(t, "sweep", "small.yaml", "--grid", "lb=ecmp,spray", "--out", "s"); code != 0 {
		t.Fatal(errs)
	}
	b, _ := os.ReadFile("small.yaml")
	os.WriteFile("other.yaml", append(b, "# another\n"...), 0o644)
	os.Mkdir("files", 0o755)
	os.WriteFile("files/notes.txt", nil, 0o644)
	for args, want := range map[string]string{
		"compare small.yaml --set lb=ecmp,flowlet --study c":     "c holds a study of other scenarios, values, seeds or version; accepted: another --study",
		"compare other.yaml --set lb=ecmp,spray --study c":       "c holds a study of other scenarios",
		"compare small.yaml --set lb=ecmp,spray --study s":       "s holds a study of railyard sweep, found railyard compare; accepted: another --study",
		"compare small.yaml --set lb=ecmp --study files":         "files holds files but no study; choose another --study",
		"compare small.yaml --engine slurm":                      "--engine: slurm has no effect without --study",
		"compare small.yaml --listen 127.0.0.1:0":                "--listen: has no effect without --study",
		"compare small.yaml --study n --engine slurm":            "sbatch",
		"compare small.yaml --study k --engine kubernetes":       "--image: the image of pods is missing",
		"compare small.yaml --study m --nats nats://127.0.0.1:1": `--nats: "nats://127.0.0.1:1" cannot be reached`,
		"compare small.yaml --study p --png plots":               "--study: has no effect with --png",
		"sweep small.yaml --grid lb=ecmp,spray --out c":          "c holds a study of railyard compare; choose another --out",
		"sweep show c":          "c holds a study of railyard compare; the same command with --study resumes it",
		"sweep merge c --out w": "c holds a study of railyard compare, which has no shards",
	} {
		code, out, errs := call(t, strings.Fields(args)...)
		if code == 0 || !strings.Contains(errs, want) || strings.Count(errs, "error: ") != 1 {
			t.Errorf("%s: exit %d, %s%s", args, code, out, errs)
		}
	}
}

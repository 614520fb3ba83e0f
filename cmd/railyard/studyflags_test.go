package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"railyard/internal/long"
)

// studies are commands whose simulations a directory stores, each with its minimum number.
var studies = []struct {
	args string
	runs int
}{
	{"compare small.yaml --set lb=ecmp,spray --seeds 2 --json", 4},
	{"plan failures small.yaml --kinds link,switch", 4},
	{"plan load load.yaml --loads 5,20 --lb ecmp,spray", 4},
	{"plan interference jobs.yaml", 3},
	{"config tune small.yaml --trials 4 --out tune", 5},
	{"plan search gpt3-125m --fabric train.yaml --global-batch 4 --sequence 128 --simulate 2", 2},
	{"calibrate --fabric cluster.yaml --nccl-tests nccl.txt --fit launch --aside 0 --largest 1MiB", 4},
}

// studyFiles changes to a new folder and writes the scenarios of studies there.
func studyFiles(t *testing.T) {
	t.Helper()
	smallFile(t)
	fabric, _, _ := strings.Cut(small, "workload:")
	for name, text := range map[string]string{
		"other.yaml":   small + "# another\n",
		"load.yaml":    fabric + "workload: {traffic: {background: {load: 10, sizes: 16KB, for: 200us}}}\n",
		"jobs.yaml":    fabric + "jobs:\n" + job("a", 0, 2) + job("b", 1, 3),
		"train.yaml":   fabric + "workload: {traffic: {alltoall: {bytes: 1KB}}}\n",
		"cluster.yaml": measuredCluster, "nccl.txt": ncclTests,
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// job is a job of two servers that exchange all their data.
func job(name string, first, second int) string {
	host := []string{"host-1", "host-2", "host-3", "host-4"}
	return "- {name: " + name + ", on: [" + host[first] + ", " + host[second] + "], traffic: {alltoall: {bytes: 1MB}}}\n"
}

// Killed before any change to a file, a study continues from its directory. The output is that of an undisturbed
// study, and no simulation with a record is repeated. With --force all are repeated. RAILYARD_LONG=1 tries all
// changes.
func TestKilledStudies(t *testing.T) {
	studyFiles(t)
	records := func() []byte { b, _ := os.ReadFile("killed/trials.jsonl"); return b }
	for _, x := range studies {
		plain := strings.Fields(x.args)
		again := append(plain, "--study", "killed")
		code, want, errs := call(t, plain...)
		if code != 0 {
			t.Fatalf("%s: exit %d, %s", x.args, code, errs)
		}
		os.RemoveAll("killed")
		changes := len(killedAt(t, 0, railyard(again...)))
		runs := bytes.Count(records(), []byte("\n"))
		if changes < 6 || runs < x.runs {
			t.Fatalf("%s: %d changes to files, %d simulations", x.args, changes, runs)
		}
		for n := 1; n <= changes; n++ {
			if !long.On() && n != 4 && n != changes/2 {
				continue
			}
			os.RemoveAll("killed")
			killedAt(t, n, railyard(again...))
			had := records()
			code, out, errs := call(t, again...)
			if has := records(); code != 0 || out != want || bytes.Count(has, []byte("\n")) != runs ||
				!bytes.HasPrefix(has, had[:bytes.LastIndexByte(had, '\n')+1]) {
				t.Fatalf("%s killed before change %d of %d: exit %d, %s%s", x.args, n, changes, code, out, errs)
			}
		}
		os.WriteFile("killed/trials.jsonl", nil, 0o644)
		if code, out, errs := call(t, append(again, "--force")...); code != 0 || out != want ||
			bytes.Count(records(), []byte("\n")) != runs {
			t.Errorf("%s --force: exit %d, %s", x.args, code, errs)
		}
	}
}

// Workers simulate a study to the output of one process.
func TestStudyWorkers(t *testing.T) {
	studyFiles(t)
	for _, x := range studies {
		_, want, _ := call(t, strings.Fields(x.args)...)
		os.RemoveAll("workers")
		code, out, errs := call(t, append(strings.Fields(x.args), "--study", "workers", "--listen", "127.0.0.1:0")...)
		if code != 0 || out != want {
			t.Errorf("%s: exit %d, %s\n%s\nfound\n%s", x.args, code, errs, want, out)
		}
	}
}

// A study of the same scenario reuses the simulations that it shares with the previous one. A directory of another
// study, and an engine without a directory, its tool or its server, are one clear error.
func TestStudyRefused(t *testing.T) {
	studyFiles(t)
	t.Setenv("PATH", t.TempDir())
	for _, args := range []string{"compare small.yaml --set lb=ecmp,spray --study c",
		"compare small.yaml --set lb=ecmp,flowlet --study c", "sweep small.yaml --grid lb=ecmp,spray --out s",
		"plan failures small.yaml --kinds switch --study f"} {
		if code, _, errs := call(t, strings.Fields(args)...); code != 0 {
			t.Fatal(args, errs)
		}
	}
	if b, _ := os.ReadFile("c/trials.jsonl"); bytes.Count(b, []byte("\n")) != 3 {
		t.Errorf("%d simulations, want 3", bytes.Count(b, []byte("\n")))
	}
	os.Mkdir("files", 0o755)
	os.WriteFile("files/notes.txt", nil, 0o644)
	const accepted = "; accepted: --force to begin anew, another --study"
	for args, want := range map[string]string{
		"compare other.yaml --set lb=ecmp,spray --study c":                                         "c holds a study of small.yaml, found other.yaml" + accepted,
		"plan failures other.yaml --study f":                                                       "f holds a study of small.yaml, found other.yaml" + accepted,
		"compare small.yaml --set lb=ecmp,spray --study s":                                         "s holds a study of railyard sweep, found railyard compare" + accepted,
		"plan interference jobs.yaml --study f":                                                    "f holds a study of railyard plan failures, found railyard plan interference" + accepted,
		"compare small.yaml --set lb=ecmp --study files":                                           "files holds files but no study; choose another --study",
		"compare small.yaml --engine slurm":                                                        "--engine: slurm has no effect without --study",
		"plan load load.yaml --listen 127.0.0.1:0":                                                 "--listen: has no effect without --study",
		"plan interference jobs.yaml --listen 127.0.0.1:0":                                         "--listen: has no effect without --study",
		"compare small.yaml --study n --engine slurm":                                              "sbatch",
		"compare small.yaml --study k --engine kubernetes":                                         "--image: the image of pods is missing",
		"plan failures small.yaml --study m --nats nats://127.0.0.1:1":                             `--nats: "nats://127.0.0.1:1" cannot be reached`,
		"compare small.yaml --study p --png plots":                                                 "--study: has no effect with --png",
		"plan search gpt3-125m --fabric train.yaml --simulate 1 --study f":                         "f holds a study of railyard plan failures, found railyard plan search",
		"sweep small.yaml --grid lb=ecmp,spray --out c":                                            "c holds a study of railyard compare; choose another --out",
		"sweep small.yaml --grid lb=ecmp,spray --out n --engine slurm":                             "--engine: slurm needs sbatch",
		"sweep small.yaml --grid lb=ecmp,spray --out n --engine kubernetes":                        "--image: the image of pods is missing",
		"sweep small.yaml --grid lb=ecmp,spray --out n --nats nats://127.0.0.1:1":                  `--nats: "nats://127.0.0.1:1" cannot be reached`,
		"sweep small.yaml --grid lb=ecmp,spray --out n --reuse m":                                  "--reuse: m holds no study (study.json)",
		"sweep small.yaml --grid lb=ecmp,spray --out n --add":                                      "--add: n holds no study (study.json)",
		"sweep small.yaml --grid lb=ecmp,spray --out n --sampler lhc":                              "--sample: the number of points is missing, which the sampler lhc needs",
		"sweep small.yaml --grid lb=ecmp,spray --out n --listen 127.0.0.1:0 --tls-cert small.yaml": "--tls-key: the key of --tls-cert is missing",
		"sweep small.yaml --grid lb=ecmp,spray --out n --listen 127.0.0.1:0 --token-file m":        "--token-file: m: no such file or directory",
		"sweep show c":          "c holds a study of railyard compare; the same command with --study resumes it and prints its results",
		"sweep merge c --out w": "c holds a study of railyard compare, which has no shards",
	} {
		code, out, errs := call(t, strings.Fields(args)...)
		if code == 0 || !strings.Contains(errs, want) || strings.Count(errs, "error: ") != 1 ||
			strings.Contains(errs, "warning: ") {
			t.Errorf("%s: exit %d, %s%s", args, code, out, errs)
		}
	}
	for _, dir := range []string{"n", "k", "m"} {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("a refused study leaves %s", dir)
		}
	}
	os.WriteFile("small.yaml", []byte(small+"# changed\n"), 0o644)
	if _, _, errs := call(t, "compare", "small.yaml", "--study", "c"); !strings.Contains(errs, "c holds a study of small.yaml as it was before a change"+accepted) {
		t.Error(errs)
	}
}

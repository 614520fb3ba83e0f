package batch

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/output"
	"railyard/internal/study/sweep"

	"github.com/goccy/go-yaml"
)

// Kubernetes is a sweep.Engine that writes an indexed Job and collects its records from a volume.
type Kubernetes struct {
	Folder
	Pods
	Apply bool // whether kubectl applies them; otherwise the user does
	Say   func(words string)
}

// Pods describes the pods of a Job.
type Pods struct {
	Image string
	Parts int
	Claim string // persistent volume claim with the study's directory
	Mount string // absolute path of the volume, here as in the pods
}

// ParsePart reads --part: K/N, or index/N in a pod of an indexed Job, which counts from 0.
func ParsePart(text string) (sweep.Shard, error) {
	if n, ok := strings.CutPrefix(text, "index/"); ok {
		k, err := strconv.Atoi(os.Getenv("JOB_COMPLETION_INDEX"))
		if err != nil {
			return sweep.Shard{}, field.New("--part", "index/N needs JOB_COMPLETION_INDEX, which Kubernetes sets in indexed Jobs")
		}
		text = fmt.Sprintf("%d/%s", k+1, n)
	}
	part, err := sweep.ParseShard(text)
	return part, field.Under("--part", err)
}

// ParseVolume reads CLAIM:PATH.
func ParseVolume(s string) (claim, path string, err error) {
	claim, path, ok := strings.Cut(s, ":")
	if !ok || claim == "" || !filepath.IsAbs(path) {
		return "", "", field.New("", "%s is not a volume; accepted: CLAIM:PATH, with the absolute path of the volume here",
			field.Quote(s))
	}
	return claim, filepath.Clean(path), nil
}

// m is a mapping of a manifest in its order.
type m = yaml.MapSlice

// job returns the manifest of a Job whose pods run this program with arguments.
func (p *Pods) job(name string, args []string) ([]byte, error) {
	container := m{{Key: "name", Value: "trials"}, {Key: "image", Value: p.Image},
		{Key: "command", Value: append([]string{"railyard"}, args...)}}
	pod := m{{Key: "restartPolicy", Value: "Never"}}
	if p.Claim != "" {
		container = append(container, yaml.MapItem{Key: "volumeMounts",
			Value: []m{{{Key: "name", Value: "study"}, {Key: "mountPath", Value: p.Mount}}}})
		pod = append(pod, yaml.MapItem{Key: "volumes", Value: []m{{{Key: "name", Value: "study"},
			{Key: "persistentVolumeClaim", Value: m{{Key: "claimName", Value: p.Claim}}}}}})
	} else {
		secret := m{{Key: "name", Value: "railyard-nats"}, {Key: "key", Value: "token"}, {Key: "optional", Value: true}}
		container = append(container, yaml.MapItem{Key: "env", Value: []m{{{Key: "name", Value: tokenName},
			{Key: "valueFrom", Value: m{{Key: "secretKeyRef", Value: secret}}}}}})
	}
	pod = append(pod, yaml.MapItem{Key: "containers", Value: []m{container}})
	return yaml.Marshal(m{{Key: "apiVersion", Value: "batch/v1"}, {Key: "kind", Value: "Job"},
		{Key: "metadata", Value: m{{Key: "name", Value: name},
			{Key: "labels", Value: m{{Key: "app.kubernetes.io/name", Value: "railyard"}}}}},
		{Key: "spec", Value: m{{Key: "completions", Value: p.Parts}, {Key: "parallelism", Value: p.Parts},
			{Key: "completionMode", Value: "Indexed"}, {Key: "backoffLimitPerIndex", Value: 3},
			{Key: "template", Value: m{{Key: "spec", Value: pod}}}}}})
}

// tokenName is the variable that workers read the server's token from.
const tokenName = "RAILYARD_NATS_TOKEN"

// WriteWorkers writes the manifest of a Job of workers for a NATS server, and returns its path.
func (p *Pods) WriteWorkers(s *sweep.Study, url string) (path string, err error) {
	text, err := p.job(kubeName(s.Dir, "workers"), []string{"worker", "--nats", url, "--idle", "5m"})
	path = filepath.Join(s.Dir, "workers.yaml")
	if err == nil {
		err = output.WriteBytes(path, true, text)
	}
	return path, err
}

// kubeName names a Job by a study's directory, with a digest of its path, so that studies of one name differ in a
// namespace. It has letters, digits and dashes, at most 63.
func kubeName(dir, part string) string {
	full, err := filepath.Abs(dir)
	if err != nil {
		full = dir
	}
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return '-'
	}, strings.ToLower(filepath.Base(full)))
	digest := sha256.Sum256([]byte(full))
	return strings.Trim(fmt.Sprintf("railyard-%s-%.3x-%s", name[:min(len(name), 34)], digest[:3], part), "-")
}

// Simulate writes a Job for the trials without a record and optionally applies it. It collects records until none
// is missing or the applied Job has ended.
func (e *Kubernetes) Simulate(ctx context.Context, s *sweep.Study, trials []*sweep.Trial) error {
	full, err := filepath.Abs(e.Dir)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(e.Mount, full); err != nil || strings.HasPrefix(rel, "..") {
		return field.New("--volume", "%s is not in the volume at %s; accepted: --out below it", field.Quote(s.Dir), e.Mount)
	}
	j, err := e.begin(s, trials)
	if err != nil || len(j.open) == 0 {
		return err
	}
	name, err := e.write(s, j.left(trials))
	if err != nil {
		return err
	}
	w := work{ended: func() bool { return false }, cancel: func() {}}
	if e.Apply {
		w = work{ended: func() bool { return jobEnded(name) },
			cancel: func() { _ = exec.Command("kubectl", "delete", "job", name, "--wait=false").Run() },
			why:    fmt.Errorf("job %s ended without it (kubectl logs job/%s)", name, name)}
	}
	return j.follow(ctx, w)
}

// write writes a round with its Job for trials, and applies it.
func (e *Kubernetes) write(s *sweep.Study, left []*sweep.Trial) (name string, err error) {
	round, err := e.Put(s, left)
	if err == nil {
		round, err = filepath.Abs(round)
	}
	if err != nil {
		return "", err
	}
	pods := e.Pods
	pods.Parts = min(e.Parts, len(left))
	name = kubeName(s.Dir, filepath.Base(round))
	text, err := pods.job(name, []string{"worker", "--tasks", round, "--part", fmt.Sprintf("index/%d", pods.Parts)})
	path := filepath.Join(round, "job.yaml")
	if err == nil {
		err = output.WriteBytes(path, true, text)
	}
	if err != nil {
		return "", err
	}
	if !e.Apply {
		e.Say("waiting for the records of: kubectl apply -f " + path)
		return name, nil
	}
	if err := Apply(path); err != nil {
		return "", err
	}
	e.Say(fmt.Sprintf("job %s: %d pods", name, pods.Parts))
	return name, nil
}

// Apply creates the Job of a manifest by kubectl.
func Apply(path string) error {
	if err := needs("kubernetes with --apply", "kubectl", exec.LookPath); err != nil {
		return err
	}
	said, err := exec.Command("kubectl", "apply", "-f", path).CombinedOutput()
	if err != nil {
		return fmt.Errorf("kubectl apply: %s", strings.TrimSpace(string(said)))
	}
	return nil
}

// jobEnded reports whether a Job has completed or failed.
func jobEnded(name string) bool {
	said, err := exec.Command("kubectl", "get", "job", name, "-o",
		"jsonpath={.status.conditions[?(@.status==\"True\")].type}").CombinedOutput()
	if err != nil {
		return strings.Contains(string(said), "NotFound")
	}
	return strings.Contains(string(said), "Complete") || strings.Contains(string(said), "Failed")
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Impossible numbers of ranks are rejected where they are set, not treated as unset.
func TestRanksOutOfRange(t *testing.T) {
	for args, want := range map[string]string{
		"rdma allreduce --ranks=0":  "--ranks: 0 is out of range 1–1024",
		"rdma allreduce --ranks=-1": "--ranks: -1 is out of range 1–1024",
		"rdma allreduce --rank=-1":  "--rank: -1 is out of range 0–1023",
	} {
		if code, _, errs := call(t, strings.Fields(args)...); code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d: %s", args, code, errs)
		}
	}
}

// Files included by slurm.conf are read from its own folder. Files elsewhere are neither read nor quoted.
func TestSlurmIncludes(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"secret": "root:x:0:0\n", "in/nodes.conf": "NodeName=n[1-2] Gres=gpu:8 CPUs=64\n",
		"job.sh": "#!/bin/bash\n#SBATCH -N2\nsrun hostname\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "secret"), filepath.Join(dir, "in", "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../secret", filepath.Join(dir, "secret"), "link"} {
		conf := filepath.Join(dir, "in", "slurm.conf")
		text := "Include " + name + "\nInclude nodes.conf\nPartitionName=p Nodes=ALL\n"
		if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, out, errs := call(t, "submit", filepath.Join(dir, "job.sh"), "--slurm-conf", conf, "--dry-run")
		if strings.Contains(out+errs, "root") || !strings.Contains(out, "2 processes on 2 nodes of 2") {
			t.Errorf("%s: %s%s", name, out, errs)
		}
	}
}

// A fault that quotes a long text is cut.
func TestLongFault(t *testing.T) {
	var b strings.Builder
	complain(&b, strings.Repeat("x", 5000), false)
	if n := len([]rune(b.String())); n > 1600 || !strings.Contains(b.String(), "3500 characters more") {
		t.Error(n, b.String()[:100])
	}
}

package jobscript

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"railyard/internal/slurm"
	"railyard/internal/story"
	"railyard/scenarios"

	"pgregory.net/rapid"
)

// cluster is 16 servers with 8 GPUs.
func cluster() *slurm.Cluster {
	c := &slurm.Cluster{}
	for i := range 16 {
		c.Add(slurm.Node{Name: fmt.Sprintf("n%d", i+1), GPUs: 8})
	}
	return c
}

// beside are the files in the folder of every script of a test.
var beside = map[string]string{
	"train.sh": "#!/bin/bash\nset -e\nexec python train.py --model_name_or_path $1 " +
		"--per_device_train_batch_size 2 \"${@:2}\"\n",
	"env.sh": "export NCCL_IB_HCA=mlx5_0,mlx5_1\nTP=4\n",
	"ds.json": `{"zero_optimization": {"stage": 3}, "train_micro_batch_size_per_gpu": 4,
		"steps_per_print": 9}`,
	"loop.sh": "bash loop.sh\n",
}

func readBeside(name string) ([]byte, error) {
	if s, ok := beside[name]; ok {
		return []byte(s), nil
	}
	return nil, errors.New("is not there")
}

// follow describes the contents of a script. Its first line may have options of sbatch.
func follow(in string) string {
	var more []string
	if first, rest, ok := strings.Cut(in, "\n"); ok && strings.HasPrefix(first, "sbatch ") {
		more, in = strings.Fields(first)[1:], rest
	}
	s, err := Read("job", []byte("#!/bin/bash\n"+in), more)
	if err == nil {
		err = s.Job.Check()
	}
	if err != nil {
		return err.Error()
	}
	a, err := cluster().Allocate(s.Job)
	if err != nil {
		return err.Error()
	}
	f := s.Walk(Environment{Variables: a.Batch(s.Job, "job"), Nodes: a.Names(), Read: readBeside})
	var b strings.Builder
	if err := tell(&b, s, a, f); err != nil {
		fmt.Fprintln(&b, err)
	}
	for _, n := range append(s.Job.Notes, append(s.Notes, f.Notes...)...) {
		fmt.Fprintf(&b, "note %d: %s\n", n.At.Line, n.Text)
	}
	return b.String()
}

// tell describes the job's program and its settings.
func tell(b *strings.Builder, s *Script, a *slurm.Allocation, f *Found) error {
	l := f.Main()
	if l == nil {
		return errors.New("nothing is started")
	}
	fmt.Fprintf(b, "%d: %s > %s", l.At.Line, strings.Join(l.By, " > "), slurm.Open(l.Program))
	w, err := l.Work(f.File)
	if err != nil {
		return errors.Join(errors.New(""), err)
	}
	c, err := l.Crew(a, s.Job, "job", w.Each)
	if err != nil {
		return errors.Join(errors.New(""), err)
	}
	fmt.Fprintf(b, ", %d processes on %s\n", len(c.Processes), slurm.Fold(a.Names()))
	last := &c.Processes[len(c.Processes)-1]
	fmt.Fprintf(b, "the last on %s, GPU %d:", c.Host(last), last.GPU)
	for _, v := range c.Environment(last) {
		if !strings.HasPrefix(v.Name, "SLURM") {
			fmt.Fprintf(b, " %s=%s", v.Name, v.Value)
		}
	}
	b.WriteString("\n")
	if w.Collective != "" {
		fmt.Fprintf(b, "%s of %v; %s\n", w.Collective, w.Bytes, w.Note)
		return nil
	}
	t, err := w.Said.Training(len(c.Processes))
	for _, n := range w.Said.Notes {
		fmt.Fprintf(b, "note %d: %s\n", n.At.Line, n.Text)
	}
	if err != nil || t == nil {
		return err
	}
	b.WriteString(t.Shape.Name + string(t.Shape.Config) + ":")
	for _, e := range t.Entries {
		fmt.Fprintf(b, " %s %s", e.Key, e.Value)
		if e.Said {
			fmt.Fprintf(b, " (%s %d)", e.Name, e.At.Line)
		}
	}
	b.WriteString("\n")
	return nil
}

// The scripts are like those that people write. They are read without running any command. The line of #!/bin/bash
// is the first.
func TestScripts(t *testing.T) { story.Cases(t, "scripts", follow) }

// The shipped script is one that is read without a note.
func TestShipped(t *testing.T) {
	for name, text := range scenarios.Scripts() {
		s, err := Read(name, []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Job.Check(); err != nil {
			t.Fatal(err)
		}
		a, err := cluster().Allocate(s.Job)
		if err != nil {
			t.Fatal(err)
		}
		f := s.Walk(Environment{Variables: a.Batch(s.Job, "job"), Nodes: a.Names()})
		if len(s.Notes)+len(s.Job.Notes)+len(f.Notes) > 0 || f.Main() == nil {
			t.Errorf("%s: %v %v %v", name, s.Notes, s.Job.Notes, f.Notes)
		}
	}
}

// For any text as a script, reading is fast, its memory is bounded, and it does not panic.
func TestHostile(t *testing.T) {
	for name, text := range map[string]string{
		"binary": "\x7fELF\x01\x02\x00\x00", "long": strings.Repeat("echo x\n", 20_000_000/7),
		"latin1": "#!/bin/sh\n# caf\xe9\n", "empty": "", "no shebang": "srun x\n",
		"python": "#!/usr/bin/env python\nprint(1)\n", "private": "#!/bin/sh\necho \ue000X\ue001\n",
		"quote": "#!/bin/sh\necho 'x\n", "directive quote": "#!/bin/sh\n#SBATCH -J 'x\n",
		"brackets": "#!/bin/sh\n" + strings.Repeat("$(", 100_000), "braces": "#!/bin/sh\n" +
			strings.Repeat("{ ", 100_000), "ifs": "#!/bin/sh\n" + strings.Repeat("if ", 80_000),
		"not": "#!/bin/sh\n[[ " + strings.Repeat("! ", 100_000) + "]]\n",
	} {
		_, err := Read("job", []byte(text), nil)
		if err == nil {
			t.Errorf("%s: is read", name)
			continue
		}
		if s := err.Error(); len(s) > 300 || !strings.HasPrefix(s, "job") {
			t.Errorf("%s: %s", name, s)
		}
	}
	doubling := "a=xxxxxxxx\n" + strings.Repeat("a=$a$a\n", 60)
	for name, text := range map[string]string{
		"doubling": doubling + "srun python $a\n", "sequence": "srun echo {1..1000000000}\n",
		"replace": doubling + "b=${a//x/$a}\nb=${b//x/$b}\nsrun python $b\n", "itself": "f() { f; f; }\nf\n",
		"loops": "for a in " + strings.Repeat("x ", 2000) + "; do for b in " + strings.Repeat("y ", 2000) +
			"; do for c in $b $b; do srun $a; done; done; done\n", "forever": "while true; do srun x; " +
			"done\n",
		"eval": "a='eval \"$a\"'\neval \"$a\"\n", "script": "bash loop.sh\n",
		"substitution": strings.Repeat("a=$(echo $a$a)\n", 50), "array": "a[999999999]=1\nsrun ${a[@]}\n",
		"arithmetic": "srun $((1/0)) $((2**63)) $((x=1)) $(( 08 ))\n", "home": "srun ~nobody/x\n",
		"args": "A=(" + strings.Repeat("x ", 100_000) + ")\nfor i in 1 2 3; do srun p \"${A[@]}\"; done\n",
	} {
		began := spent()
		s, err := Read("job", []byte("#!/bin/bash\n"+text), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		f := s.Walk(Environment{Nodes: []string{"n1"}, Read: readBeside})
		if d := spent() - began; d > 5*time.Second || len(f.Notes) > maxNotes+8 {
			t.Errorf("%s: %v, %d notes", name, d, len(f.Notes))
		}
	}
}

// A script of any pieces is read or refused, and everything that is read has a place.
func TestAnyScript(t *testing.T) {
	pieces := []string{"srun ", "torchrun ", "python ", "$A", "${A:-b}", "${A[@]}", "$(hostname)", "`x`",
		"'", "\"",
		"\n", " ", "if [ -z $A ]; then ", "fi\n", "else ", "for i in a b; do ", "done\n", "A=(x y)\n",
		"A=1 ",
		"&& ", "|| ", "| ", "f() { ", "}\n", "f ", "case $A in x) ", ";; esac\n", "cat <<EOF > f\n", "EOF\n",
		"--nproc_per_node 8 ", "--num-layers 4 ", "train.py ", "bash -c ", "$((A+1)) ", "((A=2))\n",
		"\\\n", "# ",
		"[[ $A == x* ]] ", "export ", "mpirun -np 4 ", "./train.sh ", "source env.sh\n", "exit\n",
		"#SBATCH -N2\n"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 40).Draw(t, "pieces"), "")
		s, err := Read("job", []byte("#!/bin/bash\n"+text), nil)
		if err != nil {
			return
		}
		f := s.Walk(Environment{Nodes: []string{"n1", "n2"}, Read: readBeside})
		for i := range f.Launches {
			if l := &f.Launches[i]; l.At.File == "" {
				t.Fatalf("%q: %+v", text, l)
			}
		}
		if l := f.Main(); l != nil {
			l.Work(f.File)
		}
	})
}

// FuzzScript looks for texts that are neither read nor refused.
func FuzzScript(f *testing.F) {
	for _, text := range scenarios.Scripts() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Read("job", []byte(text), nil)
		if err != nil {
			return
		}
		found := s.Walk(Environment{Nodes: []string{"n1"}})
		if l := found.Main(); l != nil {
			if w, err := l.Work(found.File); err == nil && w.Collective == "" {
				w.Said.Training(8)
			}
		}
	})
}

// Files that describe a training are recognized, and others are not. A file that is cut anywhere is read or
// refused.
func TestArguments(t *testing.T) {
	for name, text := range map[string]string{
		"a.sh": "#!/bin/bash\ntorchrun --nproc_per_node 8 train.py --model_name_or_path llama-2-7b " +
			"--tp 2\n",
		"ds.json":    beside["ds.json"],
		"model.json": `{"model_type": "llama", "num_attention_heads": 32}`,
		"args.yaml": "num_layers: 4\nhidden_size: 512\nnum_attention_heads: " +
			"8\ntensor_model_parallel_size: 2\n",
		"test.yaml": "MODEL_ARGS:\n  --num-layers: 4\n  --micro-batch-size: 1\n",
		"pico.json": `{"distributed": {"tp_size": 2, "pp_size": 1},
			"model": {"name": "meta-llama/Llama-2-7b"}}`,
	} {
		kind := KindOf(name, []byte(text))
		if kind == "" {
			t.Errorf("%s is of no kind", name)
			continue
		}
		for cut := range len(text) {
			a, err := ReadArguments([]File{{Name: name, Kind: kind, Text: []byte(text[:cut])}}, 8,
				readBeside)
			if err == nil && a.Ranks < 1 {
				t.Errorf("%s up to %d: %d ranks", name, cut, a.Ranks)
			}
		}
	}
	for name, text := range map[string]string{"x.json": `{"traceEvents": []}`, "x.yaml": "name: " +
		"x\nfabric: {}\n",
		"x.txt": "num_layers: 4\ntp_size: 2\n", "x.sh": "#!/bin/sh\nls\n"} {
		if kind := KindOf(name, []byte(text)); kind != "" {
			t.Errorf("%s is taken for %s", name, kind)
		}
	}
	a, err := ReadArguments([]File{
		{Name: "cfg", Kind: "model-config", Text: []byte(`{"model_type": "gpt2", "n_embd": 512, "n_layer": 4,
			"n_head": 8, "vocab_size": 50257, "n_positions": 1024}`)},
		{Name: "ds", Kind: "deepspeed", Text: []byte(`{"train_batch_size": 64,
			"gradient_accumulation_steps": 2, "train_micro_batch_size_per_gpu": 4,
			"zero_optimization": {"stage": 1}}`)}}, 8, nil)
	if err != nil {
		t.Fatal(err)
	}
	if zero, _ := a.Find("zero"); a.Ranks != 8 || zero.Value != "1" || zero.At.Line != 3 {
		t.Errorf("%d ranks, %+v", a.Ranks, zero)
	}
}

// A callback gets every command with its words after expansion, through loops, functions, ranges and sh -c. It also
// gets the variables. A command that it supports counts as run, and files that tests ask for exist.
func TestCommandsAreTold(t *testing.T) {
	s, err := ReadShell("x.sh", []byte(`N=2
set_one() { tool -i "$1" --pfc 1 > /sys/"$1"; }
for i in {0..1}; do set_one eth$i; done
for i in $(seq 2 3); do sudo sh -c "tool eth$i"; done
if [ -d /sys/x ]; then tool there; fi
if ! tool a || ! tool b; then tool failed; fi
for i in {0..9999}; do tool $i; done
echo $(seq 1 100000) | tool
eval "tool evaluated"
`))
	if err != nil {
		t.Fatal(err)
	}
	var heard []string
	s.Walk(Environment{There: true, Sets: func(name, value string, at slurm.Place) {
		heard = append(heard, fmt.Sprintf("%d %s=%s", at.Line, name, value))
	}, Command: func(c Command) bool {
		var words []string
		for _, a := range c.Words {
			words = append(words, slurm.Open(a.Text))
		}
		if words[0] == "tool" {
			heard = append(heard, strings.TrimSpace(fmt.Sprintf("%d %s %s", c.Words[0].At.Line,
				strings.Join(words, " "),
				c.To)))
		}
		return words[0] == "tool"
	}})
	want := []string{"1 N=2", "2 tool -i eth0 --pfc 1 /sys/eth0", "2 tool -i eth1 --pfc 1 /sys/eth1",
		"4 tool eth2",
		"4 tool eth3", "5 tool there", "6 tool a", "6 tool b", "7 tool {0..9999}", "8 tool",
		"9 tool evaluated"}
	if !slices.Equal(heard, want) {
		t.Errorf("heard\n%s\nwant\n%s", strings.Join(heard, "\n"), strings.Join(want, "\n"))
	}
}

// An error about a part of a heterogeneous job names the line where the part begins. Steps for its later parts are
// named.
func TestHeterogeneous(t *testing.T) {
	for _, word := range []string{"hetjob", "packjob"} {
		_, err := Read("job", []byte("#!/bin/bash\n#SBATCH -N2\n#SBATCH "+word+"\n#SBATCH -N1\nsrun x\n"),
			nil)
		if err == nil || !strings.HasPrefix(err.Error(), "job:3:9: #SBATCH: "+word+" begins another part") {
			t.Errorf("%s: %v", word, err)
		}
	}
	for group, starts := range map[string]bool{"0": true, "1": false, "0,1": false} {
		s, err := Read("job", []byte("#!/bin/bash\n#SBATCH -N2\nsrun --het-group="+group+" x\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		f := s.Walk(Environment{Nodes: []string{"n1", "n2"}, Read: readBeside})
		named := slices.ContainsFunc(f.Notes, func(n slurm.Note) bool {
			return n.At.Line == 3 && strings.Contains(n.Text, "heterogeneous jobs are not read; accepted: 0")
		})
		if (len(f.Launches) == 1) != starts || named == starts {
			t.Errorf("--het-group=%s: %d launches, %v", group, len(f.Launches), f.Notes)
		}
	}
}

// spent returns the processor time of this process so far. Unlike wall time, it does not grow with the load of the
// machine.
func spent() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

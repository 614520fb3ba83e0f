package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/importing"
)

// A server's own tools describe it; the description becomes a type of a scenario.
func TestImportServer(t *testing.T) {
	dir, err := filepath.Abs("../../internal/machine/testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, name := range []string{"hgx-h100-dump.xml", "dgx-a100.txt", "nd-a100-v4.xml", "dgx-1.txt"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("8 of "+name, text, 0o644); err != nil {
			t.Fatal(err)
		}
		code, out, errs := call(t, "import", "--server", "8 of "+name, "--json")
		var got importing.Server
		if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil || len(got.GPUs) != 8 {
			t.Fatalf("%s: %d %s %v", name, code, errs, err)
		}
		own := strings.TrimSpace(strings.Split(strings.Split(got.Type, "\n")[2], ":")[0])
		scenario := got.Type + `  nodes: {all: {type: ` + own + `, count: 2}, sw: {type: sw}}
  cables: [{from: all, to: sw, rate: 100Gbps}]
server: {pcie: 12GB/s, gpu: ` + map[bool]string{true: "h100", false: "a100"}[name[0] == 'h'] + `}
workload: {traffic: {permutation: {bytes: 64KiB}}}
`
		scenario = strings.Replace(scenario, "  nodes:", "    sw: {}\n  nodes:", 1)
		if err := os.WriteFile("x.yaml", []byte(scenario), 0o644); err != nil {
			t.Fatal(err)
		}
		if code, out, errs := call(t, "run", "x.yaml", "--out", "run", "--force"); code != 0 {
			t.Errorf("%s: %s%s\n%s", name, out, errs, scenario)
		}
		manifest, err := os.ReadFile(filepath.Join("run", "run.json"))
		if err != nil || !strings.Contains(string(manifest), "8 of "+name) {
			t.Errorf("%s is not kept with its run: %v", name, err)
		}
	}
	code, out, _ := call(t, "import", "--server", "8 of dgx-a100.txt", "--out", "type.yaml")
	if code != 0 || !strings.Contains(out, "# nearest to no GPU: mlx5_4, mlx5_5, mlx5_10, mlx5_11") {
		t.Errorf("%d %s", code, out)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"import"}, "FILE: is missing"},
		{[]string{"import", "--server", "none"}, "none"},
		{[]string{"import", "--server", "x.yaml"}, "x.yaml: has no line that begins with GPU0"},
		{[]string{"import", "--server", "8 of dgx-1.txt", "cables.csv"}, "--server: takes one file"},
		{[]string{"import", "--server", "8 of dgx-1.txt", "--gpus", "4"}, "--gpus has no effect"},
		{[]string{"import", "--server", "8 of dgx-1.txt", "--out", "type.yaml"}, "type.yaml"},
	} {
		if code, out, errs := call(t, c.args...); code == 0 || !strings.Contains(errs, c.want) {
			t.Errorf("%v: %d %s%s", c.args, code, out, errs)
		}
	}
}

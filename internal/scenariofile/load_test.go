package scenariofile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/input"
	"railyard/internal/scenario"
)

const small = `
name: Small run
fabric: {kind: rail-only, hosts: 2, host_link: {rate: 100Gbps}}
server: {gpus: 1, nics: 1}
workload: {traffic: {matrix: pairs.cm}}
`

// Files that a scenario names are relative to it, wherever the command runs. A seed of the command overrides the
// file's.
func TestPlan(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := put("a.yaml", small)
	if _, err := Plan(path, nil, nil); !input.IsFault(err) || !strings.Contains(err.Error(), "a.yaml:5:") {
		t.Errorf("without the matrix: %v", err)
	}
	put("pairs.cm", "Nodes 2\nConnections 1\n0->1 start 0 size 4096\n")
	seed := uint64(7)
	p, err := Plan(path, []string{"transport.qps=3"}, &seed)
	if err != nil || p.Seed != 7 || p.QPs != 3 {
		t.Fatalf("%+v, %v", p, err)
	}
	if _, err := Plan(filepath.Join(dir, "b.yaml"), nil, nil); !input.IsFault(err) {
		t.Errorf("a file that is not there: %v", err)
	}
	for name, text := range map[string]string{"leaf.cfg": "hostname leaf-1\ninterface Ethernet1/1\n",
		"config_db.json": `{"PORT": {"Ethernet0": {}}}`} {
		_, err := Read(put(name, text), nil)
		if !input.IsFault(err) || !strings.Contains(err.Error(), "railyard config lint "+filepath.Join(dir, name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A caller that needs only the fabric gets it from scenarios without a workload. For those with one, no workload
// file is read.
func TestFabricAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(path, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, plan := range map[string]func() (int, error){
		"Network": func() (int, error) { p, err := Network(path, nil); return gpus(p, err) },
		"Fabric":  func() (int, error) { p, err := Fabric(path, nil); return gpus(p, err) },
		"Cabled":  func() (int, error) { p, err := Cabled(path, nil); return gpus(p, err) },
	} {
		if n, err := plan(); n != 2 || err != nil {
			t.Errorf("%s: %d GPUs, %v", name, n, err)
		}
	}
}

func TestRelativeTo(t *testing.T) {
	for _, c := range [][3]string{{"a/b.yaml", "c.cm", "a/c.cm"}, {"b.yaml", "c.cm", "c.cm"},
		{"a/b.yaml", "/c.cm", "/c.cm"}, {"a/b.yaml", "../c.cm", "c.cm"}} {
		if got := RelativeTo(c[0], c[1]); got != c[2] {
			t.Errorf("%s beside %s: %s, want %s", c[1], c[0], got, c[2])
		}
	}
}

func gpus(p *scenario.Plan, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	return p.Graph.TotalGPUs(), nil
}

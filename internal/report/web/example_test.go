package web

import (
	"os"
	"testing"
)

// The server has its own run, which shows every sequence except failures. It is not listed, and is removed with the
// server; a variant of it is an ordinary run.
func TestExample(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, err := New(Config{Root: t.TempDir(), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	info := decoded[struct {
		Name string
	}](t, s, "/api/runs/"+exampleName+"/info")
	if info.Name != exampleName {
		t.Errorf("it is called %q", info.Name)
	}
	for _, name := range []string{"rank", "setup", "packet", "ring", "mark", "completion"} {
		if v := decoded[Told](t, s, "/api/runs/"+exampleName+"/sequence?name="+name); v.Sequence == nil {
			t.Errorf("%s: %s", name, v.Why)
		}
	}
	if list := decoded[[]Entry](t, s, "/api/runs"); len(list) > 0 {
		t.Errorf("%d runs are listed", len(list))
	}
	if w := ask(s, "DELETE", "/api/runs/"+exampleName, "", nil); w.Code == 200 {
		t.Error("the example is deleted")
	}
	j, err := s.variant(request{Of: exampleName, Sets: []string{"fabric.uplinks=2"}})
	if err != nil || j.Text != exampleScenario {
		t.Errorf("%v: %s", err, j.Text)
	}
	s.Close()
	if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
		t.Errorf("%d folders are left", len(left))
	}
	if w := ask(s, "GET", "/api/runs/"+exampleName+"/nothing", "", nil); w.Code == 200 {
		t.Error("there is a view called nothing")
	}
}

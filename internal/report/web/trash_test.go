package web

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDelete deletes a run, undoes that, and checks the guards: names that lead elsewhere, other origins, a folder
// that is no run, a name that is used again.
func TestDelete(t *testing.T) {
	s, name := server(t, "")
	listed := func() bool {
		list, err := List(s.Root)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(list, func(e Entry) bool { return e.Name == name })
	}
	outside := filepath.Join(filepath.Dir(s.Root), "outside")
	if err := os.CopyFS(outside, os.DirFS(filepath.Join(s.Root, name))); err != nil {
		t.Fatal(err)
	}
	os.MkdirAll(filepath.Join(s.Root, "mine"), 0o755)
	os.WriteFile(filepath.Join(s.Root, "mine", "notes.txt"), []byte("mine"), 0o644)
	os.Symlink(outside, filepath.Join(s.Root, "link"))
	for _, bad := range []string{"..%2Foutside", "%2e%2e", ".railyard-deleted", "none", "mine", "link"} {
		for _, q := range [][2]string{{"DELETE", bad}, {"POST", bad + "/restore"}} {
			w := ask(s, q[0], "/api/runs/"+q[1], "{}", nil)
			if w.Code == http.StatusOK {
				t.Errorf("%s %s: %d %s", q[0], q[1], w.Code, w.Body)
			}
		}
	}
	for header, value := range map[string]string{"Origin": "http://elsewhere", "Sec-Fetch-Site": "cross-site"} {
		w := ask(s, "DELETE", "/api/runs/"+name, "", func(q *http.Request) { q.Header.Set(header, value) })
		if w.Code != http.StatusForbidden || !listed() {
			t.Errorf("%s %s: %d %s", header, value, w.Code, w.Body)
		}
	}
	if w := ask(s, "DELETE", "/api/runs/"+name, "", nil); w.Code != http.StatusOK || listed() {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if w := ask(s, "GET", "/api/deleted", "", nil); strings.TrimSpace(w.Body.String()) != `["`+name+`"]` {
		t.Errorf("deleted: %s", w.Body)
	}
	if w := ask(s, "GET", "/api/runs/"+name+"/info", "", nil); w.Code == http.StatusOK {
		t.Errorf("a deleted run is shown: %d", w.Code)
	}
	taken := filepath.Join(s.Root, name)
	os.Mkdir(taken, 0o755)
	if w := ask(s, "POST", "/api/runs/"+name+"/restore", "{}", nil); w.Code != http.StatusBadRequest ||
		!strings.Contains(w.Body.String(), "again") {
		t.Errorf("another run has the name: %d %s", w.Code, w.Body)
	}
	os.Remove(taken)
	if w := ask(s, "POST", "/api/runs/"+name+"/restore", "{}", nil); w.Code != http.StatusOK || !listed() {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if w := ask(s, "GET", "/api/runs/"+name+"/info", "", nil); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	ask(s, "DELETE", "/api/runs/"+name, "", nil)
	s.Close()
	if _, err := os.Stat(filepath.Join(s.Root, trash)); !os.IsNotExist(err) || !exists(outside) || listed() {
		t.Errorf("the trash is emptied when the server ends: %v", err)
	}
	if !exists(filepath.Join(s.Root, "mine", "notes.txt")) {
		t.Error("a folder that is no run is removed")
	}
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// TestLobby checks a run's card against its summary, and the estimate of a scenario before it runs.
func TestLobby(t *testing.T) {
	s, name := server(t, "")
	list, err := List(s.Root)
	if err != nil {
		t.Fatal(err)
	}
	e := list[slices.IndexFunc(list, func(e Entry) bool { return e.Name == name })]
	sum := int64(0)
	for _, c := range e.Causes {
		sum += c.Time
	}
	if sum != e.StepTime || e.Main == "" || e.Fidelity != "" {
		t.Errorf("causes sum to %d of %d: %+v", sum, e.StepTime, e)
	}
	body, _ := json.Marshal(request{Text: step})
	w := ask(s, "POST", "/api/check", string(body), nil)
	var c Checked
	if json.Unmarshal(w.Body.Bytes(), &c) != nil || !c.OK || !strings.Contains(c.Estimate, "packet-hops") {
		t.Errorf("%s", w.Body)
	}
}

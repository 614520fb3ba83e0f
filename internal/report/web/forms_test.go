package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"railyard/internal/pasted"
)

// posted sends a form like the page.
func posted(t *testing.T, s *Server, path string, f form) (code int, body string) {
	t.Helper()
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	w := ask(s, "POST", path, string(b), nil)
	return w.Code, w.Body.String()
}

// Forms are answered, or rejected with the reason for bad input, and protected like all writes.
func TestForms(t *testing.T) {
	s, err := New(Config{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const counters = "$ ethtool -S eth0\nNIC statistics:\n     rx_packets: 1000\n     rx_prio3_pause: 5\n"
	texts := []pasted.Text{{Name: "host-1-eth0.txt", Text: counters}}
	if code, body := posted(t, s, textsPath, form{Texts: texts}); code != http.StatusOK ||
		!strings.Contains(body, `"diagnosis"`) {
		t.Error(code, body)
	}
	names := "topology: {file: /etc/passwd}\n"
	for what, f := range map[string]struct {
		path string
		form form
		want string
	}{
		"no configuration": {textsPath, form{Texts: []pasted.Text{{Name: "a.txt", Text: "hello\n"}}}, "a.txt"},
		"a name outside":   {textsPath, form{Texts: []pasted.Text{{Name: "../a.txt", Text: "hello\n"}}}, "not the name"},
		"no texts":         {textsPath, form{}, "accepted: 1 to"},
		"a fabric in a file": {textsPath, form{Texts: texts,
			Text: three + "switches: {config: secret.cfg}\n"}, "reads no files"},
		"an unknown key": {"/api/plan/search", form{Text: names, Wanted: pasted.SearchForm{Model: "gpt3-125m",
			GlobalBatch: 1, Sequence: 1}}, "topology"},
		"a model in a file": {"/api/plan/memory", form{Layout: pasted.MemoryForm{Model: "./x.json", GPU: "h100"}},
			"shipped model"},
		"nothing that fails": {"/api/plan/failures", form{Text: three}, "kinds"},
	} {
		if code, body := posted(t, s, f.path, f.form); code != http.StatusBadRequest ||
			!strings.Contains(body, f.want) {
			t.Errorf("%s: %d %s", what, code, body)
		}
	}
	for _, path := range []string{textsPath, "/api/plan/memory", "/api/plan/search", "/api/plan/failures"} {
		if w := ask(s, "POST", path, "{}", func(q *http.Request) {
			q.Header.Set("Origin", "http://evil.example")
		}); w.Code != http.StatusForbidden {
			t.Errorf("%s from another origin: %d", path, w.Code)
		}
		if w := ask(s, "GET", path, "", nil); w.Code == http.StatusOK {
			t.Errorf("%s is read: %d", path, w.Code)
		}
	}
	big := form{Text: strings.Repeat("x", maxBody+1)}
	if code, body := posted(t, s, "/api/plan/search", big); code != http.StatusBadRequest ||
		!strings.Contains(body, "too large") {
		t.Error(code, body)
	}
}

// One form is processed at a time, and one whose page has gone is abandoned.
func TestFormsWait(t *testing.T) {
	s, err := New(Config{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s.patience = 50 * time.Millisecond
	s.asking <- struct{}{}
	code, body := posted(t, s, "/api/plan/memory", form{})
	if code != http.StatusUnprocessableEntity || !strings.Contains(body, "try again") {
		t.Error(code, body)
	}
	s.Close() // although it continues
	<-s.asking
}

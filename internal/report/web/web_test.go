package web

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"railyard/internal/result"
	"railyard/internal/scenario"
)

const cascade = `name: cascade
fabric: {kind: rail, hosts: 5, segments: 2, spines: 1, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
switch: {queues: {3: {xoff: 100KB, xon: 50KB}}}
output: {sample: 2us}
workload: {traffic: {incast: {bytes: 2MB, fan_in: 9}}}
`

// server starts a server on a folder with a finished run, which was started like by a page.
func server(t *testing.T, token string) (*Server, string) {
	t.Helper()
	s, err := New(Config{Root: t.TempDir(), Version: "test", Token: token,
		Scenarios: map[string]string{"a.yaml": cascade}, Schema: scenario.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	j, err := s.jobs.start(request{Text: cascade})
	if err != nil {
		t.Fatal(err)
	}
	return s, await(t, s, j.ID).Run
}

// await waits for the end of a simulation.
func await(t *testing.T, s *Server, id string) Simulation {
	t.Helper()
	j := s.jobs
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.byID[id].State == "running" {
		j.changed.Wait()
	}
	return *j.byID[id]
}

// ask sends a request to the server as localhost.
func ask(s *Server, method, path, body string, change func(*http.Request)) *httptest.ResponseRecorder {
	q := httptest.NewRequest(method, "http://127.0.0.1:8080"+path, strings.NewReader(body))
	if body != "" {
		q.Header.Set("Content-Type", "application/json")
	}
	if change != nil {
		change(q)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, q)
	return w
}

// The page shows the values of the summary and the tables.
func TestViewsAgreeWithTables(t *testing.T) {
	s, name := server(t, "")
	dir := filepath.Join(s.Root, name)
	sum, err := result.ReadSummary(dir)
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string, into any) {
		t.Helper()
		w := ask(s, "GET", "/api/runs/"+name+"/"+path, "", nil)
		if w.Code != 200 {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
			t.Fatal(path, err)
		}
	}
	var info struct {
		Summary  result.Summary
		Topology result.Topology
		Ports    []result.PortRow
	}
	get("info", &info)
	if info.Summary.StepTime != sum.StepTime || info.Summary.ECNMarks != sum.ECNMarks ||
		len(info.Topology.Nodes) != 13 || len(info.Ports) != 2*len(info.Topology.Links) {
		t.Errorf("%+v", info.Summary)
	}
	var grid Grid
	get("grid?metric=util&cols=100", &grid)
	data, err := base64.StdEncoding.DecodeString(grid.Data)
	cells := 100 * len(grid.Rows)
	if err != nil || len(data) != 2*cells {
		t.Fatalf("%v: %d cells", err, len(data))
	}
	for i, p := range info.Ports { // the mean over time is the port's bytes
		mean := 0.0
		row, used := slices.BinarySearch(grid.Rows, i)
		if used != (p.WireBytes > 0) {
			t.Errorf("%s: a row of the grid: %t, for %d bytes", p.Name, used, p.WireBytes)
		}
		for c := row * 100; used && c < (row+1)*100; c++ {
			n := float64(int(data[c])<<8 | int(data[cells+c]))
			mean += 1e-4 * math.Expm1(n/65535*math.Log1p(1e4)) / 100
		}
		want := float64(p.WireBytes) * 8e12 / float64(p.Rate) / float64(sum.StepTime)
		if d := mean - want; d > 0.001 || d < -0.001 {
			t.Errorf("%s: mean utilisation %.3f in the grid, %.3f by its bytes", p.Name, mean, want)
		}
	}
	var total struct {
		Width float64      `json:"width_ps"`
		Cols  [][4]float64 `json:"cols"`
	}
	get("total?cols=50", &total)
	marks := 0.0
	for _, c := range total.Cols {
		marks += c[1]
	}
	if d := marks - float64(sum.ECNMarks); d > 0.5 || d < -0.5 {
		t.Errorf("%.1f marks over time, %d in all", marks, sum.ECNMarks)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	halts, _, err := r.halts()
	if err != nil {
		t.Fatal(err)
	}
	paused := int64(0)
	for _, h := range halts {
		paused += h.to - h.from
	}
	if int64(len(halts)) != sum.PFCPauses || paused != sum.PFCPause || paused == 0 {
		t.Errorf("%d pauses of %d ps, the summary has %d of %d", len(halts), paused, sum.PFCPauses,
			sum.PFCPause)
	}
	var roots, part result.PauseRanking
	get("roots", &roots)
	if roots.Time != sum.PFCPause || roots.Roots[0].Kind != result.RootEgress || 2*roots.Roots[0].Time < roots.Time ||
		!strings.HasSuffix(roots.Roots[0].Name, " → host-1") || len(roots.Flows) == 0 {
		t.Errorf("pauses of %d ps, their roots %+v", sum.PFCPause, roots)
	}
	last, ranked := sum.StepTime/3, int64(0)
	for _, q := range []string{fmt.Sprintf("roots?to=%d", last), fmt.Sprintf("roots?from=%d", last)} {
		part = result.PauseRanking{}
		get(q, &part)
		ranked += part.Time
	}
	if d := ranked - roots.Time; d < -2 || d > 2 {
		t.Errorf("two parts of the run have %d ps of pauses, the whole %d", ranked, roots.Time)
	}
	for _, view := range []string{"flows", "collectives", "ranks?from=0&to=1000000&n=4", "critical",
		"port?id=3", "qp?id=0", "packets", "grid?metric=pause", "grid?metric=marks&cols=7"} {
		var v map[string]any
		get(view, &v)
	}
	for view, want := range map[string]string{"grid?metric=colour": "accepted: util",
		"port?id=9999": "whole number", "port?id=x": "whole number", "ranks?from=5&to=5": "after from",
		"nonsense": "unknown view", "qp?id=-1": "whole number"} {
		if w := ask(s, "GET", "/api/runs/"+name+"/"+view, "", nil); w.Code != 400 ||
			!strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s, want %q", view, w.Code, w.Body, want)
		}
	}
}

// Only the page itself may write, only this host may read without the token, and no path leads out of the folder.
func TestSecurity(t *testing.T) {
	s, name := server(t, "")
	for _, h := range []string{"evil.example", "10.0.0.1", "127.0.0.1.evil.example"} {
		if w := ask(s, "GET", "/api/runs", "",
			func(q *http.Request) { q.Host = h }); w.Code != http.StatusForbidden {
			t.Errorf("host %s: %d", h, w.Code)
		}
	}
	for what, change := range map[string]func(*http.Request){
		"another origin": func(q *http.Request) { q.Header.Set("Origin", "http://evil.example") },
		"another site":   func(q *http.Request) { q.Header.Set("Sec-Fetch-Site", "cross-site") },
		"a form":         func(q *http.Request) { q.Header.Set("Content-Type", "application/x-www-form-urlencoded") },
	} {
		if w := ask(s, "POST", "/api/jobs", `{"text":"x"}`, change); w.Code != http.StatusForbidden {
			t.Errorf("a write from %s: %d", what, w.Code)
		}
	}
	csp := ask(s, "GET", "/", "", nil).Header().Get("Content-Security-Policy")
	if !strings.Contains(csp, "script-src 'self';") || strings.Contains(csp, "script-src 'self' 'unsafe") ||
		!strings.Contains(csp, "default-src 'none'") {
		t.Error(csp)
	}
	outside := filepath.Join(t.TempDir(), "run.json")
	os.WriteFile(outside, []byte("{}"), 0o644)
	os.Symlink(filepath.Dir(outside), filepath.Join(s.Root, "linked"))
	os.MkdirAll(filepath.Join(s.Root, "inner"), 0o755)
	os.Symlink(outside, filepath.Join(s.Root, "inner", "run.json"))
	for _, p := range []string{"..%2f..%2fetc", "%2e%2e", "a%2fb", "a%5cb", "linked", "inner", ".hidden",
		"a%00b", strings.Repeat("x", 300)} {
		if w := ask(s, "GET", "/api/runs/"+p+"/info", "", nil); w.Code == 200 {
			t.Errorf("%s is served: %s", p, w.Body)
		}
	}
	secret := `{"text":"fabric: {kind: rail, hosts: 2, spines: 1}\nserver: {gpus: 1, nics: 1}\nworkload: ` +
		`{training: {model: /etc/secret.json}}"}`
	if w := ask(s, "POST", "/api/jobs", secret, nil); w.Code != 400 || !strings.Contains(w.Body.String(), "reads no files") {
		t.Errorf("a scenario that names a file: %d %s", w.Code, w.Body)
	}
	locked, _ := server(t, "secret")
	if w := ask(locked, "GET", "/api/runs", "", nil); w.Code != http.StatusUnauthorized {
		t.Errorf("without the token: %d", w.Code)
	}
	for what, change := range map[string]func(*http.Request){
		"header":  func(q *http.Request) { q.Header.Set("Authorization", "Bearer secret") },
		"cookie":  func(q *http.Request) { q.AddCookie(&http.Cookie{Name: cookieOf(q), Value: "secret"}) },
		"address": func(q *http.Request) { q.URL.RawQuery = "token=secret" },
		"any host": func(q *http.Request) {
			q.Host = "gpu-1.cluster:8080"
			q.Header.Set("Authorization",
				"Bearer secret")
		},
	} {
		if w := ask(locked, "GET", "/api/runs", "", change); w.Code != 200 {
			t.Errorf("token by %s: %d", what, w.Code)
		}
	}
	if w := ask(locked, "GET", "/?token=wrong", "", nil); w.Code != http.StatusUnauthorized {
		t.Errorf("a wrong token: %d", w.Code)
	}
	_ = name
}

// Broken, half-written, foreign and old directories are listed with a reason and
// answered with one; none stops the server.
func TestBrokenRuns(t *testing.T) {
	s, name := server(t, "")
	copyOf := func(to string, change func(dir string)) {
		t.Helper()
		dir := filepath.Join(s.Root, to)
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(s.Root, name))); err != nil {
			t.Fatal(err)
		}
		change(dir)
	}
	write := func(file, text string) func(string) {
		return func(dir string) { os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644) }
	}
	copyOf("no-topology", func(dir string) { os.Remove(filepath.Join(dir, "topology.json")) })
	copyOf("half-json", write("summary.json", `{"name": "x"`))
	copyOf("foreign-ports", write("ports.parquet", "PAR1 not at all PAR1"))
	copyOf("wrong-links", write("topology.json", `{"nodes":[{"name":"a"}],"links":[{"a":0,"b":7}]}`))
	copyOf("wrong-domain", write("topology.json",
		`{"nodes":[{"name":"a","config":-1}],"domains":[{"name":"rack","nodes":[1]}]}`))
	copyOf("cut-links", func(dir string) { os.Truncate(filepath.Join(dir, "links.parquet"), 100) })
	copyOf("wrong-followed", write("followed.json",
		`[{"asked": "0/+1", "copies": [{"hops": [{"port": 99999}]}]}]`))
	copyOf("wrong-capture", write("capture.pcapng", "hello"))
	copyOf("other-links", func(dir string) {
		os.Rename(filepath.Join(dir, "flows.parquet"), filepath.Join(dir, "links.parquet"))
	})
	os.MkdirAll(filepath.Join(s.Root, "empty"), 0o755)
	for run, c := range map[string]struct{ view, want string }{
		"no-topology": {"info", "older Railyard"}, "half-json": {"info", "cannot be read"},
		"foreign-ports":  {"info", "ports.parquet cannot be read"},
		"wrong-links":    {"info", "do not exist"},
		"wrong-followed": {"followed", "port 99999, which does not"},
		"wrong-domain":   {"info", `rack\" refers to a server that does not exist`},
		"cut-links":      {"grid", "links.parquet cannot be read"},
		"other-links":    {"grid", "links.parquet is damaged, or of another run: found "},
		"wrong-capture":  {"packets", "capture.pcapng"}, "empty": {"info", "not a run directory"},
	} {
		if w := ask(s, "GET", "/api/runs/"+run+"/"+c.view, "", nil); w.Code == 200 ||
			!strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: %d %s, want %q", run, w.Code, w.Body, c.want)
		}
	}
	list, err := List(s.Root)
	if err != nil || len(list) != 11 {
		t.Fatalf("%v: %d runs", err, len(list))
	}
	for _, e := range list {
		if (e.Name == "empty" || e.Name == "half-json") != (e.Error != "") {
			t.Errorf("%+v", e)
		}
	}
	if list, err := List(filepath.Join(s.Root, "nowhere")); err != nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
}

// Jobs report the position of a scenario's error, are bounded in number, and leave partial results when they are
// cancelled.
func TestJobs(t *testing.T) {
	s, _ := server(t, "")
	w := ask(s, "POST", "/api/check", `{"text":"fabric:\n  kind: rails\nlb: spry\n"}`, nil)
	var c Checked
	if err := json.Unmarshal(w.Body.Bytes(), &c); err != nil || c.OK || len(c.Faults) != 2 ||
		c.Faults[0].Line != 2 || c.Faults[0].Column != 9 || c.Faults[0].Path != "fabric.kind" ||
		c.Faults[1].Line != 3 || !strings.Contains(c.Faults[1].Message, `did you mean "spray"`) {
		t.Errorf("%s", w.Body)
	}
	if w := ask(s, "POST", "/api/check", `{"text":`+string(mustJSON(cascade))+`}`,
		nil); !strings.Contains(w.Body.String(), `"ok":true`) {
		t.Errorf("%s", w.Body)
	}
	long := strings.Replace(cascade, "2MB", "20GB", 1)
	now := time.Unix(1e10, 0) // later than the existing run's
	s.jobs.now = func() time.Time { return now }
	var ids []string
	for range maxRunning {
		var j Simulation
		w := ask(s, "POST", "/api/jobs", string(mustJSON(request{Text: long})), nil)
		if err := json.Unmarshal(w.Body.Bytes(), &j); err != nil || w.Code != 200 || j.State != "running" {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		ids = append(ids, j.ID)
	}
	if w := ask(s, "POST", "/api/jobs", string(mustJSON(request{Text: long})), nil); w.Code != 400 ||
		!strings.Contains(w.Body.String(), "running already") {
		t.Errorf("a third one: %d %s", w.Code, w.Body)
	}
	for { // partial results, while it runs and is observed
		list := s.jobs.list()
		if list[0].SoFar != nil && list[0].SoFar.Marks > 0 && len(list[0].SoFar.Hottest) > 0 {
			break
		}
		if list[0].State != "running" {
			t.Fatalf("no partial results: %+v", list[0])
		}
		s.jobs.mu.Lock()
		now = now.Add(2 * time.Second)
		s.jobs.changed.Wait()
		s.jobs.mu.Unlock()
	}
	for _, id := range ids {
		if w := ask(s, "DELETE", "/api/jobs/"+id, "", nil); w.Code != 200 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		j := await(t, s, id)
		r, err := Open(filepath.Join(s.Root, j.Run))
		if j.State != "cancelled" || err != nil || r.Summary.Complete {
			t.Errorf("%+v %v", j, err)
		}
	}
	if w := ask(s, "DELETE", "/api/jobs/99", "", nil); w.Code != 400 {
		t.Errorf("a job that is none: %d", w.Code)
	}
}

// A simulation requested while the server stops does not begin, because no one would wait for it.
func TestNothingBeginsBehindClose(t *testing.T) {
	s, err := New(Config{Root: t.TempDir(), Version: "test", Schema: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	w := ask(s, "POST", "/api/jobs", string(mustJSON(request{Text: cascade})), nil)
	if w.Code != 400 || !strings.Contains(w.Body.String(), "stopping") || len(s.jobs.list()) > 0 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// The one file contains the page and the data and refers to nothing outside.
func TestHTML(t *testing.T) {
	s, name := server(t, "")
	r, err := Open(filepath.Join(s.Root, name))
	if err != nil {
		t.Fatal(err)
	}
	page, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, no := range [][]byte{[]byte(`src="`), []byte(`href="./assets`), []byte("url(http")} {
		if i := bytes.Index(page[:min(len(page), 2000)], no); i >= 0 {
			t.Errorf("the page refers to a file: %s", page[i:i+60])
		}
	}
	if !bytes.Contains(page, []byte(`id="railyard-run"`)) || len(page) < 50_000 {
		t.Errorf("%d bytes", len(page))
	}
	if _, err := r.View("port", url.Values{"id": {"1"}}); err != nil {
		t.Error(err)
	}
	if c, err := r.Hottest(3, false); err != nil || len(c) != 3 || len(c[0].Points) == 0 {
		t.Errorf("%v %d", err, len(c))
	}
	parts, err := r.Parts()
	if err != nil || len(parts) != 1 {
		t.Fatalf("%v %+v", err, parts)
	}
	sum := 0.0
	for _, x := range parts[0].Shares {
		sum += x
	}
	if sum < 0.999 || sum > 1.001 {
		t.Errorf("shares add up to %g", sum)
	}
}

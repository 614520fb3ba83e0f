package web

import (
	"compress/gzip"
	"context"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"railyard/internal/cause"
	"railyard/internal/fidelity"
	"railyard/internal/field"
	entered "railyard/internal/input"
	"railyard/internal/scenario"
)

// bundle is the page, built by Vite from the folder web of the repository.
//
//go:embed all:dist
var bundle embed.FS

// Config is the configuration of a server.
type Config struct {
	Root      string            // folder of run directories
	Version   string            // of Railyard
	Token     string            // every request must have it; "": every request of this host is admitted
	Scenarios map[string]string // shipped scenarios by file name
	Files     scenario.ReadFile // files that shipped scenarios name; nil: none
	Schema    []byte            // JSON Schema of scenarios
	// Names are values that the schema does not list, by the end of their key: shipped models, GPUs, devices.
	Names map[string][]string
}

// Server is the page and its API.
type Server struct {
	Config
	mux  *http.ServeMux
	jobs *jobs

	checking sync.Mutex // one scenario at a time is resolved, because large ones take long
	mu       sync.Mutex
	open     map[string]*opened
	studying sync.Mutex // one study at a time is read
	studies  map[string]*analysed

	asking   chan struct{} // one slot for the form in progress
	patience time.Duration // time for which a form waits for the previous one
	own      example
	ended    context.Context
	end      context.CancelFunc
}

// opened is a run kept in memory until its directory changes.
type opened struct {
	run  *Directory
	at   time.Time
	used time.Time
}

// maxOpen bounds the runs whose tables are kept.
const maxOpen = 6

// New returns a server for a folder of runs.
func New(c Config) (*Server, error) {
	page, err := fs.Sub(bundle, "dist")
	if err != nil {
		return nil, err
	}
	s := &Server{Config: c, mux: http.NewServeMux(), jobs: newJobs(c.Root, c.Version), open: map[string]*opened{},
		studies: map[string]*analysed{}, asking: make(chan struct{}, 1), patience: 5 * time.Second}
	s.ended, s.end = context.WithCancel(context.Background())
	s.mux.Handle("GET /", http.FileServerFS(page))
	if front, err := fs.ReadFile(page, "index.html"); err == nil && len(cause.FromOutside()) > 0 {
		s.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			io.WriteString(w, withCauses(string(front)))
		})
	}
	s.mux.HandleFunc("GET /api/runs", s.listRuns)
	s.mux.HandleFunc("GET /api/runs/{run}/variants", s.variants)
	s.mux.HandleFunc("GET /api/runs/{run}/capture.pcapng", s.pcapng)
	s.mux.HandleFunc("GET /api/runs/{run}/{view}", s.view)
	s.mux.HandleFunc("DELETE /api/runs/{run}", s.deleteRun)
	s.mux.HandleFunc("POST /api/runs/{run}/restore", s.restoreRun)
	s.mux.HandleFunc("GET /api/many", s.many)
	s.mux.HandleFunc("GET /api/studies", s.listStudies)
	s.mux.HandleFunc("GET /api/studies/{study}", s.viewStudy)
	s.mux.HandleFunc("GET /api/deleted", s.listDeleted)
	s.mux.HandleFunc("GET /api/about", s.about)
	s.mux.HandleFunc("GET /api/schema", func(w http.ResponseWriter,
		_ *http.Request) {
		send(w, json.RawMessage(c.Schema), nil)
	})
	s.mux.HandleFunc("POST /api/check", s.checkScenario)
	s.mux.HandleFunc("GET /api/jobs", func(w http.ResponseWriter,
		_ *http.Request) {
		send(w, s.jobs.list(), nil)
	})
	s.mux.HandleFunc("POST "+textsPath, s.readTexts)
	s.mux.HandleFunc("POST /api/plan/memory", s.planMemory)
	s.mux.HandleFunc("POST /api/plan/search", s.planSearch)
	s.mux.HandleFunc("POST /api/plan/failures", s.planFailures)
	s.mux.HandleFunc("POST /api/jobs", s.startJob)
	s.mux.HandleFunc("DELETE /api/jobs/{id}", s.stopJob)
	return s, nil
}

// Close stops running jobs, waits until they have written their results, and removes deleted runs.
func (s *Server) Close() {
	s.end()
	select { // forms in progress remove their files; a search cannot be interrupted, and is not waited for
	case s.asking <- struct{}{}:
		<-s.asking
	case <-time.After(s.patience):
	}
	s.own.close()
	s.jobs.close()
	s.empty()
}

// ServeHTTP guards every request.
func (s *Server) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	defer func() {
		if p := recover(); p != nil {
			send(w, nil, fmt.Errorf("this is a fault of Railyard: %v", p))
		}
	}()
	if !s.admits(w, q) {
		return
	}
	if q.Method != http.MethodGet && q.Method != http.MethodHead {
		if !sameOrigin(q) {
			refuse(w, http.StatusForbidden, "writes are accepted from this page only")
			return
		}
		most := int64(maxBody)
		if q.URL.Path == textsPath {
			most = maxTexts
		}
		q.Body = http.MaxBytesReader(w, q.Body, most)
	}
	if strings.Contains(q.Header.Get("Accept-Encoding"), "gzip") && strings.HasPrefix(q.URL.Path, "/api/") {
		z := &zipped{ResponseWriter: w}
		defer z.close()
		w = z
	}
	s.mux.ServeHTTP(w, q)
}

// zipped compresses responses: topologies and grids shrink to a tenth.
type zipped struct {
	http.ResponseWriter
	z *gzip.Writer
}

// WriteHeader announces the encoding.
func (z *zipped) WriteHeader(code int) {
	z.Header().Set("Content-Encoding", "gzip")
	z.Header().Del("Content-Length")
	z.ResponseWriter.WriteHeader(code)
}

// Write makes zipped an http.ResponseWriter.
func (z *zipped) Write(b []byte) (int, error) {
	if z.z == nil {
		if z.Header().Get("Content-Encoding") == "" {
			z.WriteHeader(http.StatusOK)
		}
		z.z, _ = gzip.NewWriterLevel(z.ResponseWriter, gzip.BestSpeed) // the level exists
	}
	return z.z.Write(b)
}

func (z *zipped) close() {
	if z.z != nil {
		z.z.Close()
	}
}

// admits checks the token or, without one, that the request's host is this one. A foreign page whose name resolves
// to 127.0.0.1 is thus rejected.
func (s *Server) admits(w http.ResponseWriter, q *http.Request) bool {
	if s.Token == "" {
		host := q.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if ip := net.ParseIP(strings.Trim(host, "[]")); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			refuse(w, http.StatusForbidden, "this server answers to localhost only; start it with --listen for others")
			return false
		}
		return true
	}
	same := func(t string) bool { return subtle.ConstantTimeCompare([]byte(t), []byte(s.Token)) == 1 }
	cookie := cookieOf(q)
	if t := q.URL.Query().Get("token"); t != "" && same(t) {
		http.SetCookie(w, &http.Cookie{Name: cookie, Value: s.Token, Path: "/", HttpOnly: true,
			SameSite: http.SameSiteStrictMode})
		mode := q.Header.Get("Sec-Fetch-Mode")
		// a client without cookies needs no other address
		if q.URL.Path == "/" && (mode == "" || mode == "navigate") {
			http.Redirect(w, q, "/", http.StatusSeeOther)
			return false
		}
		return true
	}
	if c, err := q.Cookie(cookie); err == nil && same(c.Value) {
		return true
	}
	if t, ok := strings.CutPrefix(q.Header.Get("Authorization"), "Bearer "); ok && same(t) {
		return true
	}
	refuse(w, http.StatusUnauthorized, "the token is missing or wrong: open the address that railyard serve printed")
	return false
}

// cookieOf returns the name of the cookie with the token, because cookies of a host are shared by all of its ports.
func cookieOf(q *http.Request) string {
	_, port, err := net.SplitHostPort(q.Host)
	if err != nil {
		return "railyard"
	}
	return "railyard-" + port
}

func sameOrigin(q *http.Request) bool {
	if site := q.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	if origin := q.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		return err == nil && u.Host == q.Host
	}
	return q.Header.Get("Content-Type") == "application/json" || q.Method == http.MethodDelete
}

func refuse(w http.ResponseWriter, code int, msg string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(map[string]string{"error": msg})
}

// send answers with JSON, or with an error as {"error": ...}.
func send(w http.ResponseWriter, v any, err error) {
	var input *InputError
	switch {
	case errors.As(err, &input) || field.All(err) != nil || entered.IsFault(err):
		refuse(w, http.StatusBadRequest, err.Error())
	case err != nil:
		refuse(w, http.StatusUnprocessableEntity, err.Error())
	default:
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if b, ok := v.([]byte); ok {
			w.Write(b)
			return
		}
		json.NewEncoder(w).Encode(v)
	}
}

func (s *Server) about(w http.ResponseWriter, _ *http.Request) {
	send(w, About{s.Version, filepath.Base(s.Root), s.Scenarios, s.Names}, nil)
}

func (s *Server) listRuns(w http.ResponseWriter, _ *http.Request) {
	list, err := List(s.Root)
	list = slices.DeleteFunc(list, func(e Entry) bool { return e.Error != "" && s.jobs.reserved(e.Name) })
	send(w, list, err)
}

func (s *Server) view(w http.ResponseWriter, q *http.Request) {
	r, err := s.run(q.PathValue("run"))
	if err != nil {
		send(w, nil, err)
		return
	}
	b, err := r.View(q.PathValue("view"), q.URL.Query())
	send(w, b, err)
}

// run opens a run of the directory, or returns the open one.
func (s *Server) run(name string) (*Directory, error) {
	if name == exampleName {
		return s.example()
	}
	dir, err := runDir(s.Root, name)
	if err != nil {
		return nil, err
	}
	st, err := os.Stat(filepath.Join(dir, "run.json"))
	if err != nil {
		return nil, (&Directory{Name: name}).broken("run.json", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.open[name]; o != nil && o.at.Equal(st.ModTime()) {
		o.used = time.Now()
		return o.run, nil
	}
	r, err := Open(dir)
	if err != nil {
		return nil, err
	}
	r.Name = name
	s.open[name] = &opened{r, st.ModTime(), time.Now()}
	for len(s.open) > maxOpen {
		oldest := ""
		for n, o := range s.open {
			if oldest == "" || o.used.Before(s.open[oldest].used) {
				oldest = n
			}
		}
		delete(s.open, oldest)
	}
	return r, nil
}

// local rejects names other than those of a directory in the directory of runs.
func local(name string) error {
	if len(name) > 255 || strings.ContainsAny(name, "/\\\x00") || strings.HasPrefix(name, ".") ||
		!filepath.IsLocal(name) {
		return &InputError{fmt.Sprintf("%q is not the name of a run", name)}
	}
	return nil
}

// plain refuses run directories that are or contain links: they could point anywhere.
func plain(dir string) error {
	st, err := os.Lstat(dir)
	if err != nil {
		return &InputError{fmt.Sprintf("unknown run %q", filepath.Base(dir))}
	}
	if !st.IsDir() {
		return &InputError{fmt.Sprintf("%q is not a directory", filepath.Base(dir))}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.Type()&os.ModeSymlink != 0 {
			return &InputError{fmt.Sprintf("%s/%s is a symbolic link, which is not followed",
				filepath.Base(dir), f.Name())}
		}
		if !f.IsDir() && !f.Type().IsRegular() {
			return &InputError{fmt.Sprintf("%s/%s is not a regular file, which is not opened",
				filepath.Base(dir), f.Name())}
		}
	}
	return nil
}

// request is a page's request to check or run a scenario.
type request struct {
	Text string   `json:"text"`
	Sets []string `json:"sets"`
	Of   string   `json:"of"` // a run: its scenario, seed, settings and files, instead of Text
	// Trace selects the records of single packets; nil: none.
	Trace *Trace `json:"trace"`

	name  string   // of a variant: its scenario's file
	added []string // of a variant: its further settings
	files scenario.ReadFile
}

func (s *Server) readRequest(q *http.Request) (request, error) {
	r := request{files: s.Files}
	b, err := io.ReadAll(q.Body)
	if err != nil {
		return r, &InputError{"the request is too large"}
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, &InputError{"the request is not JSON: " + err.Error()}
	}
	return r, nil
}

func (s *Server) checkScenario(w http.ResponseWriter, q *http.Request) {
	r, err := s.readRequest(q)
	var needs string
	if err == nil {
		needs, err = s.check(q.Context(), r)
	}
	if err == nil {
		send(w, Checked{OK: true, Estimate: needs}, nil)
		return
	}
	c := Checked{Error: err.Error()}
	for _, e := range field.All(err) {
		c.Faults = append(c.Faults, Fault{e.Line, e.Col, e.Path, e.Text()})
	}
	send(w, c, nil)
}

// check resolves a scenario, unless the client has disconnected meanwhile, and estimates its run's needs.
func (s *Server) check(ctx context.Context, r request) (needs string, err error) {
	s.checking.Lock()
	defer s.checking.Unlock()
	if err := ctx.Err(); err != nil {
		return "", err
	}
	plan, err := resolve(r)
	if err != nil {
		return "", err
	}
	cost, _, err := fidelity.Prepare(plan.Fidelity, plan, memory())
	return cost.Words, err
}

func (s *Server) startJob(w http.ResponseWriter, q *http.Request) {
	r, err := s.readRequest(q)
	if err == nil && r.Of != "" {
		r, err = s.variant(r)
	}
	if err != nil {
		send(w, nil, err)
		return
	}
	j, err := s.jobs.start(r)
	send(w, j, err)
}

func (s *Server) stopJob(w http.ResponseWriter, q *http.Request) {
	send(w, map[string]bool{"ok": true}, s.jobs.stop(q.PathValue("id")))
}

package manual

import (
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"railyard/internal/output"
)

// ServeHTTP serves the site.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	if name == "" {
		name = "index.html"
	}
	b, err := s.File(name)
	if errors.Is(err, fs.ErrNotExist) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	w.Header().Set("Content-Security-Policy", "default-src 'self'")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Write(b)
}

// Names lists the files of the site.
func (s *Site) Names() ([]string, error) {
	names := []string{"style.css", "search.js", "pages.js"}
	for _, p := range s.order {
		names = append(names, p.Path+".html")
	}
	err := fs.WalkDir(s.files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && (strings.HasSuffix(name, ".png") || strings.HasSuffix(name, ".svg")) {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// Write writes the site into a folder and returns the number of its files.
func (s *Site) Write(dir string) (int, error) {
	names, err := s.Names()
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		b, err := s.File(name)
		if err != nil {
			return 0, err
		}
		if err := output.Inside(dir, filepath.FromSlash(name)); err != nil {
			return 0, err
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return 0, err
		}
		if err := output.WriteBytes(to, true, b); err != nil {
			return 0, err
		}
	}
	return len(names), nil
}

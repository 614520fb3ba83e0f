package web

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"railyard/internal/result"
)

// trash is the directory, next to the runs, of deleted runs. It is emptied when the server ends. Until then a
// deletion can be undone.
const trash = ".railyard-deleted"

// deletable refuses directories that are not a run of Railyard, and a run in progress.
func (s *Server) deletable(name string) error {
	if strings.Contains(name, "/") {
		return &InputError{fmt.Sprintf("a study keeps %s: delete the study's directory instead", name)}
	}
	if _, err := s.run(name); err != nil { // refuses names that lead elsewhere, and links
		return &InputError{fmt.Sprintf("only whole runs are deleted here: %v", err)}
	}
	if s.jobs.reserved(name) {
		return &InputError{fmt.Sprintf("a simulation is writing %s: cancel it first", name)}
	}
	var m result.Manifest
	if err := readJSON(filepath.Join(s.Root, name, "run.json"), &m); err != nil || m.Version == "" {
		return &InputError{fmt.Sprintf("Railyard did not write %s", name)}
	}
	return nil
}

// deleteRun moves a run to the trash.
func (s *Server) deleteRun(w http.ResponseWriter, q *http.Request) {
	name := q.PathValue("run")
	err := s.deletable(name)
	if err == nil {
		err = s.move(filepath.Join(s.Root, name), filepath.Join(s.Root, trash, name))
	}
	send(w, map[string]bool{"ok": true}, err)
}

// restoreRun moves a run out of the trash.
func (s *Server) restoreRun(w http.ResponseWriter, q *http.Request) {
	name := q.PathValue("run")
	err := local(name)
	if err == nil {
		err = s.move(filepath.Join(s.Root, trash, name), filepath.Join(s.Root, name))
	}
	send(w, map[string]bool{"ok": true}, err)
}

// listDeleted lists the runs in the trash by name.
func (s *Server) listDeleted(w http.ResponseWriter, _ *http.Request) {
	names := []string{}
	dirs, err := os.ReadDir(filepath.Join(s.Root, trash))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	for _, d := range dirs {
		if d.IsDir() {
			names = append(names, d.Name())
		}
	}
	send(w, names, err)
}

// move renames a run's directory; an existing run of that name is not replaced.
func (s *Server) move(from, to string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := filepath.Base(from)
	delete(s.open, name)
	if err := plain(from); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(s.Root, trash), 0o755); err != nil && !os.IsExist(err) {
		return err
	}
	if st, err := os.Lstat(filepath.Join(s.Root, trash)); err != nil || !st.IsDir() {
		return errors.Join(err, fmt.Errorf("%s is not a folder: nothing can be deleted", trash))
	}
	if _, err := os.Lstat(to); err == nil {
		if filepath.Base(filepath.Dir(to)) != trash {
			return &InputError{fmt.Sprintf("a run is called %s again", name)}
		}
		if err := os.RemoveAll(to); err != nil { // an earlier one of this name
			return err
		}
	}
	return os.Rename(from, to)
}

// empty removes the runs in the trash.
func (s *Server) empty() {
	dir := filepath.Join(s.Root, trash)
	if st, err := os.Lstat(dir); err == nil && st.IsDir() {
		os.RemoveAll(dir)
	}
}

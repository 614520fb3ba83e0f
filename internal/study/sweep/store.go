package sweep

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"railyard/internal/result"
	"railyard/internal/study"
)

// ID addresses a trial by its content: version, scenario, files, settings and seed.
type ID [16]byte

func (id ID) String() string { return hex.EncodeToString(id[:]) }

// digest hashes parts, each preceded by its length.
func digest(parts ...string) [sha256.Size]byte {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// Outcomes of a trial.
const (
	Done    = "done"    // the workload ended
	Lost    = "lost"    // the job lost a rank
	Failed  = "failed"  // the simulation did not end
	Refused = "refused" // the settings do not make a scenario
)

// Record is the outcome of a trial, a line of the journal.
type Record struct {
	Trial   string             `json:"trial"`
	Status  string             `json:"status"`
	Error   string             `json:"error,omitempty"`
	Figures map[string]float64 `json:"figures,omitempty"` // non-zero ones
	Causes  map[string]int64   `json:"causes_ps,omitempty"`
	Seconds float64            `json:"seconds"` // duration of the trial

	// Of Simulations.
	Label    string            `json:"label,omitempty"`
	Order    int               `json:"order,omitempty"`    // of the label among the command's variants, from 1
	Settings map[string]string `json:"settings,omitempty"` // every value that the run used
	Late     bool              `json:"late,omitempty"`
	Summary  *result.Summary   `json:"summary,omitempty"`
	Flows    []byte            `json:"flows,omitempty"` // Parquet
}

// span is the place of a record in the journal.
type span struct {
	at   int64
	size int32
}

// Store holds the records of trials in a journal on disk, and where each is.
type Store struct {
	mu      sync.Mutex
	journal *study.Journal
	places  map[ID]span
}

// JournalName is the file of a study that has its trials.
const JournalName = "trials.jsonl"

// openStore opens the trials of a study for one process. anew drops existing ones.
func openStore(dir string, anew bool) (*Store, error) {
	s := &Store{places: map[ID]span{}}
	var err error
	s.journal, err = study.OpenLines(filepath.Join(dir, JournalName), anew, s.line)
	return s, err
}

// viewStore opens the trials of a study that another process may be adding to.
func viewStore(dir string) (*Store, error) {
	s := &Store{places: map[ID]span{}}
	var err error
	s.journal, err = study.ViewLines(filepath.Join(dir, JournalName), s.line)
	return s, err
}

// line records the position of a record in the journal. The first of several of one trial counts.
func (s *Store) line(at int64, line []byte) error {
	var r struct{ Trial string }
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	b, err := hex.DecodeString(r.Trial)
	if err != nil || len(b) != len(ID{}) {
		return fmt.Errorf("trial %.40q is not a digest", r.Trial)
	}
	if _, ok := s.places[ID(b)]; !ok {
		s.places[ID(b)] = span{at, int32(len(line))}
	}
	return nil
}

// Has reports whether a trial has a record.
func (s *Store) Has(id ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.places[id]
	return ok
}

// Len returns the number of records.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.places)
}

// Add appends a record unless its trial has one.
func (s *Store) Add(id ID, r *Record) error {
	r.Trial = id.String()
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.places[id]; ok {
		return nil
	}
	at, err := s.journal.Append(b)
	if err == nil {
		s.places[id] = span{at, int32(len(b))}
	}
	return err
}

// Get returns the record of a trial; nil without one.
func (s *Store) Get(id ID) (*Record, error) {
	s.mu.Lock()
	at, ok := s.places[id]
	s.mu.Unlock()
	if !ok {
		return nil, nil
	}
	b := make([]byte, at.size)
	if err := s.journal.ReadAt(b, at.at); err != nil {
		return nil, err
	}
	r := &Record{}
	return r, json.Unmarshal(b, r)
}

// take adds the wanted records of another study's journal, and returns their number.
func (s *Store) take(dir string, wanted func(ID) bool) (n int, err error) {
	from, err := viewStore(dir)
	if err != nil {
		return 0, err
	}
	defer from.Close()
	ids := slices.SortedFunc(maps.Keys(from.places), func(a, b ID) int {
		return cmp.Compare(from.places[a].at, from.places[b].at)
	})
	for _, id := range ids {
		if !wanted(id) || s.Has(id) {
			continue
		}
		r, err := from.Get(id)
		if err == nil {
			err = s.Add(id, r)
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// Close gives the journal up to others.
func (s *Store) Close() error {
	if s.journal == nil { // nothing was opened
		return nil
	}
	return s.journal.Close()
}

package tune

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// Header is the first line of a journal: what must be equal for a search to go
// on from it.
type Header struct {
	Scenario string `json:"scenario_hash"`
	Version  string `json:"version"`
	Seed     uint64 `json:"seed"`
	Queue    int    `json:"queue"`
	Space    Space  `json:"space"`
}

// Resume reads a journal back into a search. A last line that was cut off by a
// crash is left out; keep is how much of the text is sound. The search makes
// every candidate again, so a journal of another search is noticed.
func (s *Search) Resume(want Header, journal []byte) (keep int, err error) {
	lines := bufio.NewScanner(bytes.NewReader(journal))
	lines.Buffer(nil, 1<<20)
	var have Header
	for n := 0; lines.Scan(); n++ {
		size := len(lines.Bytes()) + 1
		if keep+size > len(journal) {
			break // no newline: cut off
		}
		if n == 0 {
			if err := json.Unmarshal(lines.Bytes(), &have); err != nil {
				return 0, fmt.Errorf("line 1 is not a header of a search: %v", err)
			}
			if have != want {
				return 0, fmt.Errorf("it belongs to another search (%s)", difference(have, want))
			}
			keep += size
			continue
		}
		var t Trial
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
			return 0, fmt.Errorf("line %d is not a trial: %v", n+1, err)
		}
		if t.N != len(s.Trials) {
			return 0, fmt.Errorf("line %d holds trial %d, expected %d", n+1, t.N, len(s.Trials))
		}
		s.Add(t)
		keep += size
	}
	return keep, s.replay()
}

// replay makes the points of trials that were read: a candidate alone does not
// tell them.
func (s *Search) replay() error {
	read := s.Trials
	s.Trials = nil
	for len(s.Trials) < len(read) {
		if len(s.Trials) == 0 {
			s.Add(read[0])
			continue
		}
		made := s.Next(Generation)
		for i := range made {
			n := len(s.Trials)
			if n == len(read) {
				break
			}
			if made[i].Candidate != read[n].Candidate {
				return fmt.Errorf("trial %d is not the one this search makes", n)
			}
			read[n].point = made[i].point
			s.Add(read[n])
		}
	}
	return nil
}

// difference names the first field in which two headers differ.
func difference(have, want Header) string {
	a, b := reflect.ValueOf(have), reflect.ValueOf(want)
	for i := range a.NumField() {
		if !a.Field(i).Equal(b.Field(i)) {
			return fmt.Sprintf("%s %v, now %v", a.Type().Field(i).Tag.Get("json"), a.Field(i), b.Field(i))
		}
	}
	return "the same"
}

package result

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"railyard/unit"
)

// ReadAccount reads the summary of a run in dir whose step has an account of lost time. For other runs it returns
// an error with the reason.
func ReadAccount(dir string) (*Summary, error) {
	s, err := ReadSummary(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s has no summary.json: it is not a run directory", dir)
	case err != nil:
		return nil, err
	case s.Outcome != nil:
		return nil, fmt.Errorf("%s has no step to account for: %s", dir, s.Outcome.Why)
	case s.Unaccounted != "":
		return nil, fmt.Errorf("%s has no account of lost time: %s", dir, s.Unaccounted)
	case s.Chain == nil || !s.Complete:
		return nil, fmt.Errorf("%s has no account of lost time: the run did not end with a step; run its scenario to the end",
			dir)
	case s.StepTime <= 0 || s.Chain.Total() != s.StepTime:
		return nil, fmt.Errorf("%s: its causes add up to %s, not to its step of %s: it is damaged, or of another version; run the scenario again", filepath.Join(dir, "summary.json"), unit.Time(s.Chain.Total()).Show(),
			unit.Time(s.StepTime).Show())
	}
	return s, nil
}

package identify

import (
	"bufio"
	"io"
	"regexp"
	"strings"

	"railyard/internal/input"
	"railyard/internal/measured"
	"railyard/unit"
)

// Patterns of lines of nccl-tests that invalidate results, and of the setting of an algorithm.
var (
	failure     = regexp.MustCompile(`Test (?:NCCL|CUDA) failure.*`)
	outOfBounds = regexp.MustCompile(`Out of bounds values : *([1-9]\d*)`)
	algorithm   = regexp.MustCompile(`NCCL_ALGO(?:=| set by environment to |: ?)"?(?i:(ring|tree|nvls))\b`)
)

// scanned is the contents of a measurement besides its rows.
type scanned struct {
	count              int    // of failures
	first              string // of them
	outside, algorithm string // values out of bounds, and NCCL_ALGO
}

// scan reads the lines of a measurement for trouble.
func scan(f *File) (s scanned, err error) {
	from, _, err := input.Stream(f.Path, 0)
	if err != nil {
		return s, err
	}
	defer from.Close()
	lines := bufio.NewReaderSize(from, headSize)
	for {
		part, err := lines.ReadSlice('\n') // a longer line is read in parts
		text := string(part)
		if m := failure.FindString(text); m != "" {
			if s.count++; s.count == 1 {
				s.first = strings.TrimSpace(m)
			}
		}
		if m := outOfBounds.FindStringSubmatch(text); m != nil {
			s.outside = m[1]
		}
		if m := algorithm.FindStringSubmatch(text); m != nil {
			s.algorithm = strings.ToLower(m[1])
		}
		switch {
		case err == io.EOF:
			return s, nil
		case err != nil && err != bufio.ErrBufferFull:
			return s, err
		}
	}
}

// show adds trouble to an account, the worst first: failures, wrong results, rows that cannot be.
func (s *scanned) show(a *Account, set *measured.Set) {
	if s.count > 0 {
		a.show("%s: %s", unit.Plural(s.count, "failure"), s.first)
	}
	if s.outside != "" {
		a.show("wrong results: out of bounds values: %s (FAILED)", s.outside)
	}
	for _, wrong := range []bool{true, false} {
		for _, c := range set.Report.Left {
			if strings.Contains(c.What, "wrong results") == wrong {
				a.show("not used: %s", c.Words())
			}
		}
	}
}

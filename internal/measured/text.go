package measured

import (
	"regexp"
	"strings"

	"railyard/internal/stream"
)

// text walks through the lines of a terminal, in which nccl-tests and perftest may take turns with anything
// else: NCCL's log, mpirun's tags, a shell's prompts.
func (s *Set) text(file string, src *stream.Source) error {
	n, p := &ncclTests{set: s, file: file, first: len(s.Collectives)}, &perftest{set: s, file: file}
	err := src.Lines(func(line []byte, cut bool) error {
		if cut {
			return nil // no row is as long
		}
		words := strings.Fields(untagged(string(line)))
		if len(words) == 0 || s.full() {
			return nil
		}
		if !p.line(src.Line(), words) {
			n.line(src.Line(), words)
		}
		return nil
	})
	n.finish()
	return err
}

// tag matches the prefix that launchers put before a line: [1,0]<stdout>: of mpirun, 3: of srun -l, [0] of some;
// and what interleaved output leaves in the middle of it.
var tag = regexp.MustCompile(`^\s*(\[\d+(,\d+)?\](<std\w+>)?:?|\d+:)\s?|\[\d{1,3}\]`)

// untagged is a line without them.
func untagged(line string) string {
	if !strings.ContainsAny(line, ":[") {
		return line
	}
	return tag.ReplaceAllString(line, " ")
}

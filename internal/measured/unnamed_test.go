package measured

import (
	"strings"
	"testing"
)

// Rows of nccl-tests without the command say how to name the collective.
func TestUnnamed(t *testing.T) {
	text := "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n" +
		"1048576 16384 float none -1 101.1 10.37 9.72 0 101.2 10.36 9.71 N/A\n" +
		"2097152 32768 float none -1 151.1 13.88 13.01 0 151.2 13.87 13.00 N/A\n"
	_, err := Read(File{Name: "out.txt", Text: strings.NewReader(text)})
	if err == nil || !strings.Contains(err.Error(), "name the file all_reduce_perf.txt") {
		t.Error(err)
	}
}

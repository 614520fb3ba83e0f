package trace

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/story"
)

// What NCCL's logs become. A line of hyphens and "file" begins another file.
func TestNCCLLogStories(t *testing.T) {
	story.Cases(t, "nccllog", func(input string) string {
		var files []File
		for i, text := range strings.Split(input, "and\n") {
			files = append(files, File{fmt.Sprintf("nccl.%d.log", i), []byte(text)})
		}
		x, err := Read("", files...)
		if err != nil {
			return err.Error()
		}
		said := graph(x.DAG)
		if x.Site != (Site{}) {
			said += fmt.Sprintf("servers of %d GPUs and %d NICs\n", x.Site.GPUs, x.Site.NICs)
		}
		for _, s := range x.Settings {
			said += fmt.Sprintf("%s.%s: %s (%s)\n", s.Block, s.Key, s.Value, s.From)
		}
		return said + reported(x.Report)
	})
}

// Any log ends in a graph or an error.
func FuzzNCCLLog(f *testing.F) {
	f.Add([]byte(ncclLines))
	f.Fuzz(func(t *testing.T, text []byte) {
		if x, err := Read("nccl-log", File{"f", text}); err == nil && x.DAG == nil {
			t.Error("no graph")
		}
	})
}

// ncclLines are two ranks that reduce, then exchange.
const ncclLines = `
a:11:21 [0] NCCL INFO comm 0xa0 rank 0 nranks 2 commId 0x7 - Init COMPLETE
a:12:22 [1] NCCL INFO comm 0xa1 rank 1 nranks 2 commId 0x7 - Init COMPLETE
a:11:11 [0] NCCL INFO AllReduce: opCount 0 count 500 datatype 7 op 0 root 0 comm 0xa0 [nranks=2] stream 0x5
a:12:12 [1] NCCL INFO AllReduce: opCount 0 count 500 datatype 7 op 0 root 0 comm 0xa1 [nranks=2] stream 0x6
a:11:11 [0] NCCL INFO Send: opCount 1 count 100000 datatype 0 op 0 root 1 comm 0xa0 [nranks=2] stream 0x5
a:11:11 [0] NCCL INFO Recv: opCount 1 count 100000 datatype 0 op 0 root 1 comm 0xa0 [nranks=2] stream 0x5
a:12:12 [1] NCCL INFO Send: opCount 1 count 100000 datatype 0 op 0 root 0 comm 0xa1 [nranks=2] stream 0x6
a:12:12 [1] NCCL INFO Recv: opCount 1 count 100000 datatype 0 op 0 root 0 comm 0xa1 [nranks=2] stream 0x6
`

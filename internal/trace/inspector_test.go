package trace

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/story"
)

// What Inspector's records become.
func TestInspectorStories(t *testing.T) {
	story.Cases(t, "inspector", func(input string) string {
		var files []File
		for i, text := range strings.Split(input, "and\n") {
			files = append(files, File{fmt.Sprintf("pid-%d.log", i), []byte(text)})
		}
		x, err := Read("", files...)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%s, servers of %d GPUs\n", x.Format, x.Site.GPUs) + graph(x.DAG) +
			reported(x.Report)
	})
}

// Any records end in a graph or an error.
func FuzzInspector(f *testing.F) {
	f.Add([]byte(`{"header":{"id":"0x7","rank":0,"n_ranks":2,"nnodes":2},` +
		`"metadata":{"hostname":"a","pid":7},"coll_perf":{"coll":"AllReduce","coll_sn":1,` +
		`"coll_msg_size_bytes":4096}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if x, err := Read("inspector", File{"f0", text}); err == nil && x.DAG == nil {
			t.Error("no graph")
		}
	})
}

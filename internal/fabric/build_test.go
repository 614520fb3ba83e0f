package fabric

import (
	"testing"

	"railyard/internal/engine"
)

// More nodes than events can tell apart are refused before anything is made for them.
func TestTooManyNodes(t *testing.T) {
	b := Build(8)
	b.nodes = make([]nodeInfo, engine.MaxElements)
	_, err := b.Finish(nil)
	if err == nil || err.Error() != "262144 hosts and switches: one run can keep 262143 in order" {
		t.Errorf("%d nodes: %v", len(b.nodes), err)
	}
}

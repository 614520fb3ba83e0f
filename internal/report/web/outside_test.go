package web

import (
	"strings"
	"testing"

	"railyard/internal/cause"
)

// TestWithCauses checks that the page is unchanged without causes from extensions. With one it has its color and
// name.
func TestWithCauses(t *testing.T) {
	const page = "<html><head></head><body></body></html>"
	if withCauses(page) != page {
		t.Error("changed without causes")
	}
	got := pageWith(page, []*cause.Cause{{Key: "long_cables", Name: "cables </script>", Color: "#2f4a6b"}})
	for _, want := range []string{"<style>:root{--c-long_cables: #2f4a6b;}</style>",
		`id="railyard-causes">[["long_cables","cables \u003c/script\u003e"]]</script></head>`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

package extendtest

import (
	"testing"

	"railyard/internal/route"
)

// The path choices that Railyard has pass what extensions must pass.
func TestPath(t *testing.T) {
	for _, name := range []string{"ecmp", "flowlet", "spray", "spray-least"} {
		t.Run(name, func(t *testing.T) { Path(t, route.Lookup(name)) })
	}
}

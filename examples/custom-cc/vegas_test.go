package vegas

import (
	"testing"

	"railyard/extend/extendtest"
)

// TestConformance tests the algorithm as Railyard tests its own.
func TestConformance(t *testing.T) { extendtest.All(t) }

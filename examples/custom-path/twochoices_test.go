package twochoices

import (
	"testing"

	"railyard/extend/extendtest"
)

// TestConformance tests the path choice as Railyard tests its own.
func TestConformance(t *testing.T) { extendtest.All(t) }

package tokens

import (
	"testing"

	"railyard/extend/extendtest"
)

// TestConformance tests the transport as Railyard tests its own: losses, reordering, dead paths and hostile peers.
func TestConformance(t *testing.T) { extendtest.All(t) }

package use

import (
	"testing"

	"tiny/sum"
)

func TestFar(t *testing.T) {
	if sum.Far(4095) || !sum.Far(4096) {
		t.Error("4,096 is far, 4,095 is not")
	}
}

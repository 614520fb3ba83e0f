package flowscsv

import (
	"os"
	"testing"

	"railyard/extend/extendtest"
)

// TestConformance reads the example, and beginnings of it.
func TestConformance(t *testing.T) {
	text, err := os.ReadFile("flows.csv")
	if err != nil {
		t.Fatal(err)
	}
	extendtest.Importer(t, importer, "flows.csv", text)
	extendtest.All(t)
}

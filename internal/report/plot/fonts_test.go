package plot

import (
	"testing"

	"gonum.org/v1/plot/font/liberation"
)

// TestFonts: each of the fonts that gonum/plot links, ten of which are aliases of the other two, has the glyphs of
// plots.
func TestFonts(t *testing.T) {
	all := liberation.Collection()
	if len(all) != 12 {
		t.Errorf("%d fonts, want 12", len(all))
	}
	for _, f := range all {
		for _, r := range "Aµ×–…≤" {
			if i, err := f.Face.GlyphIndex(nil, r); err != nil || i == 0 {
				t.Errorf("%+v has no %q: %v", f.Font, r, err)
			}
		}
	}
}

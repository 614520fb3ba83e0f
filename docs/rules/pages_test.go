package rules

import (
	"strings"
	"testing"
)

// TestPage: a rule's page is found by its name, and nothing else is a page: not the index, and no way out of
// the folder.
func TestPage(t *testing.T) {
	if text, ok := Page("threshold-order"); !ok || !strings.HasPrefix(text, "# threshold-order\n") {
		t.Errorf("%v, %.40q", ok, text)
	}
	for _, name := range []string{"", "README", "no-such-rule", "../rules/threshold-order", "pages"} {
		if text, ok := Page(name); ok {
			t.Errorf("%q is a page: %.40q", name, text)
		}
	}
}

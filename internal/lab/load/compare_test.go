package load

import (
	"slices"
	"strings"
	"testing"
)

// What stands behind a name and has a value is its own; other words are the next.
func TestControls(t *testing.T) {
	for text, want := range map[string]string{
		"dcqcn":                              "dcqcn",
		"dcqcn,swift,nscc":                   "dcqcn|swift|nscc",
		"dcqcn:nic,swift,base_target=2ms":    "dcqcn:nic|swift,base_target=2ms",
		"swift,ai=2,beta=0.5,swift":          "swift,ai=2,beta=0.5|swift",
		"":                                   "! unknown congestion control \"\"",
		"dcqcn,,swift":                       "! unknown congestion control \"\"",
		"ai=2":                               "! unknown congestion control \"ai=2\"",
		"dcqcn,ai=2":                         "! ai of dcqcn: \"2\" is not a rate",
		"swift,swift":                        "! swift is repeated",
		"hpcc":                               "! hpcc needs switches that write into packets",
		"swift,fs_max=0.05":                  "! fs_max of swift",
		"dcqcn,bbr":                          "! unknown congestion control \"bbr\"",
		"swift:nowhere":                      "! swift has no profile",
		"swift,base_target=2 parsecs,dcqcn ": "! base_target of swift",
	} {
		list, err := Controls(text)
		got := strings.Join(list, "|")
		if err != nil {
			got = "! " + err.Error()
		}
		if got != want && (!strings.HasPrefix(want, "!") || !strings.HasPrefix(got, want)) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	all, err := Controls("all")
	if err != nil || !slices.Contains(all, "nscc") || slices.Contains(all, "hpcc") ||
		slices.Contains(all, "ndp") {
		t.Errorf("all: %v %v", all, err)
	}
}

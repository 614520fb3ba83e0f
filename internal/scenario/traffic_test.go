package scenario_test

import (
	"strings"
	"testing"
)

// A size that is none is not looked for as a file; what is missing says what stands there.
func TestBackgroundSizes(t *testing.T) {
	for size, want := range map[string]string{
		"64KB": "",
		"0KB":  `traffic.background.sizes: messages have a byte or more, found "0KB"`,
		"none": "traffic.background.sizes: ",
		"":     "traffic.background.sizes: is missing: one size, as 64KB",
	} {
		_, err := planOf(t, shared+"workload: {traffic: {background: {load: 10, for: 20us, sizes: '"+size+
			"'}}}\n")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %s", size, err, want)
		}
	}
}

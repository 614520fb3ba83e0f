package verbs

import "testing"

// Unknown names are written as numbers, so that no information about an error is lost.
func TestUnknownNames(t *testing.T) {
	for got, want := range map[string]string{Status(99).String(): "status 99",
		Status(-1).String():        "status -1",
		StatusRetryExcErr.String(): "IBV_WC_RETRY_EXC_ERR"} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

package main

import (
	"os"
	"strings"
	"testing"

	"railyard/internal/long"
)

// A command's study on a disk that becomes full at any request ends with one error that names a file or folder and
// the reason. With space again the same command prints the output of an undisturbed one. RAILYARD_LONG=1 tries all
// requests of all commands, otherwise two of compare and of config tune, which writes its own files.
func TestFullDiskStudies(t *testing.T) {
	studyFiles(t)
	for i, x := range studies {
		if !long.On() && i != 0 && !strings.Contains(x.args, "--out") {
			continue
		}
		study := append(strings.Fields(x.args), "--study", "full")
		fresh := func() { os.RemoveAll("full"); os.RemoveAll("tune") }
		fresh()
		code, want, errs := call(t, study...)
		if code != 0 {
			t.Fatalf("%s: exit %d, %s", x.args, code, errs)
		}
		fresh()
		requests, code, errs := fullAt(t, 0, study...)
		if requests < x.runs || code != 0 {
			t.Fatalf("%s: %d requests for space, exit %d: %s", x.args, requests, code, errs)
		}
		for n := 1; n <= requests; n++ {
			if !long.On() && n != 4 && n != requests/4*3 {
				continue
			}
			fresh()
			made, code, errs := fullAt(t, n, study...)
			if made < n {
				continue // two workers do not request the same number each time
			}
			if code == 0 || strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "error: ") ||
				!strings.Contains(errs, ": no space left on device") {
				t.Errorf("%s: full from request %d of %d on: exit %d, %s", x.args, n, requests, code, errs)
			}
			if code, out, errs := call(t, study...); code != 0 || out != want {
				t.Fatalf("%s: full from request %d of %d on, resumed: exit %d, %s%s", x.args, n, requests, code, out, errs)
			}
		}
	}
}

package scenario_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"railyard/internal/scenario"
)

// A document sent to another process is equal, even if it was changed after reading.
func TestPortable(t *testing.T) {
	files, err := filepath.Glob("../../scenarios/*.yaml")
	if err != nil || len(files) < 20 {
		t.Fatal(len(files), err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		d, err := scenario.Parse(path, text, []string{"seed=7"})
		if err != nil {
			t.Fatal(err)
		}
		down := false
		d.File.Events = append(d.File.Events, scenario.Event{At: 5, UpDown: scenario.UpDown{Up: &down}, NIC: "x"})
		d.File.OwnCC()
		packed, err := d.Portable()
		if err != nil {
			t.Fatal(err)
		}
		again, err := scenario.UnpackDocument(path, packed)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if !reflect.DeepEqual(d.File, again.File) {
			t.Errorf("%s: another document", path)
		}
		if twice, _ := again.Portable(); !bytes.Equal(packed, twice) {
			t.Errorf("%s: another text", path)
		}
		d.File.Seed++
		if other, _ := d.Portable(); bytes.Equal(packed, other) {
			t.Errorf("%s: another seed, the same text", path)
		}
	}
	for _, bad := range []string{"", "{}", `{"File":[1]}`} {
		if _, err := scenario.UnpackDocument("x", []byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

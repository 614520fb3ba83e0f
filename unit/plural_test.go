package unit

import "testing"

// One of something is one; of others the noun has its plural, of several words the last.
func TestPlural(t *testing.T) {
	for want, got := range map[string]string{"0 cables": Plural(0, "cable"), "1 cable": Plural(1, "cable"),
		"2 switches": Plural(2, "switch"), "7 queue pairs": Plural(int64(7), "queue pair"),
		"1 queue pair": Plural(int64(1), "queue pair"), "3 classes": Plural(3, "class"),
		"5 entries": Plural(5, "entry"), "4 ways": Plural(4, "way"), "9 priorities": Plural(9, "priority"),
		"1 entry": Plural(1, "entry"), "6 GPUs": Plural(6, "GPU"), "2 boxes": Plural(2, "box"),
		"8 leaves": Plural(8, "leaf")} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

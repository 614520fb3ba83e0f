package scenarios

import (
	"os"
	"path/filepath"
	"testing"
)

// Every file of the folder is in the binary, as it is, and in one of the two lists.
func TestAllFilesAreEmbedded(t *testing.T) {
	lists := map[string]map[string]string{"*.yaml": Texts(), "clusters/*.yaml": Clusters()}
	for pattern, texts := range lists {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 || len(files) != len(texts) {
			t.Fatalf("%s: %d files, %d texts, %v", pattern, len(files), len(texts), err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil || texts[filepath.ToSlash(f)] != string(b) {
				t.Errorf("%s is not what is embedded: %v", f, err)
			}
		}
	}
}

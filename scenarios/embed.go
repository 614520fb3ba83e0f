package scenarios

import (
	"embed"
	"io/fs"
)

//go:embed *.yaml *.sbatch clusters/*.yaml clusters/*.txt traces/*.txt sizes/*.txt
var files embed.FS

// Texts returns the shipped scenarios that run as they are, by file name.
func Texts() map[string]string { return texts("*.yaml") }

// Scripts returns the shipped job scripts, for railyard submit, by file name.
func Scripts() map[string]string { return texts("*.sbatch") }

// Clusters returns the published clusters by file name, clusters/hpn.yaml. Many are too large to be run in whole;
// their about names the settings that make them small.
func Clusters() map[string]string { return texts("clusters/*.yaml") }

// File reads a file that scenarios name: what ranks do, what is inside a published cluster's servers, or sizes of
// messages.
func File(name string) ([]byte, error) {
	if b, err := files.ReadFile("clusters/" + name); err == nil {
		return b, nil
	}
	return files.ReadFile(name)
}

func texts(pattern string) map[string]string {
	out := map[string]string{}
	names, _ := fs.Glob(files, pattern)
	for _, n := range names {
		if b, err := files.ReadFile(n); err == nil {
			out[n] = string(b)
		}
	}
	return out
}

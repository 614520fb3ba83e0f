// Package scenarios holds the shipped scenarios as texts.
package scenarios

import (
	"embed"
	"io/fs"
)

//go:embed *.yaml *.sbatch clusters/*.yaml clusters/*.txt
var files embed.FS

// Texts returns the shipped scenarios that run as they are, by file name.
func Texts() map[string]string { return texts("*.yaml") }

// Scripts returns the shipped job scripts, for railyard submit, by file name.
func Scripts() map[string]string { return texts("*.sbatch") }

// Clusters returns the published clusters by file name, clusters/hpn.yaml. Many are too large to
// be run in whole; their about says what makes them small.
func Clusters() map[string]string { return texts("clusters/*.yaml") }

// File reads a file that a published cluster names: what is inside its servers.
func File(name string) ([]byte, error) { return files.ReadFile("clusters/" + name) }

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

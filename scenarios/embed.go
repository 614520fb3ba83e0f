// Package scenarios holds the shipped scenarios as texts.
package scenarios

import (
	"embed"
	"io/fs"
)

//go:embed *.yaml clusters/*.yaml
var files embed.FS

// Texts returns the shipped scenarios that run as they are, by file name.
func Texts() map[string]string { return texts("*.yaml") }

// Clusters returns the published clusters by file name, clusters/hpn.yaml. Many are too large to
// be run in whole; their about says what makes them small.
func Clusters() map[string]string { return texts("clusters/*.yaml") }

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

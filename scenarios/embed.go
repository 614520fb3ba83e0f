// Package scenarios holds the shipped scenarios as texts.
package scenarios

import (
	"embed"
	"io/fs"
)

//go:embed *.yaml
var files embed.FS

// Texts returns the shipped scenarios by file name.
func Texts() map[string]string {
	out := map[string]string{}
	names, _ := fs.Glob(files, "*.yaml")
	for _, n := range names {
		if b, err := files.ReadFile(n); err == nil {
			out[n] = string(b)
		}
	}
	return out
}

package scenariofile

import (
	"path/filepath"
	"strings"
)

// Slug makes a directory name of a scenario's name.
func Slug(name, path string) string {
	if name == "" && path == "-" {
		name = "stdin"
	} else if name == "" {
		name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	name = strings.TrimLeft(name, ".")
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, name[:min(len(name), 80)])
}

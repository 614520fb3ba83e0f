package result

import _ "embed"

// The declarations of all rows: the reference of columns is made of their comments.
var (
	//go:embed tables.go
	tablesGo string
	//go:embed critical.go
	criticalGo string
	//go:embed roots.go
	rootsGo string
)

// Declared returns the Go source of the rows of all tables.
func Declared() []string { return []string{tablesGo, criticalGo, rootsGo} }

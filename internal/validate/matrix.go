package validate

import (
	_ "embed"
	"fmt"
	"io/fs"
	"strings"
)

// perm1024 is who sends to whom, by number, in perm_1024n_1024c_0u_2000000b.cm of uet-htsim and csg-htsim,
// whose figures for 1,024 hosts are for these pairs.
//
//go:embed perm1024.txt
var perm1024 string

// sameMatrix is the traffic of rows that are compared with those figures: 2 MB for each pair.
const sameMatrix = "matrix: perm1024.cm"

// connections reads the one connection matrix that scenarios of rows name.
func connections(name string) ([]byte, error) {
	if !strings.HasSuffix(sameMatrix, " "+name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	pairs := strings.Split(strings.Join(strings.Fields(perm1024), " "), ", ")
	var b strings.Builder
	fmt.Fprintf(&b, "Nodes %d\nConnections %[1]d\n", len(pairs))
	for _, p := range pairs {
		from, to, _ := strings.Cut(p, " ")
		fmt.Fprintf(&b, "%s->%s start 0 size 2000000\n", from, to)
	}
	return []byte(b.String()), nil
}

package main

import (
	"fmt"
	"io"

	"railyard/internal/report"
)

// tellNone says which files of directories were passed over.
func tellNone(w io.Writer, none []string) {
	const most = 10
	for _, why := range none[:min(len(none), most)] {
		report.Labelled(w, "ignored: ", why)
	}
	if len(none) > most {
		fmt.Fprintf(w, "ignored: %d more files\n", len(none)-most)
	}
}

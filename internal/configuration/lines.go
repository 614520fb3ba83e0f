package configuration

import (
	"strings"

	"railyard/internal/input"
)

// lineEnds turns the line ends of other systems into line feeds.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Lines returns a function that reads a line of a configuration, or "" where there is none.
func Lines() func(file string, n int) string {
	read := map[string][]string{}
	return func(file string, n int) string {
		list, ok := read[file]
		if !ok {
			if text, err := input.Text(file, 1<<20); err == nil {
				list = strings.Split(lineEnds.Replace(string(text)), "\n")
			}
			read[file] = list
		}
		if n < 1 || n > len(list) {
			return ""
		}
		return list[n-1]
	}
}

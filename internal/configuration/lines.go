package configuration

import (
	"cmp"
	"strings"

	"railyard/internal/input"
	"railyard/internal/swconf"
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

// Names returns a function that names the switch or server of a file, or the file where that names none.
func Names(configs []*swconf.Config, hosts []*swconf.Host) func(file string) string {
	of := map[string]string{}
	for _, c := range configs {
		of[c.File] = c.Name()
	}
	for _, h := range hosts {
		of[h.File] = h.Name()
	}
	return func(file string) string { return cmp.Or(of[file], file) }
}

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// readmeCommands are the command lines of the README, comments cut off.
func readmeCommands(t *testing.T) (list []string) {
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(b), "\\\n", " ")
	for _, l := range strings.Split(text, "\n") {
		l, _, _ = strings.Cut(strings.TrimSpace(l), " #")
		for _, part := range strings.FieldsFunc(l, func(r rune) bool { return r == ';' || r == '&' }) {
			part = strings.TrimSpace(part)
			for _, start := range []string{"go run ./cmd/railyard ", "./railyard ", "sed "} {
				if strings.HasPrefix(part, start) {
					list = append(list, part)
				}
			}
		}
	}
	return list
}

// The README's commands are ours as they stand, and name files that exist, or that a
// command before has written.
func TestReadme(t *testing.T) {
	list := readmeCommands(t)
	if len(list) < 25 {
		t.Fatalf("%d commands", len(list))
	}
	file := regexp.MustCompile(`^[A-Za-z0-9_./-]+\.(yaml|cfg|json|pcapng)$`)
	var made []string // files, and folders
	for _, l := range list {
		words := strings.Fields(l)
		for i, w := range words {
			before := words[max(i-1, 0)]
			if before == ">" || slices.Contains([]string{"--out", "--pcap", "--html", "--plot", "--parquet"},
				before) {
				made = append(made, w)
				continue
			}
			for _, f := range strings.Split(w, ",") {
				written := slices.ContainsFunc(made, func(m string) bool {
					return f == m || strings.HasPrefix(f, m+"/")
				})
				if file.MatchString(f) && !written {
					if _, err := os.Stat(filepath.Join("../..", f)); err != nil {
						t.Errorf("%s: %s does not exist", l, f)
					}
				}
			}
		}
		args := strings.Fields(strings.TrimPrefix(strings.TrimPrefix(l, "go run ./cmd/railyard"),
			"./railyard"))
		if words[0] == "sed" || slices.Contains(args, "rdma") && args[0] == "lab" {
			continue
		}
		if code, _, errs := call(t, append(args, "--help")...); code != 0 {
			t.Errorf("%s: %s", l, errs)
		}
	}
}

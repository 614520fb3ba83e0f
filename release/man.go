package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
)

// manPages returns a compressed man page for each page of commands that a program's documentation has.
func manPages(program string) (pages []item, err error) {
	list, err := output(program, "docs", "--list")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(list)) {
		path, _, _ := strings.Cut(line, " ")
		name, ok := strings.CutPrefix(path, "reference/commands")
		if !ok {
			continue
		}
		text, err := output(program, "docs", path)
		if err != nil {
			return nil, err
		}
		name = strings.TrimSuffix("railyard-"+strings.TrimPrefix(name, "/"), "-")
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(md2man.Render([]byte(manual(name, string(text))))); err != nil {
			return nil, err
		}
		if err := z.Close(); err != nil {
			return nil, err
		}
		pages = append(pages, item{"man/man1/" + name + ".1.gz", 0o644, b.Bytes()})
	}
	if len(pages) < 40 {
		return nil, fmt.Errorf("%d pages of commands", len(pages))
	}
	return pages, nil
}

// manual returns a page of a command with the sections of a man page.
func manual(name, page string) string {
	_, body, _ := strings.Cut(page, "\n\n")
	summary, rest, _ := strings.Cut(body, "\n\n")
	rest = strings.Replace(rest, "```text\n", "# SYNOPSIS\n\n```\n", 1)
	if name == "railyard" {
		summary, rest = "simulate the network of AI training clusters", body
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%% %s 1\n\n# NAME\n\n%s - %s\n\n", strings.ToUpper(name), name, strings.TrimSuffix(summary, "."))
	for line := range strings.Lines(rest) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			line = "# " + strings.ToUpper(title)
		}
		b.WriteString(line)
	}
	return b.String()
}

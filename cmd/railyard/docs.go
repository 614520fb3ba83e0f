package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/manual"
	"railyard/internal/reference"
	"railyard/internal/report"
	"railyard/internal/report/usage"
)

type docsCmd struct {
	Page   []string `arg:"" optional:"" help:"Page to print as Markdown: tutorials/first-run (serve all); with --search: more words" placeholder:"PAGE"`
	List   bool     `help:"List all pages" xor:"what"`
	Search []string `help:"List the pages that contain all words" placeholder:"WORD" xor:"what"`
	Out    string   `help:"Write the site as static files" placeholder:"DIR" xor:"what"`
	Force  bool     `help:"Write into a folder that has files" with:"out"`
	Port   int      `help:"Local port" default:"8081" range:"0,65535" group:"Options"`
}

func (c *docsCmd) Help() string {
	return `Serves the documentation of this version on a local port, until Ctrl-C. It works offline, with a search.
The reference is generated from the code: scenario keys, commands, columns, causes, hardware models and
comparisons with published results.

Examples:
  railyard docs
  railyard docs tutorials/first-run
  railyard docs --search pfc headroom
  railyard docs --out site`
}

// Run is the docs command.
func (c *docsCmd) Run(e *env) error {
	site, err := documentation()
	if err != nil {
		return err
	}
	switch {
	case len(c.Search) > 0:
		words := strings.Fields(strings.Join(append(c.Search, c.Page...), " "))
		found := site.Find(words)
		if len(found) == 0 {
			near, most, of := site.Near(words)
			if len(near) == 0 {
				return fmt.Errorf("no page contains a word of %s", strings.Join(words, ", "))
			}
			report.Labelled(e.stderr, "note: ", fmt.Sprintf("no page contains all of that as written; pages with %d of the %d words:", most, of))
			found = near
		}
		c.list(e, found)
		return nil
	case len(c.Page) > 1:
		return input.Fault(field.New("PAGE", "several pages; accepted: one, or --search %s", strings.Join(c.Page, " ")))
	case len(c.Page) > 0:
		return c.print(e, site, c.Page[0])
	case c.List:
		c.list(e, site.Pages())
		return nil
	case c.Out != "":
		return c.write(e, site)
	}
	return c.serve(e, site)
}

// print prints a page as it is written.
func (c *docsCmd) print(e *env, site *manual.Site, name string) error {
	p, err := site.Named(name)
	if err != nil {
		return input.Fault(err)
	}
	_, err = fmt.Fprint(e.stdout, p.Text)
	return err
}

// list prints paths and titles of pages.
func (c *docsCmd) list(e *env, pages []*manual.Page) {
	width := 0
	for _, p := range pages {
		width = max(width, len(p.Path))
	}
	for _, p := range pages {
		fmt.Fprintf(e.stdout, "%-*s  %s\n", width, p.Path, p.Title)
	}
}

// write writes the site into a directory that is new or empty, or into any with --force.
func (c *docsCmd) write(e *env, site *manual.Site) error {
	if entries, err := os.ReadDir(c.Out); err == nil && len(entries) > 0 && !c.Force {
		return input.Fault(fmt.Errorf("%s has files; --force writes into it", c.Out))
	}
	n, err := site.Write(c.Out)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "%d files written; begin with %s/index.html\n", n, c.Out)
	return err
}

// serve serves the site until it is interrupted.
func (c *docsCmd) serve(e *env, site *manual.Site) error {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", c.Port))
	if err != nil {
		return input.Fault(err)
	}
	fmt.Fprintf(e.stdout, "http://%s/\nServes the documentation; Ctrl-C stops the server\n", l.Addr())
	return serve(l, &http.Server{Handler: site, ReadHeaderTimeout: 10 * time.Second}, func() {})
}

// documentation returns the site of this version.
func documentation() (*manual.Site, error) {
	p, release := newParser()
	defer release()
	all, err := reference.ReadOutputs(outputs)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, n := range p.kong.Model.Leaves(true) {
		names = append(names, n.Path())
	}
	return reference.Site(append(usage.Pages(p.kong.Model), all.Pages(names)...), shelves(), helpTopics["exit"])
}

package manual

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"path"
	"slices"
	"strings"

	_ "embed"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// The style of the pages, and their search.
var (
	//go:embed style.css
	style []byte
	//go:embed search.js
	search []byte
)

// markdown renders tables, and gives headings anchors.
var markdown = goldmark.New(goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// HTML returns a page as HTML.
func (s *Site) HTML(p *Page) ([]byte, error) {
	source := []byte(p.Text)
	root := markdown.Parser().Parse(text.NewReader(source))
	s.link(p, root, source)
	var b bytes.Buffer
	top := relative(p, "")
	fmt.Fprintf(&b, `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>%s – Railyard</title>
<link rel="stylesheet" href="%[2]sstyle.css">
<a class="skip" href="#content">Skip to content</a>
<nav aria-label="Contents">
<a class="home" href="%[2]sindex.html">Railyard</a>
<form role="search"><input type="search" id="search" placeholder="Search (press /)" aria-label="Search" data-root="%[2]s"></form>
`, html.EscapeString(p.Title), top)
	s.contents(&b, p)
	b.WriteString("</nav>\n<main id=\"content\">\n<div id=\"found\" hidden></div>\n<article>\n")
	if err := markdown.Renderer().Render(&b, source, root); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Path, err)
	}
	if p.Made {
		b.WriteString("<p class=\"made\">Generated from the code of this version.</p>\n")
	}
	b.WriteString("<footer>")
	at := slices.Index(s.order, p)
	if at > 0 {
		anchor(&b, p, s.order[at-1], `rel="prev"`)
	}
	if at < len(s.order)-1 {
		anchor(&b, p, s.order[at+1], `rel="next"`)
	}
	fmt.Fprintf(&b, "</footer>\n</article>\n</main>\n<script src=\"%ssearch.js\" defer></script>\n</html>\n", top)
	return b.Bytes(), nil
}

// contents writes the table of contents; the section of the page is open.
func (s *Site) contents(b *bytes.Buffer, here *Page) {
	section := ""
	for _, p := range s.order {
		if p.Section != section {
			if section != "" {
				b.WriteString("</ul></details>\n")
			}
			section = p.Section
			open := ""
			if section == here.Section {
				open = " open"
			}
			fmt.Fprintf(b, "<details%s><summary>%s</summary>\n<ul>", open, html.EscapeString(section))
		}
		current := ""
		if p == here {
			current = `aria-current="page"`
		}
		b.WriteString("<li>")
		anchor(b, here, p, current)
		b.WriteString("</li>\n")
	}
	b.WriteString("</ul></details>\n")
}

// anchor writes a link from a page to another one.
func anchor(b *bytes.Buffer, from, to *Page, attribute string) {
	fmt.Fprintf(b, `<a href="%s" %s>%s</a>`, html.EscapeString(relative(from, to.Path+".html")), attribute,
		html.EscapeString(to.Title))
}

// link rewrites the links of a page for the site. A link to a file outside the site becomes its text and path.
func (s *Site) link(p *Page, root ast.Node, source []byte) {
	var outside []*ast.Link
	ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Image:
			name, _ := s.target(p, string(n.Destination))
			n.Destination = []byte(relative(p, name))
		case *ast.Link:
			if strings.Contains(string(n.Destination), "://") {
				break
			}
			name, anchor := s.target(p, string(n.Destination))
			if s.pages[name] == nil {
				outside = append(outside, n)
				break
			}
			to := relative(p, name+".html")
			if anchor != "" {
				to += "#" + anchor
			}
			n.Destination = []byte(to)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range outside {
		name, _ := s.target(p, string(n.Destination))
		label := ast.NewString(fmt.Appendf(plainOf(n, source), " (%s)", strings.TrimPrefix(path.Clean(name), "../")))
		n.Parent().ReplaceChild(n.Parent(), n, label)
	}
}

// parse returns the links and the anchors of a page.
func (s *Site) parse(p *Page) (links, anchors []string) {
	root := markdown.Parser().Parse(text.NewReader([]byte(p.Text)))
	ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Image:
			links = append(links, string(n.Destination))
		case *ast.Link:
			links = append(links, string(n.Destination))
		case *ast.Heading:
			if id, ok := n.AttributeString("id"); ok {
				anchors = append(anchors, string(id.([]byte)))
			}
		}
		return ast.WalkContinue, nil
	})
	return links, anchors
}

// plain returns the text of a page without markup.
func (s *Site) plain(p *Page) string {
	source := []byte(p.Text)
	return string(plainOf(markdown.Parser().Parse(text.NewReader(source)), source))
}

// plainOf returns the text below a node.
func plainOf(root ast.Node, source []byte) []byte {
	var b bytes.Buffer
	ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.FencedCodeBlock:
			if entering {
				b.Write(n.Lines().Value(source))
			}
		default:
			if !entering && n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.Bytes()
}

// quote returns a text as a literal of JavaScript.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

// File returns a file of the site: a page as HTML, a picture, or the style, search and index. It reports fs.ErrNotExist
// for others.
func (s *Site) File(name string) ([]byte, error) {
	switch name {
	case "style.css":
		return style, nil
	case "search.js":
		return search, nil
	case "pages.js":
		return s.index(), nil
	}
	if page, ok := strings.CutSuffix(name, ".html"); ok && s.pages[page] != nil {
		return s.HTML(s.pages[page])
	}
	if strings.HasSuffix(name, ".png") || strings.HasSuffix(name, ".svg") {
		return fs.ReadFile(s.files, name)
	}
	return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

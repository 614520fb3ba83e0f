package manual

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"railyard/internal/field"
)

// A Page is one page of the site.
type Page struct {
	Path    string // without suffix: tutorials/incast
	Title   string
	Section string
	Text    string // Markdown
	Made    bool   // generated from code
}

// A Section is a heading of the table of contents with the paths of its pages, in order. A path that ends with a
// slash denotes all pages below it, sorted.
type Section struct {
	Title string
	Pages []string
}

// A Site is the documentation. New returns one.
type Site struct {
	sections []Section
	pages    map[string]*Page // by path
	order    []*Page
	files    fs.FS // pictures
	html     map[string][]byte
}

// Unlisted is the section of pages that contents does not list.
const Unlisted = "More"

// New returns the site of the Markdown files in files and of generated pages, arranged by contents. It reports an error
// if a page is missing.
func New(files fs.FS, contents []Section, made []Page) (*Site, error) {
	s := &Site{sections: contents, pages: map[string]*Page{}, files: files, html: map[string][]byte{}}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".md") {
			return err
		}
		b, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return s.add(Page{Path: strings.TrimSuffix(name, ".md"), Text: string(b)})
	})
	if err != nil {
		return nil, err
	}
	for _, p := range made {
		p.Made = true
		if err := s.add(p); err != nil {
			return nil, err
		}
	}
	for _, section := range contents {
		for _, name := range section.Pages {
			if err := s.place(section.Title, name); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.pages)) {
		if s.pages[name].Section == "" {
			s.pages[name].Section = Unlisted
			s.order = append(s.order, s.pages[name])
		}
	}
	return s, nil
}

// add takes a page, whose first line is its title.
func (s *Site) add(p Page) error {
	title, ok := strings.CutPrefix(strings.SplitN(p.Text, "\n", 2)[0], "# ")
	switch {
	case !ok:
		return fmt.Errorf("page %s: the first line is not a title", p.Path)
	case s.pages[p.Path] != nil:
		return fmt.Errorf("page %s is repeated", p.Path)
	}
	p.Title = strings.ReplaceAll(title, "`", "")
	s.pages[p.Path] = &p
	return nil
}

// place puts a page, or all pages of a folder, at the end of a section.
func (s *Site) place(section, name string) error {
	list := []string{name}
	if strings.HasSuffix(name, "/") {
		list = nil
		for other, p := range s.pages {
			if strings.HasPrefix(other, name) && p.Section == "" {
				list = append(list, other)
			}
		}
		slices.Sort(list)
	}
	for _, name := range list {
		p := s.pages[name]
		if p == nil || p.Section != "" {
			return fmt.Errorf("section %s: page %s is missing or repeated", section, name)
		}
		p.Section = section
		s.order = append(s.order, p)
	}
	return nil
}

// Pages lists the pages in the order of the table of contents.
func (s *Site) Pages() []*Page { return s.order }

// Page returns a page by its path, or nil.
func (s *Site) Page(name string) *Page { return s.pages[name] }

// Named returns the page of a name: its path, also as that of the file in the repository, docs/tutorials/first-run.md.
func (s *Site) Named(name string) (*Page, error) {
	short := strings.TrimPrefix(path.Clean("/"+name), "/")
	short = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(short, "docs/"), ".md"), ".html")
	if p := s.Page(short); p != nil {
		return p, nil
	}
	var names []string
	last := map[string]string{} // paths by what follows their folder
	for _, p := range slices.Backward(s.order) {
		names = append(names, p.Path)
		last[path.Base(p.Path)] = p.Path
	}
	slices.Reverse(names)
	e := field.Choice("PAGE", name, names, "unknown page %s", field.Quote(name)).ListedBy("railyard docs --list")
	if e.Hint == "" { // the folder is left out
		e.Hint = last[field.Choice("", path.Base(short), slices.Sorted(maps.Keys(last)), "").Hint]
	}
	return nil, e
}

// target resolves a link of a page: the path of a page or file, and the anchor.
func (s *Site) target(from *Page, link string) (name, anchor string) {
	link, anchor, _ = strings.Cut(link, "#")
	if link == "" {
		return from.Path, anchor
	}
	name = path.Join(path.Dir(from.Path), link)
	return strings.TrimSuffix(name, ".md"), anchor
}

// relative returns the link from a page to a path of the site.
func relative(from *Page, to string) string {
	return strings.Repeat("../", strings.Count(from.Path, "/")) + to
}

// Problems are links that end nowhere, one a line.
type Problems []string

// Check returns the links to pages, anchors and pictures that do not exist. Links that leave the site are returned as
// paths relative to the folder of the documents, with the page that contains them.
func (s *Site) Check() (broken Problems, outside map[string]string) {
	outside = map[string]string{}
	anchors := map[string]map[string]bool{}
	links := map[*Page][]string{}
	for _, p := range s.order {
		var names []string
		links[p], names = s.parse(p)
		anchors[p.Path] = map[string]bool{}
		for _, n := range names {
			anchors[p.Path][n] = true
		}
	}
	for _, p := range s.order {
		for _, link := range links[p] {
			if strings.Contains(link, "://") {
				continue
			}
			name, anchor := s.target(p, link)
			switch {
			case strings.HasPrefix(name, "../"):
				outside[path.Clean(name)] = p.Path
			case s.pages[name] != nil:
				if anchor != "" && !anchors[name][anchor] {
					broken = append(broken, fmt.Sprintf("%s: %s: no heading #%s", p.Path, link, anchor))
				}
			default:
				if _, err := fs.Stat(s.files, name); err != nil {
					broken = append(broken, fmt.Sprintf("%s: %s: no such page", p.Path, link))
				}
			}
		}
	}
	slices.Sort(broken)
	return broken, outside
}

// index returns the texts of all pages for the search of the browser, a line of JavaScript per page, and the
// abbreviations of the glossary.
func (s *Site) index() []byte {
	var b bytes.Buffer
	b.WriteString("const pages = [\n")
	for _, p := range s.order {
		fmt.Fprintf(&b, "[%s,%s,%s,%s],\n", quote(p.Path+".html"), quote(p.Title), quote(p.Section), quote(s.plain(p)))
	}
	b.WriteString("];\nconst abbreviations = [\n")
	for _, a := range s.abbreviations() {
		fmt.Fprintf(&b, "[%s,%s],\n", quote(a.word), quote(strings.Join(a.longs, "|")))
	}
	b.WriteString("];\n")
	return b.Bytes()
}

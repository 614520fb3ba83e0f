package manual

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

var files = fstest.MapFS{
	"index.md": {Data: []byte("# Home\n\n[guide](guides/a.md#second-part), [outside](../go.mod), [web](https://example.org/)\n\n" +
		"![picture](guides/p.png)\n")},
	"guides/a.md":  {Data: []byte("# The `a` guide\n\n## Second part\n\n| a | b |\n|---|---|\n| 1 | <2> |\n\n[home](../index.md)\n")},
	"guides/p.png": {Data: []byte("PNG")},
}

var sections = []Section{{"Start", []string{"index"}}, {"Guides", []string{"guides/"}}, {"Made", []string{"made"}}}

func newSite(t *testing.T, made ...Page) *Site {
	t.Helper()
	s, err := New(files, sections, append(made, Page{Path: "made", Text: "# Made\n\nfrom code\n"}))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestHTML checks links, anchors, tables and the table of contents of a page.
func TestHTML(t *testing.T) {
	s := newSite(t)
	home, err := s.HTML(s.Page("index"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`href="guides/a.html#second-part"`, "outside (go.mod)", `href="https://example.org/"`,
		`src="guides/p.png"`, `<summary>Guides</summary>`, `rel="next">The a guide</a>`} {
		if !strings.Contains(string(home), want) {
			t.Errorf("no %s in\n%s", want, home)
		}
	}
	guide, err := s.HTML(s.Page("guides/a"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<h2 id="second-part">`, "<td>1</td>", `href="../index.html"`, `href="../style.css"`} {
		if !strings.Contains(string(guide), want) {
			t.Errorf("no %s in\n%s", want, guide)
		}
	}
}

// TestCheck checks that links to missing pages, anchors and pictures are found, and that others are not.
func TestCheck(t *testing.T) {
	broken, outside := newSite(t).Check()
	if len(broken) > 0 || outside["../go.mod"] != "index" {
		t.Errorf("%v %v", broken, outside)
	}
	sections = append(sections, Section{"More", []string{"bad"}})
	defer func() { sections = sections[:3] }()
	bad := Page{Path: "bad", Text: "# Bad\n\n[a](nowhere.md) [b](guides/a.md#third) ![c](c.png)\n"}
	broken, _ = newSite(t, bad).Check()
	want := []string{"bad: c.png: no such page", "bad: guides/a.md#third: no heading #third", "bad: nowhere.md: no such page"}
	if !slices.Equal(broken, want) {
		t.Errorf("%q", broken)
	}
}

// TestNew checks the refused arrangements.
func TestNew(t *testing.T) {
	for want, made := range map[string][]Page{
		"page made is missing":      nil,
		"first line is not a title": {{Path: "made", Text: "Made\n"}},
		"page index is repeated":    {{Path: "index", Text: "# Again\n"}},
	} {
		if _, err := New(files, sections, made); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

// TestWrite checks that the written files are those that are served, and that others are not found.
func TestWrite(t *testing.T) {
	s, dir := newSite(t), t.TempDir()
	n, err := s.Write(dir)
	if err != nil || n != 7 {
		t.Fatal(n, err)
	}
	names, _ := s.Names()
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", "/"+name, nil))
		if w.Code != 200 || w.Body.String() != string(b) || w.Header().Get("Content-Type") == "" {
			t.Errorf("%s: %d %s", name, w.Code, w.Header())
		}
	}
	for _, name := range []string{"/x.html", "/index.md", "/../go.mod", "/guides/"} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", name, nil))
		if w.Code != 404 {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	if _, err := s.File("none.png"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestNear checks that pages with the most of several words are found, and those with the parts of a hyphenated one.
func TestNear(t *testing.T) {
	s := newSite(t, Page{Path: "part", Text: "# Last\n\nA leaf and a spine.\n"}, Page{Path: "leaf", Text: "# A leaf\n\nOne.\n"})
	for words, want := range map[string]string{"leaf-spine": "part 2 of 2", "spine absent": "part 1 of 2",
		"leaf absent": "leaf part 1 of 2", "absent": " 0 of 1"} {
		found, most, of := s.Near(strings.Fields(words))
		var paths []string
		for _, p := range found {
			paths = append(paths, p.Path)
		}
		if got := fmt.Sprintf("%s %d of %d", strings.Join(paths, " "), most, of); got != want {
			t.Errorf("%s: %s, expected %s", words, got, want)
		}
	}
}

// TestFind checks the order of found pages: whole words before parts of words, titles before texts.
func TestFind(t *testing.T) {
	s := newSite(t, Page{Path: "part", Text: "# Last\n\nThe art of words.\n"})
	for words, want := range map[string]string{"guide": "guides/a index", "FROM code": "made", "absent": "",
		"cod": "made", "art": "part index guides/a", "[guide": "index"} {
		var paths []string
		for _, p := range s.Find(strings.Fields(words)) {
			paths = append(paths, p.Path)
		}
		if got := strings.Join(paths, " "); got != want {
			t.Errorf("%s: %s, expected %s", words, got, want)
		}
	}
}

// TestAbbreviations checks that an abbreviation of the glossary finds its long forms and that these find it.
func TestAbbreviations(t *testing.T) {
	s := newSite(t, Page{Path: "glossary", Text: "# Glossary\n\n| word | meaning |\n|---|---|\n" +
		"| FCT | flow completion time, slowdown: of a message |\n| round-trip time (RTT) | to a host and back |\n"},
		Page{Path: "long", Text: "# Long\n\nThe flow\ncompletion times, a round trip time.\n"},
		Page{Path: "short", Text: "# Short\n\nFCT and `rtt_min`.\n"},
		Page{Path: "slow", Text: "# Slow\n\nThe slowdown of affct, RTTs.\n"},
		Page{Path: "apart", Text: "# Apart\n\nThe time of a flow, its completion.\n"})
	for words, want := range map[string]string{"FCT": "glossary long short slow",
		"flow completion time": "glossary long short slow apart", "slowdown": "glossary long short slow",
		"RTTs": "glossary long short slow", "round-trip times": "glossary long short slow",
		"fct rtt":         "glossary long short slow",
		"time completion": "apart glossary long"} {
		var paths []string
		for _, p := range s.Find(strings.Fields(words)) {
			paths = append(paths, p.Path)
		}
		if got := strings.Join(paths, " "); got != want {
			t.Errorf("%s: %s, expected %s", words, got, want)
		}
	}
	index, err := s.File("pages.js")
	if err != nil || !strings.Contains(string(index), `["fct","flow completion time|slowdown"]`) {
		t.Error(string(index), err)
	}
}

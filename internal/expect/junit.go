package expect

import (
	"encoding/xml"
	"io"
	"strings"
	"unicode/utf8"

	"railyard/unit"
)

// testsuites is the root of a JUnit report, as Jenkins, GitLab and GitHub read it.
type testsuites struct {
	XMLName  xml.Name  `xml:"testsuites"`
	Tests    int       `xml:"tests,attr"`
	Failures int       `xml:"failures,attr"`
	Suite    testsuite `xml:"testsuite"`
}

type testsuite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Cases    []testcase `xml:"testcase"`
}

type testcase struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Failure *failure `xml:"failure"`
	Found   string   `xml:"system-out,omitempty"`
}

type failure struct {
	Message string `xml:"message,attr"`
}

// WriteJUnit writes outcomes as a JUnit report: the run is a suite, an expectation is a case.
func WriteJUnit(w io.Writer, run string, all []Outcome) error {
	s := testsuite{Name: "railyard run " + run, Tests: len(all)}
	for _, o := range all {
		c := testcase{Class: run, Name: o.Text, Found: "found " + o.Found}
		if !o.Met {
			s.Failures++
			c.Failure = &failure{"expected " + o.Text + ", found " + o.Found}
		}
		s.Cases = append(s.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(testsuites{Tests: s.Tests, Failures: s.Failures, Suite: s}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// Print prints outcomes: how many are met, then a row for each.
func Print(w io.Writer, all []Outcome) error {
	met, width := 0, 0
	for _, o := range all {
		if width = max(width, utf8.RuneCountInString(o.Text)); o.Met {
			met++
		}
	}
	var b strings.Builder
	b.WriteString(unit.Plural(len(all), "expectation") + ", " + unit.Digits(float64(met)) + " met\n")
	for _, o := range all {
		word := "met      "
		if !o.Met {
			word = "not met  "
		}
		b.WriteString("  " + word + o.Text + strings.Repeat(" ", width-utf8.RuneCountInString(o.Text)) +
			"  found " + o.Found + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Package findings stores lint's findings: SARIF for code review (WriteSARIF), and a Baseline of accepted findings,
// in lint's JSON or SARIF, with which a later run is compared.
package findings

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/swconf"
	"railyard/unit"
)

// Baseline is an earlier list of accepted findings: lint's own JSON or SARIF. A finding belongs to it if rule, file
// and words are equal, at any line. In another folder lint names the same file differently. One path must then be
// the end of the other.
type Baseline struct {
	were  []swconf.Finding // as read
	is    []string         // their prints
	words []string         // and their fingerprints without the file, "" if an older version did not write them
}

// maxBaseline bounds such a file.
const maxBaseline = 256 << 20

// Names of the prints in SARIF: with the file and without it.
const (
	Print    = "railyard/v1"
	wordsKey = "railyard/words/v1"
)

// fingerprint returns the identity of a finding.
func fingerprint(f *swconf.Finding) string {
	return hashed(f.Rule + "\x00" + slashed(f.File) + "\x00" + f.Message)
}

// wordprint returns its identity without the file name.
func wordprint(f *swconf.Finding) string { return hashed(f.Rule + "\x00" + f.Message) }

func hashed(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:12])
}

// slashed returns a path in the same form on each system.
func slashed(file string) string { return path.Clean(strings.ReplaceAll(file, `\`, "/")) }

// sameEnd reports whether one path is a suffix of the other, by whole names and ignoring upward steps.
func sameEnd(a, b string) bool {
	a, b = "/"+strings.TrimLeft(slashed(a), "./"), "/"+strings.TrimLeft(slashed(b), "./")
	return strings.HasSuffix(a, b) || strings.HasSuffix(b, a)
}

// Read reads what lint wrote with --json or --sarif.
func Read(name string) (*Baseline, error) {
	text, err := input.Text(name, maxBaseline)
	if err != nil {
		return nil, input.Fault(err)
	}
	b := &Baseline{}
	if strings.HasPrefix(strings.TrimSpace(string(text)), "[") {
		err = json.Unmarshal(text, &b.were)
		for i := range b.were {
			b.is = append(b.is, fingerprint(&b.were[i]))
			b.words = append(b.words, wordprint(&b.were[i]))
		}
	} else {
		err = b.sarif(text)
	}
	if err == nil && slices.ContainsFunc(b.were, func(f swconf.Finding) bool { return f.Rule == "" }) {
		err = errors.New("a finding has no rule")
	}
	if err != nil {
		return nil, input.Fault(field.New(name, "is not a baseline (%v); accepted: what config lint --json or --sarif writes", err))
	}
	return b, nil
}

// sarif takes the findings of a SARIF file that have our prints.
func (b *Baseline) sarif(text []byte) error {
	var log struct {
		Runs []struct {
			Results []struct {
				RuleID              string
				BaselineState       string
				PartialFingerprints map[string]string
				Locations           []struct {
					PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
				}
			}
		}
	}
	if err := json.Unmarshal(text, &log); err != nil {
		return err
	}
	if log.Runs == nil {
		return errors.New("it has no runs")
	}
	for _, run := range log.Runs {
		for _, r := range run.Results {
			p, ok := r.PartialFingerprints[Print]
			if !ok || len(r.Locations) == 0 {
				return fmt.Errorf("a result of %s has no print %s", r.RuleID, Print)
			}
			if r.BaselineState == "absent" {
				continue
			}
			b.is, b.words = append(b.is, p), append(b.words, r.PartialFingerprints[wordsKey])
			b.were = append(b.were, swconf.Finding{Rule: r.RuleID,
				File: r.Locations[0].PhysicalLocation.ArtifactLocation.URI})
		}
	}
	return nil
}

// Comparison is the result of a comparison with a baseline.
type Comparison struct {
	Fresh, known []swconf.Finding // in order
	gone         []int            // numbers of the baseline's findings that no longer occur
	byEnd        int              // whether known ones are found only by the end of their file's path
}

// Split compares. Of several equal findings as many are known as the baseline has.
func (b *Baseline) Split(list []swconf.Finding) Comparison {
	var c Comparison
	prints, words := open(b.is), open(b.words)
	old := make([]bool, len(list))
	taken := make([]bool, len(b.is))
	for i := range list {
		old[i] = take(prints[fingerprint(&list[i])], taken, func(int) bool { return true })
	}
	for i := range list {
		if !old[i] {
			old[i] = take(words[wordprint(&list[i])], taken, func(j int) bool {
				return sameEnd(b.were[j].File, list[i].File)
			})
			if old[i] {
				c.byEnd++
			}
		}
		if old[i] {
			c.known = append(c.known, list[i])
		} else {
			c.Fresh = append(c.Fresh, list[i])
		}
	}
	for i, t := range taken {
		if !t {
			c.gone = append(c.gone, i)
		}
	}
	return c
}

// open lists findings by print.
func open(prints []string) map[string][]int {
	by := map[string][]int{}
	for i, p := range prints {
		if p != "" {
			by[p] = append(by[p], i)
		}
	}
	return by
}

// take marks the first unmatched finding that fits as taken, and reports whether there is one.
func take(among []int, taken []bool, fits func(int) bool) bool {
	for _, i := range among {
		if !taken[i] && fits(i) {
			taken[i] = true
			return true
		}
	}
	return false
}

// Tell describes how much of the baseline remains.
func (c *Comparison) Tell(w io.Writer) {
	fmt.Fprintf(w, "%s of the baseline still there and not counted, %d gone\n",
		unit.Plural(len(c.known), "finding"), len(c.gone))
	if c.byEnd > 0 {
		fmt.Fprintf(w, "%d of them known by the end of the file's path alone: the baseline was written in another folder\n", c.byEnd)
	}
}

package sheet

import (
	"strings"
	"testing"
)

const two = `[
  {"key": "a", "name": "An A", "ports": "64x400Gbps", "cell": 254,
   "sources": [{"of": ["ports"], "in": "its guide", "says": "64"}]},
  {"key": "b", "name": "A B", "cell": 96}
]`

func TestRead(t *testing.T) {
	sheets, err := Read([]byte(two))
	if err != nil {
		t.Fatal(err)
	}
	a, b := &sheets[0], &sheets[1]
	if a.Figures[0].Source.String() != "its guide: 64" || a.Figures[1].Source.String() != "unsourced" {
		t.Errorf("a: %+v", a.Figures)
	}
	if got := a.Summary(); got != "its guide; unsourced: cell" {
		t.Errorf("summary %q", got)
	}
	if b.Summary() != "unsourced: cell" || b.Figures[0].Value != "96" {
		t.Errorf("b: %+v", b)
	}
	if sourced, all := Count(sheets); sourced != 1 || all != 3 {
		t.Errorf("%d of %d figures have a source, want 1 of 3", sourced, all)
	}
}

func TestBadSheets(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                                  "cannot unmarshal",
		`[3]`:                                 "is not a product",
		`[{}]`:                                "a product has a key, a name and figures",
		`[{"key": 4}]`:                        "cannot unmarshal",
		strings.Replace(two, `"b"`, `"a"`, 1): "1 (a): the key is repeated",
		strings.Replace(two, `["ports"]`, `["prots"]`, 1):       `sources[0]: unknown figure "prots"`,
		strings.Replace(two, `["ports"]`, `[]`, 1):              "sources[0] needs of and in",
		strings.Replace(two, `"its guide"`, `""`, 1):            "sources[0] needs of and in",
		strings.Replace(two, `["ports"]`, `["cell","cell"]`, 1): "cell has a source already",
	} {
		if _, err := Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

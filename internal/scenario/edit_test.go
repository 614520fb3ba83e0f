package scenario

import "testing"

// A key gets its value wherever its block is, and nothing else changes: no comment, no longer name with an equal
// end, no quoted text.
func TestSetKey(t *testing.T) {
	for text, want := range map[string]string{
		"seed: 1\n":                                              "seed: 1\ntransport: {qps: 4}\n",
		"transport: {mtu: 4096}\nseed: 1\n":                      "transport: {qps: 4, mtu: 4096}\nseed: 1\n",
		"transport: {}\nseed: 1\n":                               "transport: {qps: 4}\nseed: 1\n",
		"transport: {mtu: 4096, qps: 2}\nseed: 1\n":              "transport: {mtu: 4096, qps: 4}\nseed: 1\n",
		"transport: # ours\n  mtu: 4096\nseed: 1\n":              "transport: # ours\n  qps: 4\n  mtu: 4096\nseed: 1\n",
		"transport:\n  mtu: 4096\n  qps: 2\nseed: 1\n":           "transport:\n  mtu: 4096\n  qps: 4\nseed: 1\n",
		"transport:\n  mtu: 4096 # not qps: 2\n":                 "transport:\n  qps: 4\n  mtu: 4096 # not qps: 2\n",
		"# qps: 2\ntransport:\n    # qps: 2\n    qps: 2 # two\n": "# qps: 2\ntransport:\n    # qps: 2\n    qps: 4 # two\n",
		"about: \"transport: {qps: 1}\"\n":                       "about: \"transport: {qps: 1}\"\ntransport: {qps: 4}\n",
		"about: ü, µs\ntransport: {über: µ, qps: \"2\"}\n":       "about: ü, µs\ntransport: {über: µ, qps: 4}\n",
		"transport:\nseed: 1\n":                                  "transport:\n  qps: 4\nseed: 1\n",
		"\"transport\": {mtu: 1}\n":                              "\"transport\": {qps: 4, mtu: 1}\n",
		"transport: mrc\n":                                       "transport: mrc\n",
		"transport: [\n":                                         "transport: [\n",
	} {
		if got, ok := SetKey(text, "transport", "qps", "4"); got != want || ok != (got != text) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A block is removed with its lines, whatever their content. Comments about the next block stay.
func TestWithoutBlocks(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\njobs:\n- x\n- y\n\n# of b\nb: 2\n":      "a: 1\n# of b\nb: 2\n",
		"jobs: {a: |\n    name: x\n  }\nb: 2\n":        "jobs: {a: |\n    name: x\n  }\nb: 2\n",
		"jobs:\n  about: |\n    b: 3\n\n    c\nb: 2\n": "b: 2\n",
		"b: 2\n\"name\": x\n":                          "b: 2\n",
		"b: 2\n":                                       "b: 2\n",
	} {
		if got := WithoutBlocks(text, "jobs", "name"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

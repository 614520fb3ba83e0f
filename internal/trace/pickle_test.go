package trace

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// shown prints a value as Python would, to some depth.
func shown(v any, depth int) string {
	switch v := v.(type) {
	case *pyList:
		if depth == 0 {
			return "[...]"
		}
		var all []string
		for _, x := range v.items {
			all = append(all, shown(x, depth-1))
		}
		return "[" + strings.Join(all, ", ") + "]"
	case map[string]any:
		var all []string
		for k, x := range v {
			all = append(all, k+": "+shown(x, depth-1))
		}
		slices.Sort(all)
		return "{" + strings.Join(all, ", ") + "}"
	case string:
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprint(v)
}

// Pickles of Python 3 and 2 and of PyTorch's own writer with equal data: pickle.dumps of {'a': [1, -2, 300, 70000,
// 2**40, None, True, 1.5], 'b': ('x', ())} by protocol 0, 2 and 4.
func TestUnpickle(t *testing.T) {
	want := `{a: [1, -2, 300, 70000, 1099511627776, <nil>, true, 1.5], b: ["x", []]}`
	for name, text := range map[string]string{
		"0": "(dp0\nVa\np1\n(lp2\nI1\naI-2\naI300\naI70000\naL1099511627776L\naNaI01\naF1.5\nasVb\n" +
			"p3\n(Vx\np4\n(ttp5\ns.",
		"2": "\x80\x02}q\x00(X\x01\x00\x00\x00aq\x01]q\x02(K\x01J\xfe\xff\xff\xffM,\x01Jp\x11\x01\x00\x8a\x06\x00\x00\x00\x00\x00\x01N\x88G?\xf8\x00\x00\x00\x00\x00\x00eX\x01\x00\x00\x00bq\x03X\x01\x00\x00\x00xq\x04)\x86q\x05u.",
		"4": "\x80\x04\x95:\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01a\x94]\x94(K\x01J\xfe\xff\xff\xffM,\x01Jp\x11\x01\x00\x8a\x06\x00\x00\x00\x00\x00\x01N\x88G?\xf8\x00\x00\x00\x00\x00\x00e\x8c\x01b\x94\x8c\x01x\x94)\x86\x94u.",
	} {
		v, err := unpickle("f", []byte(text))
		if err != nil || shown(v, 9) != want {
			t.Errorf("protocol %s: %s, %v", name, shown(v, 9), err)
		}
		for n := range len(text) {
			if _, err := unpickle("f", []byte(text[:n])); err == nil {
				t.Errorf("protocol %s is whole after %d bytes", name, n)
			}
		}
	}
}

// Code is rejected with the name of the opcode that would run it.
func TestPickleWithCode(t *testing.T) {
	for text, want := range map[string]string{
		"cos\nsystem\n(S'touch owned'\ntR.":                 "f: byte 0 of the pickle: GLOBAL would run code: only plain data is read, and nothing is ever run",
		"\x80\x04\x8c\x02os\x8c\x06system\x93.":             "byte 14 of the pickle: STACK_GLOBAL would",
		"\x80\x02K\x01K\x02R.":                              "byte 6 of the pickle: REDUCE would run code",
		"(S'x'\nios\nsystem\n.":                             "INST would run code",
		"\x80\x02K\x01Q.":                                   "BINPERSID would run code",
		"\x80\x02\x8a\x7f" + strings.Repeat("x", 127) + ".": "an integer of 127 bytes",
		"\x80\x02h\x07.":                                    "reads the stored value 7, which does not exist",
		"\x80\x02K\x01e.":                                   "after a mark where none is",
		"\x80\x02K\x01(e.":                                  "not a list or dictionary",
		"\x80\x02}(K\x01u.":                                 "a key without a value",
		"\x80\x02}(]K\x01u.":                                "a key that is not text",
		"\x80\x02\x8f.":                                     "the opcode 0x8f is not one of",
		"\x80\x02X\xff\xff\xff\xffx.":                       "the file is truncated",
		"\x80\x02K\x01K\x02.":                               "ends with 2 values",
	} {
		_, err := unpickle("f", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A list within itself is read and not followed.
func TestPickleCycle(t *testing.T) {
	v, err := unpickle("f", []byte("\x80\x02]q\x00h\x00a."))
	if err != nil || shown(v, 3) != "[[[[...]]]]" {
		t.Errorf("%s, %v", shown(v, 3), err)
	}
}

// Any bytes end in a value or an error.
func FuzzUnpickle(f *testing.F) {
	f.Add([]byte("\x80\x02}q\x00(X\x01\x00\x00\x00aq\x01]q\x02(K\x01J\xfe\xff\xff\xffeu."))
	f.Add([]byte("(dp0\nVa\np1\n(lp2\nI1\naI-2\nasVb\np3\n(Vx\np4\n(ttp5\ns."))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := unpickle("f", b); err != nil && !strings.HasPrefix(err.Error(), "f: byte ") {
			t.Error(err)
		}
	})
}

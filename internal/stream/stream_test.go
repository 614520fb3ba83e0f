package stream

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func zipped(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func open(t testing.TB, text []byte) *Source {
	t.Helper()
	s, err := New("f.json", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A list under a name is handed on object by object with its lines, gzipped or not.
func TestUnder(t *testing.T) {
	text := "\ufeff" + `{"a": 1,
 "b": [{"x": "}\""},
 7, {"x": [2]},],
"c": {"d": null}, "e":-2.5e3}`
	for _, b := range [][]byte{[]byte(text), zipped(t, text)} {
		var got []string
		err := open(t, b).Under("b", func(raw []byte, line int) error {
			got = append(got, fmt.Sprintf("%d %s", line, raw))
			return nil
		}, func(key string, raw []byte) error {
			got = append(got, key+"="+string(raw))
			return nil
		})
		want := `a=1|2 {"x": "}\""}|3 {"x": [2]}|c={"d": null}|e=-2.5e3`
		if s := strings.Join(got, "|"); err != nil || s != want {
			t.Errorf("%s, %v", s, err)
		}
	}
}

// Any list of objects comes out as it went in, however it is laid out.
func TestObjectsProperty(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		all := rapid.SliceOfN(rapid.MapOf(rapid.String(), rapid.SliceOf(rapid.String())), 1, 5).Draw(r, "all")
		var text []byte
		switch rapid.IntRange(0, 2).Draw(r, "form") {
		case 0:
			text, _ = json.Marshal(all)
		case 1:
			text, _ = json.MarshalIndent(all, " ", "\t")
		default:
			for _, x := range all {
				b, _ := json.Marshal(x)
				text = append(append(text, b...), '\n')
			}
		}
		i := 0
		s, _ := New("f", bytes.NewReader(text))
		err := s.Objects(func(raw []byte, _ int) error {
			var x map[string][]string
			if err := json.Unmarshal(raw, &x); err != nil {
				return err
			}
			if fmt.Sprint(x) != fmt.Sprint(all[i]) {
				return fmt.Errorf("%d: %v is not %v", i, x, all[i])
			}
			i++
			return nil
		})
		if err != nil || i != len(all) {
			r.Fatalf("%d of %d, %v in %s", i, len(all), err, text)
		}
	})
}

// What ends too early says so as what it is, and what stood before was read.
func TestCut(t *testing.T) {
	text := `{"b": [{"x": 1}, {"x": 2}]}`
	for n := 1; n < len(text); n++ {
		seen := 0
		err := open(t, []byte(text[:n])).Under("b", func(raw []byte, _ int) error {
			seen++
			return nil
		}, func(string, []byte) error { return nil })
		var cut *CutError
		if !errors.As(err, &cut) {
			t.Errorf("%s: %v", text[:n], err)
		}
		if want := strings.Count(text[:n], "}"); seen != min(want, 2) {
			t.Errorf("%s: %d objects", text[:n], seen)
		}
	}
	whole := zipped(t, strings.Repeat(text, 50))
	err := open(t, whole[:len(whole)-9]).Objects(func([]byte, int) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "truncated") {
		t.Error(err)
	}
	for _, bad := range []string{"", "x", "[1 2]", `{"a" 1}`, "{1:2}", "{\"a\xff\": 1} x"} {
		all := func([]byte, int) error { return nil }
		none := func(string, []byte) error { return nil }
		if err := open(t, []byte(bad)).Under("b", all, none); err == nil {
			if err := open(t, []byte(bad)).Objects(all); err == nil {
				t.Errorf("%q is taken", bad)
			}
		}
	}
}

// Too large an object is passed over, the one behind it is read.
func TestLarge(t *testing.T) {
	text := `[{"x": "` + strings.Repeat("y", MaxObject) + `"}, {"x": 2}]`
	var got []string
	err := open(t, []byte(text)).Objects(func(raw []byte, _ int) error {
		got = append(got, string(raw))
		return nil
	})
	if err != nil || fmt.Sprintf("%q", got) != `["" "{\"x\": 2}"]` {
		t.Errorf("%.80q, %v", got, err)
	}
}

// Lines are cut where they are too long, and counted on.
func TestLines(t *testing.T) {
	text := "one\r\n" + strings.Repeat("x", 3*longest) + "\n\nfour"
	var got []string
	s := open(t, []byte(text))
	err := s.Lines(func(line []byte, cut bool) error {
		got = append(got, fmt.Sprintf("%d:%d:%v", s.Line(), len(line), cut))
		return nil
	})
	want := fmt.Sprintf("[1:3:false 2:%d:true 3:0:false 4:4:false]", longest)
	if err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v", got, err)
	}
}

// A gzip file that unpacks to far more than a trace does is refused before it has filled anything.
func TestBomb(t *testing.T) {
	if testing.Short() {
		t.Skip("unpacks 256 MB")
	}
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	zeros := make([]byte, 1<<20)
	for range free>>20 + 8 {
		z.Write(zeros)
	}
	z.Close()
	err := open(t, b.Bytes()).Lines(func([]byte, bool) error { return nil })
	if err == nil || err.Error() != "f.json: unpacks to more than 200 times its size, which no trace does" {
		t.Error(err)
	}
}

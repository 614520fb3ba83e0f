package stream

import (
	"encoding/json"
	"errors"
	"io"

	"railyard/internal/field"
)

// MaxObject is the largest size of one JSON object; a larger one is skipped and reported.
const MaxObject = 4 << 20

// CutError reports that a text ends within a value. Everything before has been read.
type CutError struct{ At *field.Error }

func (e *CutError) Error() string { return e.At.Error() }

// Unwrap lets errors.As find its place.
func (e *CutError) Unwrap() error { return e.At }

// Object takes an object's text and the line where it begins; nil: larger than MaxObject. What is kept of the text
// must be copied.
type Object func(raw []byte, line int) error

// Objects calls f with every outermost object, one after the other or in one list.
func (s *Source) Objects(f Object) error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	if c == '[' {
		return s.list(f)
	}
	for n := 0; ; n++ {
		if c, err = s.peek(); err != nil {
			return err
		}
		switch {
		case c == 0 && n == 0:
			return s.fail("is empty")
		case c == 0:
			return nil
		case c != '{':
			return s.Fail("found %s, expected an object of JSON", field.Quote(string(rune(c))))
		}
		if err := s.object(f); err != nil {
			return err
		}
	}
}

// Under calls f with the objects of a list that has a name in the outermost object, and other with every other
// value there, whole; nil: too large.
func (s *Source) Under(name string, f Object, other func(key string, raw []byte) error) error {
	if err := s.expect('{'); err != nil {
		return err
	}
	for first := true; ; first = false {
		c, end, err := s.member('}', first)
		if end || err != nil {
			return err
		}
		if c != '"' {
			return s.syntax(c, "a key")
		}
		raw, err := s.value()
		if err != nil {
			return err
		}
		var key string
		if err := json.Unmarshal(raw, &key); err != nil {
			return s.Fail("%s is not a key of JSON", field.Quote(string(raw)))
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		if c, err = s.peek(); err != nil {
			return err
		}
		if key == name && c == '[' {
			if err := s.list(f); err != nil {
				return err
			}
			continue
		}
		if raw, err = s.value(); err != nil {
			return err
		}
		if err := other(key, raw); err != nil {
			return err
		}
	}
}

// member returns the first byte of the next member of an object or list; end: there is none, and what ends it is
// taken.
func (s *Source) member(last byte, first bool) (c byte, end bool, err error) {
	if c, err = s.peek(); err != nil {
		return c, false, err
	}
	if c == last {
		s.in.ReadByte()
		return c, true, nil
	}
	if !first {
		if err = s.expect(','); err == nil {
			c, err = s.peek()
		}
	}
	return c, false, err
}

// list walks through a list; what is no object in it is skipped.
func (s *Source) list(f Object) error {
	if err := s.expect('['); err != nil {
		return err
	}
	for first := true; ; first = false {
		c, end, err := s.member(']', first)
		if end || err != nil {
			return err
		}
		switch c {
		case '{':
			err = s.object(f)
		case ']': // Python's profilers write a trailing comma
			continue
		default:
			_, err = s.value()
		}
		if err != nil {
			return err
		}
	}
}

// object reads one and hands it on.
func (s *Source) object(f Object) error {
	line := s.line
	raw, err := s.value()
	if err != nil {
		return err
	}
	return f(raw, line)
}

// peek skips white space and returns the next byte; 0 at the end.
func (s *Source) peek() (byte, error) {
	for {
		c, err := s.in.ReadByte()
		switch {
		case err == io.EOF:
			return 0, nil
		case err != nil:
			return 0, s.failed(err)
		case c == '\n':
			s.line++
		case c != ' ' && c != '\t' && c != '\r':
			return c, s.in.UnreadByte()
		}
	}
}

// expect takes one byte.
func (s *Source) expect(want byte) error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	if c != want {
		return s.syntax(c, field.Quote(string(rune(want))))
	}
	_, err = s.in.ReadByte()
	return err
}

// syntax returns the error of an unexpected character.
func (s *Source) syntax(c byte, want string) error {
	if c == 0 {
		return s.cut()
	}
	return s.Fail("found %s, expected %s: this is not JSON", field.Quote(string(rune(c))), want)
}

// cut returns the error of a text that ends too early.
func (s *Source) cut() error {
	e := field.New("", "ends within a value of JSON: the file is truncated")
	e.File, e.Line, e.Col = s.name, s.line, 1
	return &CutError{e}
}

// value reads a value up to its end, which brackets and quotation marks determine; nil: it was too large. Its
// content is checked by the code that parses it.
func (s *Source) value() ([]byte, error) {
	s.buf, s.over = s.buf[:0], false
	depth, quoted, escaped := 0, false, false
	for {
		c, err := s.in.ReadByte()
		if errors.Is(err, io.EOF) {
			if depth == 0 && !quoted && len(s.buf) > 0 {
				return s.buf, nil
			}
			return nil, s.cut()
		}
		if err != nil {
			return nil, s.failed(err)
		}
		if depth == 0 && !quoted && len(s.buf) > 0 && ends(c) { // the end of a number or a word
			return s.got(), s.in.UnreadByte()
		}
		if len(s.buf) < MaxObject {
			s.buf = append(s.buf, c)
		} else {
			s.over = true
		}
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
			if !quoted && depth == 0 {
				return s.got(), nil
			}
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth <= 0 {
				return s.got(), nil
			}
		}
		if c == '\n' {
			s.line++
		}
	}
}

// got returns the text that was read, unless it was too large.
func (s *Source) got() []byte {
	if s.over {
		return nil
	}
	return s.buf
}

// ends reports whether a byte ends a number or a word.
func ends(c byte) bool {
	return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ':'
}

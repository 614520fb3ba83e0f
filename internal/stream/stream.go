package stream

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"

	"railyard/internal/field"
)

// Source is a text under way.
type Source struct {
	name string
	in   *bufio.Reader
	line int // number of the next line, from 1
	buf  []byte
	over bool // buf holds the beginning of a longer text
}

// Bounds of gzipped texts: real ones shrink to a tenth or a thirtieth. A text that unpacks to more than free bytes
// at a higher ratio is taken for an attack on memory.
const (
	ratio = 200
	free  = 256 << 20
)

// New reads a text, unpacking it if it is gzipped. Errors are *field.Error with the name.
func New(name string, r io.Reader) (*Source, error) {
	s := &Source{name: name, line: 1}
	counted := &packed{r: r}
	in := bufio.NewReaderSize(counted, 1<<16)
	if head, _ := in.Peek(2); len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, s.fail("is not a complete gzip file: %v", err)
		}
		in = bufio.NewReaderSize(&unpacked{r: z, from: counted}, 1<<16)
	}
	if head, _ := in.Peek(3); bytes.Equal(head, []byte("\xef\xbb\xbf")) {
		in.Discard(3)
	}
	s.in = in
	return s, nil
}

// Head returns the beginning of the text, up to n bytes; nothing is consumed.
func (s *Source) Head(n int) []byte {
	head, _ := s.in.Peek(min(n, 1<<16))
	return head
}

// All is the rest of the text, up to a limit of bytes.
func (s *Source) All(most int) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(s.in, int64(most)+1))
	if err != nil {
		return nil, s.failed(err)
	}
	if len(b) > most {
		return nil, s.fail("has more than the %d bytes that are read of it", most)
	}
	return b, nil
}

// Line is that of what is read next, or of what was read last while its callback runs.
func (s *Source) Line() int { return s.line }

// Fail is an error at the line that is being read.
func (s *Source) Fail(format string, args ...any) error {
	e := field.New("", format, args...)
	e.File, e.Line, e.Col = s.name, s.line, 1
	return e
}

func (s *Source) fail(format string, args ...any) error {
	e := field.New("", format, args...)
	e.File = s.name
	return e
}

// failed is an error of reading, at the current line.
func (s *Source) failed(err error) error {
	var e *field.Error
	switch {
	case errors.As(err, &e):
		e.File = s.name
		return e
	case errors.Is(err, io.ErrUnexpectedEOF):
		return s.fail("ends within the gzip file: the file is truncated")
	}
	return s.fail("cannot be read: %v", err)
}

// packed counts what was read of the file.
type packed struct {
	r io.Reader
	n int64
}

func (p *packed) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.n += int64(n)
	return n, err
}

// unpacked refuses what grows beyond reason.
type unpacked struct {
	r    io.Reader
	from *packed
	n    int64
}

func (u *unpacked) Read(b []byte) (int, error) {
	n, err := u.r.Read(b)
	if u.n += int64(n); u.n > free && u.n/ratio > u.from.n {
		return 0, field.New("", "unpacks to more than %d times its size, which no trace does", ratio)
	}
	return n, err
}

// longest is the largest length of a line; the rest is skipped.
const longest = 1 << 16

// Lines calls f with every line without its line end; cut reports that the line was longer than the limit and is
// truncated. What f keeps of a line it must copy.
func (s *Source) Lines(f func(line []byte, cut bool) error) error {
	for {
		text, err := s.in.ReadSlice('\n')
		cut := errors.Is(err, bufio.ErrBufferFull)
		if cut {
			s.buf = append(s.buf[:0], text...)
			text = s.buf
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = s.in.ReadSlice('\n')
		}
		if err != nil && err != io.EOF {
			return s.failed(err)
		}
		if len(text) > 0 {
			text = bytes.TrimRight(text[:min(len(text), longest)], "\r\n")
			if bad := f(text, cut); bad != nil {
				return bad
			}
		}
		if err == io.EOF {
			return nil
		}
		s.line++
	}
}

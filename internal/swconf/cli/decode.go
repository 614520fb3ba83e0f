package cli

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Decode converts a text to UTF-8. Editors write UTF-16 with a mark, some tools without one, and older editors one
// byte per letter (Latin-1, with the quotes and dashes of Windows-1252). A text with control characters is not
// converted, for Check to refuse.
func Decode(text []byte) []byte {
	switch {
	case bytes.HasPrefix(text, []byte{0xff, 0xfe}):
		return wide(text[2:], 0)
	case bytes.HasPrefix(text, []byte{0xfe, 0xff}):
		return wide(text[2:], 1)
	case zeros(text, 1):
		return wide(text, 0)
	case zeros(text, 0):
		return wide(text, 1)
	case utf8.Valid(text) || !narrow(text):
		return text
	}
	out := make([]byte, 0, len(text)+len(text)/8)
	for _, b := range text {
		r := rune(b)
		if b >= 0x80 && b < 0xa0 {
			r = windows[b-0x80]
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// zeros reports by the beginning whether a text is ASCII in 16-bit units without a mark: exactly every second byte
// is zero, from the first or the second on.
func zeros(text []byte, from int) bool {
	const some = 8
	text = text[:min(len(text)&^1, 4096)]
	high := 0
	for i, b := range text {
		switch {
		case i&1 != from && b == 0:
			return false
		case i&1 == from && b != 0:
			high++
		}
	}
	return len(text) >= some && high <= len(text)/64 // a few letters beyond Latin-1
}

// wide reads 16-bit units, with the high byte first or second.
func wide(text []byte, high int) []byte {
	units := make([]uint16, 0, len(text)/2)
	for i := 0; i+1 < len(text); i += 2 {
		a, b := uint16(text[i]), uint16(text[i+1])
		if high == 1 {
			a, b = b, a
		}
		units = append(units, b<<8|a)
	}
	return []byte(string(utf16.Decode(units)))
}

// narrow reports whether bytes can be a text of one byte per letter: without terminal control characters, and
// mostly ASCII.
func narrow(text []byte) bool {
	high := 0
	for _, b := range text {
		switch {
		case b >= 0x80:
			high++
		case b < ' ' && b != '\n' && b != '\r' && b != '\t' && b != '\f' || b == 0x7f:
			return false
		}
	}
	return high <= len(text)/4
}

// windows are the letters that Windows-1252 has where Latin-1 has controls.
var windows = [32]rune{0x20ac, 0xfffd, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
	0x2039, 0x0152, 0xfffd, 0x017d, 0xfffd, 0xfffd, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
	0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0xfffd, 0x017e, 0x0178}

// Document reports whether a text is Markdown: prose with blocks of code between fences, or with tables. The blocks may
// contain a configuration; the whole is not one.
func Document(text string) bool {
	fences := 0
	for line := range strings.Lines(text) {
		word, ok := strings.CutPrefix(strings.TrimSpace(line), "```")
		if ok && len(word) <= 20 && !strings.ContainsAny(word, " `;|&$") {
			fences++
		}
		if strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| ---") {
			return true
		}
	}
	return fences > 1
}

package cli

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// MaxSize is the maximum size of a configuration: a full running configuration of a modular chassis has a few
// megabytes.
const MaxSize = 16 << 20

// maxLine limits one line; commands are much shorter.
const maxLine = 8192

// SyntaxError is unreadable text, with its position.
type SyntaxError struct {
	File      string
	Line, Col int
	Msg       string
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
}

// Word is a word of a line with its column, counted from 1.
type Word struct {
	Text string
	Col  int
}

// Line is one command.
type Line struct {
	Num    int // from 1
	Indent int // columns before the first word; -1 after a prompt
	Words  []Word
	Text   string   // without the indentation, prompt and trailing blanks
	Body   []string // further lines of a banner, unchanged, including the last one
}

// prompt matches the prompt before commands in a session's transcript.
var prompt = regexp.MustCompile(`^[A-Za-z0-9][\w.-]*(\([\w/.,:+*\[\] -]+\))?[#>] ?`)

// asked matches the command that prints a configuration.
var asked = regexp.MustCompile(`(?i)^(?:do )?sho?w? (?:run|start)[a-z-]*( |$)`)

// Check refuses input that is not configuration text: too large, empty, binary.
func Check(file string, text []byte) error {
	if len(text) > MaxSize {
		return &SyntaxError{File: file, Msg: fmt.Sprintf("has %d bytes, at most %d are read", len(text), MaxSize)}
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return &SyntaxError{File: file, Msg: "is empty"}
	}
	for num, line := 1, 0; ; num++ {
		end := bytes.IndexByte(text[line:], '\n')
		l := text[line:]
		if end >= 0 {
			l = text[line : line+end]
		}
		if i := bytes.IndexByte(l, 0); i >= 0 {
			return &SyntaxError{file, num, i + 1, "is a binary file (zero byte), expected configuration text"}
		}
		if !utf8.Valid(l) {
			return &SyntaxError{file, num, invalid(l) + 1,
				"is a binary file (no UTF-8 text), expected configuration text"}
		}
		if len(l) > maxLine && bytes.IndexByte(l, '{') < 0 && bytes.IndexByte(l, '"') < 0 {
			return &SyntaxError{file, num, maxLine, fmt.Sprintf("the line is longer than %d bytes", maxLine)}
		}
		if end < 0 {
			return nil
		}
		line += end + 1
	}
}

func invalid(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

// Text returns configuration text in UTF-8 with line feeds, or an error.
func Text(file string, text []byte) ([]byte, error) {
	if len(text) <= MaxSize {
		text = Decode(text)
	}
	if err := Check(file, text); err != nil {
		return nil, err
	}
	return LineEnds(text), nil
}

// LineEnds normalizes line ends to line feeds. Without any line feed, carriage returns alone end lines, as in some
// terminal recordings. The byte order mark of some editors is removed.
func LineEnds(text []byte) []byte {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if bytes.IndexByte(text, '\n') >= 0 {
		return text
	}
	return bytes.ReplaceAll(text, []byte{'\r'}, []byte{'\n'})
}

// Scan splits text into commands. Comments (! and #) and blank lines are omitted, and prompts and carriage returns
// removed. The body of a banner is part of its first line.
func Scan(file string, text []byte) ([]Line, error) {
	text, err := Text(file, text)
	if err != nil {
		return nil, err
	}
	raw := strings.Split(string(text), "\n")
	out := make([]Line, 0, len(raw))
	var words []Word
	for i := 0; i < len(raw); i++ {
		l, ok := scanLine(strings.TrimRight(raw[i], " \t\r"), i+1, &words)
		if !ok {
			continue
		}
		end := i
		if strings.EqualFold(l.Words[0].Text, "banner") {
			var err error
			if end, err = banner(file, raw, i, &l); err != nil {
				return nil, err
			}
		}
		for ; i < end; i++ {
			l.Body = append(l.Body, strings.TrimRight(raw[i+1], "\r"))
		}
		out = append(out, l)
	}
	return out, nil
}

// wordRoom is the number of words allocated at a time.
const wordRoom = 1024

// scanLine extracts the command of a line; its words are appended to words, after the words of earlier lines. A
// blank line or a comment gives no line.
func scanLine(s string, num int, words *[]Word) (l Line, ok bool) {
	start := 0
	for start < len(s) && (s[start] == ' ' || s[start] == '\t') {
		start++
	}
	l = Line{Num: num, Indent: start}
	rest := s[start:]
	if start == 0 && strings.ContainsAny(rest, "#>") {
		if p := prompt.FindString(rest); p != "" {
			start, rest, l.Indent = len(p), rest[len(p):], -1
		}
	}
	if rest == "" || rest[0] == '!' || rest[0] == '#' {
		return l, false
	}
	l.Text = rest
	if cap(*words)-len(*words) < len(rest)/2+1 { // letters and blanks by turns
		*words = make([]Word, 0, max(wordRoom, len(rest)))
	}
	from := len(*words)
	for i := 0; i < len(rest); {
		if rest[i] == ' ' || rest[i] == '\t' {
			i++
			continue
		}
		j := i
		if rest[i] == '"' { // a quoted string is one word
			if e := strings.IndexByte(rest[i+1:], '"'); e >= 0 {
				j = i + e + 2
			}
		}
		for j < len(rest) && rest[j] != ' ' && rest[j] != '\t' {
			j++
		}
		*words = append(*words, Word{rest[i:j], start + i + 1})
		i = j
	}
	l.Words = (*words)[from:len(*words):len(*words)]
	return l, true
}

// banner returns the last line of a banner: up to the delimiter that follows its kind ("banner motd #text#"), or to EOF
// alone on a line.
func banner(file string, raw []string, at int, l *Line) (int, error) {
	if len(l.Words) < 2 {
		return at, nil
	}
	delim := "EOF"
	first := ""
	if len(l.Words) > 2 {
		w := l.Words[2].Text
		delim = w[:1]
		if strings.HasPrefix(w, "^C") {
			delim = "^C"
		}
		first = raw[at][l.Words[2].Col-1+len(delim):]
		if strings.Contains(first, delim) {
			return at, nil
		}
	}
	for i := at + 1; i < len(raw); i++ {
		line := strings.TrimRight(raw[i], " \t\r")
		if delim == "EOF" && line == "EOF" || delim != "EOF" && strings.Contains(line, delim) {
			return i, nil
		}
	}
	return 0, &SyntaxError{file, l.Num, l.Words[0].Col,
		fmt.Sprintf("the banner never ends: %q is missing; is the file truncated?", delim)}
}

package cli

import "strings"

// Quoted returns the index of the line that closes a quote opened by line i of shell commands; i if it opens none
// or no line closes it. text is line i with its continuation lines. A line that begins another command is not in
// the quote.
func Quoted(lines []string, i int, text, command string) int {
	const most = 256 // lines of a banner
	quote := unclosed(text)
	if quote == 0 {
		return i
	}
	for j := i + 1; j < min(len(lines), i+most) && !strings.HasPrefix(lines[j], command); j++ {
		if strings.IndexByte(lines[j], quote) >= 0 {
			return j
		}
	}
	return i
}

// unclosed is the quote that a line opens and does not close, 0 for none.
func unclosed(text string) (quote byte) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '#' && (i == 0 || text[i-1] == ' '):
			return 0
		}
	}
	return quote
}

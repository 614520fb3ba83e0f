package eos

import (
	"slices"

	"railyard/internal/swconf/cli"
)

// withoutTexts removes literal blocks: comments, functions of route control, certificates and scripts between a command
// and EOF, in any mode.
func withoutTexts(file string, lines []cli.Line) ([]cli.Line, error) {
	out := lines[:0:0]
	ends := 0 // lines after this one have another EOF
	for i, l := range slices.Backward(lines) {
		if l.Text == "EOF" {
			ends = i
			break
		}
	}
	for i := 0; i < len(lines); i++ {
		l := &lines[i]
		oldGroup(l)
		texts := l.Texts()
		if l.Text != "comment" && (texts == 0 || l.Words[0].Text != "code") {
			out = append(out, *l)
		}
		for ; texts > 0; texts-- {
			if i >= ends {
				if l.Words[0].Text != "code" {
					break
				}
				return nil, &cli.SyntaxError{File: file, Line: l.Num, Col: l.Words[0].Col,
					Msg: "the code never ends: EOF is missing; is the file truncated?"}
			}
			for i++; lines[i].Text != "EOF"; i++ {
			}
		}
	}
	return out, nil
}

// Package svg has the canvas of SVG pictures. Text keeps the width that it was drawn with, whichever fonts the reader
// has.
package svg

import (
	"bytes"
	"fmt"
	"io"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Canvas is an SVG picture.
type Canvas struct {
	*vgsvg.Canvas
	widths []vg.Length // of its texts, in their order
}

// New returns an empty picture.
func New(wide, high vg.Length) *Canvas { return &Canvas{Canvas: vgsvg.New(wide, high)} }

// FillString draws text.
func (c *Canvas) FillString(f font.Face, at vg.Point, text string) {
	c.widths = append(c.widths, f.Width(text))
	c.Canvas.FillString(f, at, text)
}

// WriteTo writes the picture: each text with its width (SVG 1.1, 10.5, textLength), in any font without serifs where
// ours is not installed.
func (c *Canvas) WriteTo(w io.Writer) (int64, error) {
	var from, to bytes.Buffer
	if _, err := c.Canvas.WriteTo(&from); err != nil {
		return 0, err
	}
	const text, family = "<text ", "font-family:Liberation Sans"
	for i, part := range bytes.Split(from.Bytes(), []byte(text)) {
		if i > 0 {
			fmt.Fprintf(&to, `%stextLength="%.4g" lengthAdjust="spacingAndGlyphs" `, text, c.widths[i-1].Points())
		}
		to.Write(bytes.Replace(part, []byte(family), []byte(family+",sans-serif"), 1))
	}
	return to.WriteTo(w)
}

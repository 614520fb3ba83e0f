// Package liberationsansbolditalic replaces a font that no plot uses.
package liberationsansbolditalic

import "codeberg.org/go-fonts/liberation/liberationsansregular"

// TTF is the regular font.
var TTF = liberationsansregular.TTF

// Package liberationsansitalic replaces a font that no plot uses.
package liberationsansitalic

import "codeberg.org/go-fonts/liberation/liberationsansregular"

// TTF is the regular font.
var TTF = liberationsansregular.TTF

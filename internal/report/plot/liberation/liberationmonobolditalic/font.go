// Package liberationmonobolditalic replaces a font that no plot uses.
package liberationmonobolditalic

import "codeberg.org/go-fonts/liberation/liberationsansregular"

// TTF is the regular font.
var TTF = liberationsansregular.TTF

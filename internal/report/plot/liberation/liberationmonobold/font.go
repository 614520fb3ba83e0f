// Package liberationmonobold replaces a font that no plot uses.
package liberationmonobold

import "codeberg.org/go-fonts/liberation/liberationsansregular"

// TTF is the regular font.
var TTF = liberationsansregular.TTF

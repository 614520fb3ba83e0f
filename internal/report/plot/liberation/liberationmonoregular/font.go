// Package liberationmonoregular replaces a font that no plot uses.
package liberationmonoregular

import "codeberg.org/go-fonts/liberation/liberationsansregular"

// TTF is the regular font.
var TTF = liberationsansregular.TTF

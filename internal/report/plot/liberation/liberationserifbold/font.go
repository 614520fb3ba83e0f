// Package liberationserifbold replaces a font that no plot uses.
package liberationserifbold

import "codeberg.org/go-fonts/liberation/liberationserifregular"

// TTF is the regular font.
var TTF = liberationserifregular.TTF

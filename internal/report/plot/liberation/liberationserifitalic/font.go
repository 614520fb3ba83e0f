// Package liberationserifitalic replaces a font that no plot uses.
package liberationserifitalic

import "codeberg.org/go-fonts/liberation/liberationserifregular"

// TTF is the regular font.
var TTF = liberationserifregular.TTF

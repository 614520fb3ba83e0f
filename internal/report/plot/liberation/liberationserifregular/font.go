// Package liberationserifregular embeds the font LiberationSerif-Regular.
package liberationserifregular

import _ "embed"

// TTF is the font.
//
//go:embed LiberationSerif-Regular.ttf
var TTF []byte

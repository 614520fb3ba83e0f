// Package liberationsansregular embeds the font LiberationSans-Regular.
package liberationsansregular

import _ "embed"

// TTF is the font.
//
//go:embed LiberationSans-Regular.ttf
var TTF []byte

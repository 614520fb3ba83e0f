// Package docs embeds the documentation that is not generated: Markdown and pictures. Package manual joins it with
// pages that are generated from code; `railyard docs` prints, serves and writes them.
package docs

import "embed"

// Files holds the pages and their pictures. Pages of lint rules are in package rules.
//
//go:embed *.md comparison/*.md concepts guides tutorials
var Files embed.FS

// Package cli parses configurations in the style of a router's command line: one command per line, modes by command
// or by indentation, and abbreviated keywords.
//
// A language is a tree of [Mode] values with patterns. A pattern marked [no] also accepts "no" and "default".
// Before any other pattern they make the line unknown. [Scan] splits a file into lines with positions, [Read]
// matches them, and [Unknown] lists what matched nothing. The package contains no command of any vendor.
package cli

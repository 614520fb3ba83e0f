// Package cli parses configurations in the style of a router's command line: one command per line, modes by command
// or by indentation, keywords abbreviated as engineers type them.
//
// A language is a tree of [Mode] values with patterns. A pattern marked [no] also accepts "no" and "default"; before
// any other pattern they make the line unknown. [Scan] splits a file into lines with places, [Read] matches them,
// [Unknown] lists what matched nothing. The package contains no command of any vendor.
package cli

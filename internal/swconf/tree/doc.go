// Package tree parses languages whose configuration is a tree: each statement is a path from the root to a value
// (NVUE, Junos).
//
// A language turns its files into [Statement] values and gives a [Grammar], a table of paths; [Match] returns the words
// of a statement that the table names. Deleting a path deletes the paths below it. The package contains no statement of
// any vendor.
package tree

//go:build race

package main

// The race detector keeps a shadow of memory, which cannot be measured then.
func init() { raced = true }

//go:build !amd64

package cache

import "unsafe"

// Line does nothing where no instruction is at hand.
func Line(unsafe.Pointer) {}

// Lines does nothing either.
func Lines(unsafe.Pointer, int) {}

// Apart does nothing either.
func Apart(unsafe.Pointer) {}

//go:build !amd64

package cache

import "unsafe"

// Line does nothing where no instruction is at hand.
func Line(unsafe.Pointer) {}

// Lines does nothing either.
func Lines(unsafe.Pointer, int) {}

// Apart also does nothing.
func Apart(unsafe.Pointer) {}

// Package rng gives every element of a simulation its own random [Stream], derived from one seed and the name of the
// element. Adding a switch does not change what other switches draw.
package rng

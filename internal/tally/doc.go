// Package tally counts the parts of a foreign file: mapped, assumed, left out, each [Count] with the first place. A
// tolerant reader reports there what it passes over.
package tally

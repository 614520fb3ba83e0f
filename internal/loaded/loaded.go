// Package loaded imports the extensions of a build, and so before the keys of scenarios are made: railyard build adds a
// file with their imports to it. Without extensions it is empty.
package loaded

// Package scenarios embeds the shipped scenarios, the published clusters below clusters, and the files that they
// name.
package scenarios

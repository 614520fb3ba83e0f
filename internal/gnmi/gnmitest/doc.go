// Package gnmitest is a gNMI server for tests. It serves snapshots under the paths of OpenConfig, as a switch does.
package gnmitest

// Package use imports sum.
package use

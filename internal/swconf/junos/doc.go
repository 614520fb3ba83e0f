// Package junos parses and renders Junos of QFX switches. It parses the hierarchy in braces and set commands, groups
// with apply-groups, interface ranges, inactive statements, and MC-LAG and Ethernet segments (multihome.go).
//
// Render writes set commands (render.go, render_cos.go). Junos computes pause thresholds and headroom itself, and
// whole percents are rounded; notes at the head of its output list both.
package junos

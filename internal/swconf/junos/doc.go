// Package junos parses and renders Junos of QFX switches. It reads the hierarchy in braces and set commands, groups
// with apply-groups, interface ranges, inactive statements, and MC-LAG and Ethernet segments (multihome.go).
//
// Render writes set commands (render.go, render_cos.go). What Junos works out by itself, pause thresholds and
// headroom, and what whole percents round stands in notes at their head.
package junos

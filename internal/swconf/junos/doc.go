// Package junos parses Junos of QFX switches: the hierarchy in braces and set commands, groups with apply-groups,
// interface ranges, inactive statements. It renders nothing.
package junos

// Package eos parses and renders Arista EOS configuration. Public samples of its buffer commands differ between
// releases and chips (platform trident mmu, interface-profile): the rendered configuration must be checked against the
// intended release.
package eos

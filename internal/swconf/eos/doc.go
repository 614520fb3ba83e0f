// Package eos parses and renders Arista EOS configuration. Public samples of its buffer commands differ between
// releases and chips (platform trident mmu, interface-profile): what is rendered must be checked against the release
// that it is meant for.
package eos

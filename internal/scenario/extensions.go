package scenario

import (
	"railyard/extend"
	_ "railyard/internal/loaded" // the extensions of a build, which register before keys are made of the registries
)

func init() { extend.Seal() }

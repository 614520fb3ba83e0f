// Package param describes parameters of algorithms in registries (congestion controls, path choice, transports): name,
// kind with its unit, documentation, range. Scenario keys, schema, bounds and --set are made from these descriptions.
package param

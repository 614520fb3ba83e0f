// Package model computes parameters, FLOPs and memory of transformers from the config.json that a model is published
// with.
//
// [Parse] reads a config.json, [Builtin] returns a shipped one ([Names]). A [Config] gives parameters in total and per
// token (experts), FLOPs of a forward pass and bytes of weights, gradients, optimizer state and activations. A [GPU] is
// data from gpus.json: memory, rates, NVLink, each with its source ([Sheets]).
package model

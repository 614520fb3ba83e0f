package main

type rdmaAllreduceCmd struct{}

func (c *rdmaAllreduceCmd) Run(e *env) error { return nil }

//go:build !amd64

package host

func prefetch(*receiver) {}

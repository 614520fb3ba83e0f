//go:build !amd64

package host

import "railyard/transport"

func prefetch(*receiver) {}

func prefetchEnds(*ends) {}

func prefetchReceiver(transport.Receiver) {}

func prefetchSender(transport.Sender) {}

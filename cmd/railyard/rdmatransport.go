package main

import (
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/verbs"
)

// carried reads what carries queue pairs, and by which planes.
func (d *rdmaDevice) carried(cfg *verbs.DeviceConfig) error {
	if d.Transport != "" && !slices.Contains(verbs.Transports(), d.Transport) {
		return field.Choice("--transport", d.Transport, verbs.Transports(),
			"unknown transport %s on sockets", field.Quote(d.Transport))
	}
	cfg.Transport, cfg.CC = d.Transport, d.CC
	if d.Planes == "" {
		return nil
	}
	if d.Transport == verbs.RC {
		return field.New("--planes", "is for --transport mrc: RC has one way in")
	}
	for _, w := range strings.Split(d.Planes, ",") {
		a, err := lookup("--planes", strings.TrimSpace(w))
		if err != nil {
			return err
		}
		cfg.Planes = append(cfg.Planes, a)
	}
	if cfg.Addr.IsValid() && cfg.Addr != cfg.Planes[0] {
		return field.New("--planes", "begins with %v, and --addr is %v", cfg.Planes[0], cfg.Addr)
	}
	cfg.Addr = cfg.Planes[0]
	return nil
}

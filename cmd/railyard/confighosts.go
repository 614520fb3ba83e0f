package main

import (
	"fmt"

	"railyard/internal/report"
	"railyard/internal/swconf"
)

// shownHost is a server's part of the JSON.
type shownHost struct {
	NICs    []swconf.HostView `json:"nics"`
	NCCL    []hostVariable    `json:"nccl"`
	Unknown []string          `json:"not_understood"`
	Faults  []string          `json:"faults"`
}

type hostVariable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Line  int    `json:"line"`
}

// host shows a server.
func (c *configShowCmd) host(e *env, i int, file string, h *swconf.Host) shown {
	s := shown{File: file, Name: h.Name(), OS: "host", Notes: h.Notes, Views: []swconf.View{},
		Host: &shownHost{NICs: append([]swconf.HostView{}, h.Views()...), NCCL: []hostVariable{},
			Unknown: []string{}, Faults: []string{}}}
	for _, v := range h.Variables() {
		s.Host.NCCL = append(s.Host.NCCL, hostVariable{v.Name, v.Value, v.At.Line})
	}
	for _, u := range h.Unknown {
		s.Host.Unknown = append(s.Host.Unknown, fmt.Sprintf("%s:%d: %s: %s", u.At.File, u.At.Line, u.Text, u.Why))
	}
	for _, f := range h.Faults {
		s.Host.Faults = append(s.Host.Faults, fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message))
	}
	if !c.JSON {
		if i > 0 {
			fmt.Fprintln(e.stdout)
		}
		report.Host(e.stdout, h)
	}
	return s
}

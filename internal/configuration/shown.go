package configuration

import (
	"errors"
	"fmt"
	"os"

	"railyard/internal/input"
	"railyard/internal/queue"
	"railyard/internal/swconf"
)

// Device is the configuration of a host or of a switch.
type Device struct {
	Host   *swconf.Host
	Config *swconf.Config
}

// Devices reads a file, or a directory: the switches and hosts in it, or, without switches, the configuration of one
// host. none lists the skipped files of the directory.
func Devices(path, language string) (all []Device, none []string, err error) {
	if st, err := os.Stat(path); err != nil || !st.IsDir() {
		host, err := Host(path, language)
		if err != nil || host != nil {
			return []Device{{Host: host}}, nil, err
		}
		cfg, err := Parse(path, language)
		return []Device{{Config: cfg}}, nil, err
	}
	files, err := Files([]string{path})
	if err != nil {
		return nil, nil, err
	}
	hosts, rest, err := HostsAmong(nil, files, language)
	if err != nil || len(rest) == 0 {
		h, err := ReadHost(path)
		return []Device{{Host: h}}, nil, err
	}
	configs, none, err := ParseAll(rest, language)
	if len(configs) == 0 {
		h, not := ReadHost(path)
		if len(hosts) == 0 && (not != nil || h.Read == 0) {
			return nil, nil, err
		}
		return []Device{{Host: h}}, nil, not
	}
	for _, cfg := range configs {
		if cfg.HasQoS() { // a routing configuration next to that of its switch is not a device
			all = append(all, Device{Config: cfg})
		}
	}
	for _, h := range hosts {
		all = append(all, Device{Host: h})
	}
	if len(all) == 0 && err == nil {
		err = input.Fault(fmt.Errorf("%s: only routing configurations, which contain no queues", path))
	}
	return all, none, err
}

// Shown is the JSON of a device.
type Shown struct {
	File  string        `json:"file"`
	Name  string        `json:"name"`
	OS    swconf.OS     `json:"os"`
	Spec  *queue.Spec   `json:"spec,omitempty"`
	Notes []string      `json:"notes,omitempty"`
	SRv6  string        `json:"srv6,omitempty"`
	Hash  string        `json:"ecmp_hash,omitempty"`
	Views []swconf.View `json:"views"`
	Host  *ShownHost    `json:"host,omitempty"`
}

// ShownHost is the part of the JSON that only hosts have.
type ShownHost struct {
	NICs    []swconf.HostView `json:"nics"`
	NCCL    []HostVariable    `json:"nccl"`
	Unknown []string          `json:"not_understood"`
	Faults  []string          `json:"faults"`
}

// HostVariable is a variable of NCCL.
type HostVariable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Line  int    `json:"line"`
}

// Shown returns the JSON of d. A switch configuration without queues is an error.
func (d *Device) Shown() (s Shown, err error) {
	if d.Host != nil {
		return shownHost(d.Host), nil
	}
	cfg := d.Config
	spec, notes, err := cfg.Spec(queue.Default())
	if errors.Is(err, swconf.ErrNoQoS) {
		return s, err
	}
	s = Shown{File: cfg.File, Name: cfg.Name(), OS: cfg.OS, Notes: notes, SRv6: cfg.Segments(), Hash: cfg.Hash.V,
		Views: cfg.Views()}
	if err == nil {
		s.Spec = &spec
	} else {
		s.Notes = append(s.Notes, "cannot be simulated: "+err.Error())
	}
	return s, nil
}

// shownHost returns the JSON of a host.
func shownHost(h *swconf.Host) Shown {
	of := &ShownHost{NICs: append([]swconf.HostView{}, h.Views()...), NCCL: []HostVariable{}, Unknown: []string{},
		Faults: []string{}}
	for _, v := range h.Variables() {
		of.NCCL = append(of.NCCL, HostVariable{v.Name, v.Value, v.At.Line})
	}
	for _, u := range h.Unknown {
		of.Unknown = append(of.Unknown, fmt.Sprintf("%s:%d: %s: %s", u.At.File, u.At.Line, u.Text, u.Why))
	}
	for _, f := range h.Faults {
		of.Faults = append(of.Faults, fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message))
	}
	return Shown{File: h.File, Name: h.Name(), OS: "host", Notes: h.Notes, Views: []swconf.View{}, Host: of}
}

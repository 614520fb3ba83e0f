package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"railyard/internal/hostconf"
	"railyard/internal/input"
	"railyard/internal/report"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
)

// hostOf reads a file or folder as a server's texts; nil where the file is no server's. With a language that
// somebody gave, it is a switch's.
func hostOf(path, language string) (*swconf.Host, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, input.Fault(err)
	}
	if st.IsDir() {
		return readHost(path)
	}
	text, is, err := hostText(path, language)
	if err != nil || !is {
		return nil, err
	}
	h, err := hostconf.Parse(path, text)
	if err != nil {
		return nil, input.Fault(err)
	}
	return h, nil
}

// hostText is a file that is a server's text, if it is one.
func hostText(path, language string) (text []byte, is bool, err error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, false, input.Fault(err)
	}
	if language != "" || st.Size() > cli.MaxSize || !st.Mode().IsRegular() {
		return nil, false, nil
	}
	if text, err = input.Text(path, cli.MaxSize); err != nil { // Parse says how much of a host is read
		return nil, false, input.Fault(err)
	}
	return text, hostconf.Is(text), nil
}

// readHost reads a server's texts: a file, or all of a folder.
func readHost(path string) (*swconf.Host, error) {
	var files []hostconf.File
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := input.Text(p, hostconf.MaxSize)
		if err != nil {
			return err
		}
		files = append(files, hostconf.File{Name: p, Text: text})
		if len(files) > maxConfigs {
			return fmt.Errorf("%s: more than %d files", path, maxConfigs)
		}
		return nil
	})
	if err != nil {
		return nil, input.Fault(err)
	}
	h, err := hostconf.ParseFiles(path, files)
	if err != nil {
		return nil, input.Fault(err)
	}
	return h, nil
}

// hostsAmong takes servers' texts out of a list of files, and reads them and those of folders; files that
// are called alike but for their ends (host-1.sh, host-1.nccl.conf) are one server's.
func hostsAmong(folders []string, files []configFile, language string) (hosts []*swconf.Host,
	rest []configFile, err error) {
	for _, f := range folders {
		h, err := readHost(f)
		if err != nil {
			return nil, nil, err
		}
		hosts = append(hosts, h)
	}
	var names []string
	of := map[string][]hostconf.File{}
	for _, f := range files {
		text, is, err := hostText(f.path, language)
		if err != nil && !f.perhaps && !f.inside {
			return nil, nil, err
		}
		if !is {
			rest = append(rest, f)
			continue
		}
		name := filepath.Join(filepath.Dir(f.path), swconf.HostName(f.path))
		if of[name] == nil {
			names = append(names, name)
		}
		of[name] = append(of[name], hostconf.File{Name: f.path, Text: text})
	}
	for _, name := range names {
		file := name
		if len(of[name]) == 1 {
			file = of[name][0].Name
		}
		h, err := hostconf.ParseFiles(file, of[name])
		if err != nil {
			return nil, nil, input.Fault(err)
		}
		hosts = append(hosts, h)
	}
	return hosts, rest, nil
}

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
		s.Host.Unknown = append(s.Host.Unknown, fmt.Sprintf("%s:%d: %s: %s", u.At.File, u.At.Line,
			u.Text, u.Why))
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

package configuration

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"railyard/internal/hostconf"
	"railyard/internal/input"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
)

// Host reads a file or directory as a server's configuration; nil if the file is not a server's. With a given language,
// it is a switch's.
func Host(path, language string) (*swconf.Host, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, input.Fault(err)
	}
	if st.IsDir() {
		return ReadHost(path)
	}
	text, is, err := HostText(path, language)
	if err != nil || !is {
		return nil, err
	}
	h, err := hostconf.Parse(path, text)
	if err != nil {
		return nil, input.Fault(err)
	}
	return h, nil
}

// HostText returns a file that is a server's configuration, if it is one.
func HostText(path, language string) (text []byte, is bool, err error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, false, input.Fault(err)
	}
	if language != "" || st.Size() > cli.MaxSize || !st.Mode().IsRegular() && !input.Pipe(path) {
		return nil, false, nil
	}
	if text, err = input.Text(path, cli.MaxSize); err != nil { // Parse reports how much of a host is recognized
		return nil, false, input.Fault(err)
	}
	return text, hostconf.Is(text), nil
}

// ReadHost reads a server's configuration: a file, or all of a directory.
func ReadHost(path string) (*swconf.Host, error) {
	var files []hostconf.File
	err := filepath.WalkDir(input.Behind(path), func(p string, d fs.DirEntry, err error) error {
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

// WithoutHosts splits files into configurations of switches and the paths of hosts' configurations.
func WithoutHosts(files []File, language string) (rest []File, hosts []string) {
	for _, f := range files {
		if _, is, err := HostText(f.Path, language); err == nil && is {
			hosts = append(hosts, f.Path)
		} else {
			rest = append(rest, f)
		}
	}
	return rest, hosts
}

// HostsAmong extracts servers' configurations from a list of files, and reads them and those of directories. Files
// whose names differ only in their extension (host-1.sh, host-1.nccl.conf) belong to one server.
func HostsAmong(folders []string, files []File, language string) (hosts []*swconf.Host, rest []File, err error) {
	for _, f := range folders {
		h, err := ReadHost(f)
		if err != nil {
			return nil, nil, err
		}
		hosts = append(hosts, h)
	}
	var names []string
	of := map[string][]hostconf.File{}
	for _, f := range files {
		text, is, err := HostText(f.Path, language)
		if err != nil && !f.Perhaps && !f.inside {
			return nil, nil, err
		}
		if !is {
			rest = append(rest, f)
			continue
		}
		name := filepath.Join(filepath.Dir(f.Path), swconf.HostName(f.Path))
		if of[name] == nil {
			names = append(names, name)
		}
		of[name] = append(of[name], hostconf.File{Name: f.Path, Text: text})
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

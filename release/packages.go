package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	nfiles "github.com/goreleaser/nfpm/v2/files"
)

// installed returns where a Debian package and an image have an item of an archive.
func installed(path string) string {
	switch dir, rest, _ := strings.Cut(path, "/"); {
	case path == "railyard":
		return "/usr/bin/railyard"
	case dir == "man":
		return "/usr/share/man/" + rest
	case strings.HasPrefix(path, "completion/bash/"):
		return "/usr/share/bash-completion/completions/railyard"
	case strings.HasPrefix(path, "completion/zsh/"):
		return "/usr/share/zsh/vendor-completions/_railyard"
	case strings.HasPrefix(path, "completion/fish/"):
		return "/usr/share/fish/vendor_completions.d/railyard.fish"
	case path == "LICENSE":
		return "/usr/share/doc/railyard/copyright"
	case dir == "scenarios":
		return "/usr/share/railyard/" + path
	}
	return "/usr/share/doc/railyard/" + path
}

// packages writes a Debian package and a container image for Linux on a processor.
func packages(out, version, processor string, all []item) error {
	if err := debian(filepath.Join(out, fmt.Sprintf("railyard_%s_%s.deb", version, processor)), version, processor,
		all); err != nil {
		return err
	}
	return image(filepath.Join(out, fmt.Sprintf("railyard-%s-linux-%s.image.tar", version, processor)), version,
		processor, all)
}

// debian writes a Debian package.
func debian(path, version, processor string, all []item) error {
	work, err := os.MkdirTemp("", "deb")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	info := &nfpm.Info{Name: "railyard", Arch: processor, Platform: "linux", Version: version, Section: "net",
		Priority: "optional", Maintainer: "Railyard maintainers", License: "Apache-2.0",
		Description: "simulates the network of AI training clusters\n RoCEv2 over Ethernet, packet by packet.",
		MTime:       time.Unix(0, 0)}
	for i, x := range all {
		from := filepath.Join(work, fmt.Sprint(i))
		if err := os.WriteFile(from, x.data, x.mode); err != nil {
			return err
		}
		info.Contents = append(info.Contents, &nfiles.Content{Source: from, Destination: installed(x.path),
			FileInfo: &nfiles.ContentFileInfo{Mode: x.mode, MTime: time.Unix(0, 0), Owner: "root", Group: "root"}})
	}
	info = nfpm.WithDefaults(info)
	if err := nfpm.PrepareForPackager(info, "deb"); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := deb.Default.Package(info, f); err != nil {
		return err
	}
	return f.Close()
}

// image writes a container image that has the files of the package and nothing else, as docker load and podman load
// read it.
func image(path, version, processor string, all []item) error {
	var placed []item
	for _, x := range all {
		placed = append(placed, item{strings.TrimPrefix(installed(x.path), "/"), x.mode, x.data})
	}
	placed = append(placed, item{"tmp/.keep", fs.FileMode(0o644), nil}, item{"work/.keep", fs.FileMode(0o644), nil})
	b, err := layer(".", placed)
	if err != nil {
		return err
	}
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil })
	if err != nil {
		return err
	}
	img, err := mutate.AppendLayers(empty.Image, l)
	if err != nil {
		return err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", processor
	config.Config = v1.Config{Entrypoint: []string{"/usr/bin/railyard"}, WorkingDir: "/work",
		Env: []string{"PATH=/usr/bin", "HOME=/work"}}
	if img, err = mutate.ConfigFile(img, config); err != nil {
		return err
	}
	tag, err := name.NewTag("railyard:" + version)
	if err != nil {
		return err
	}
	return tarball.WriteToFile(path, tag, img)
}

// bill writes the modules that a program is built of, as CycloneDX.
func bill(program, path, version string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &cdx.Component{Type: cdx.ComponentTypeApplication, Name: "railyard",
		Version: version, PackageURL: "pkg:generic/railyard@" + version}}
	list := []cdx.Component{{Type: cdx.ComponentTypePlatform, Name: "std", Version: info.GoVersion}}
	for _, m := range info.Deps {
		if m.Replace != nil && m.Replace.Version != "" { // not a folder of this repository
			m = m.Replace
		}
		list = append(list, cdx.Component{Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version,
			PackageURL: "pkg:golang/" + m.Path + "@" + m.Version})
	}
	bom.Components = &list
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return err
	}
	return f.Close()
}

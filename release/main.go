// Command release builds what users install: archives for Linux and macOS with man pages and completion, checksums,
// bills of materials, Debian packages and container images.
//
//	cd release && go run . --out ../dist                       # all
//	cd release && go run . --out ../dist --only linux/amd64    # one
//
// It is a module of its own, so that its libraries do not become part of railyard. The version is the first heading of
// docs/CHANGELOG.md.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// targets are the systems and processors that are built for.
var targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"}

func main() {
	out := flag.String("out", "dist", "folder to write")
	only := flag.String("only", "", "one target, such as linux/amd64 (all)")
	root := flag.String("root", "..", "folder of railyard's source")
	flag.Parse()
	if *only != "" {
		targets = []string{*only}
	}
	if err := release(*root, *out); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// An item is a file of an archive or package.
type item struct {
	path string // in the archive
	mode fs.FileMode
	data []byte
}

// release builds all targets, and lists the checksums of all files in SHA256SUMS.
func release(root, out string) error {
	version, err := versionOf(root)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	host := filepath.Join(work, "railyard")
	if err := build(root, host, os.Getenv("GOOS"), os.Getenv("GOARCH")); err != nil {
		return err
	}
	shared, err := files(root, host)
	if err != nil {
		return err
	}
	for _, target := range targets {
		system, processor, ok := strings.Cut(target, "/")
		if !ok {
			return fmt.Errorf("--only %s: expected SYSTEM/PROCESSOR", target)
		}
		program := filepath.Join(work, system+"-"+processor)
		if err := build(root, program, system, processor); err != nil {
			return err
		}
		b, err := os.ReadFile(program)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("railyard-%s-%s-%s", version, system, processor)
		all := append([]item{{"railyard", 0o755, b}}, shared...)
		if err := archive(filepath.Join(out, name+".tar.gz"), name, all); err != nil {
			return err
		}
		if err := bill(program, filepath.Join(out, name+".cdx.json"), version); err != nil {
			return err
		}
		if system == "linux" {
			if err := packages(out, version, processor, all); err != nil {
				return err
			}
		}
		fmt.Println(name)
	}
	return checksums(out)
}

// heading matches the first version of a changelog.
var heading = regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+)$`)

// versionOf returns the version of the changelog, which must be that of the program.
func versionOf(root string) (string, error) {
	b, err := os.ReadFile(filepath.Join(root, "docs", "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	m := heading.FindSubmatch(b)
	if m == nil {
		return "", fmt.Errorf("docs/CHANGELOG.md has no heading ## N.N.N")
	}
	return string(m[1]), nil
}

// build builds railyard for a system and processor, without symbols and without gRPC's /debug/requests page, whose
// templates make the linker keep every exported method: 8 MB.
func build(root, to, system, processor string) error {
	full, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-tags", "grpcnotrace", "-ldflags", "-s -w -buildid=", "-o", full,
		"./cmd/railyard")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if system != "" {
		cmd.Env = append(cmd.Env, "GOOS="+system, "GOARCH="+processor)
	}
	if b, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build for %s/%s: %w\n%s", system, processor, err, b)
	}
	return nil
}

// files returns what every archive contains besides the program: license, scenarios, man pages, completion.
func files(root, program string) (all []item, err error) {
	for _, name := range []string{"LICENSE", "README.md", "docs/CHANGELOG.md"} {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		all = append(all, item{filepath.Base(name), 0o644, b})
	}
	err = filepath.WalkDir(filepath.Join(root, "scenarios"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".go") {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		all = append(all, item{filepath.ToSlash(name), 0o644, b})
		return err
	})
	if err != nil {
		return nil, err
	}
	pages, err := manPages(program)
	if err != nil {
		return nil, err
	}
	all = append(all, pages...)
	for shell, name := range map[string]string{"bash": "railyard", "zsh": "_railyard", "fish": "railyard.fish"} {
		b, err := output(program, "completion", shell)
		if err != nil {
			return nil, err
		}
		all = append(all, item{"completion/" + shell + "/" + name, 0o644, b})
	}
	slices.SortFunc(all, func(a, b item) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

// output returns what a command prints.
func output(program string, args ...string) ([]byte, error) {
	var errs bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Stderr = &errs
	b, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", args, err, errs.String())
	}
	return b, nil
}

// layer returns items below a folder as a tar file. Equal items give equal bytes.
func layer(dir string, all []item) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, x := range all {
		h := &tar.Header{Name: dir + "/" + x.path, Mode: int64(x.mode), Size: int64(len(x.data)),
			ModTime: time.Unix(0, 0)}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(x.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// archive writes items as a compressed tar file.
func archive(path, dir string, all []item) error {
	b, err := layer(dir, all)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z := gzip.NewWriter(f)
	if _, err := z.Write(b); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return f.Close()
}

// checksums writes SHA256SUMS of all files in a folder, for sha256sum -c.
func checksums(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, e := range entries {
		if e.IsDir() || e.Name() == "SHA256SUMS" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), b.Bytes(), 0o644)
}

// Command figures executes the command blocks of documents and writes the outputs that the documents quote.
//
//	figures FILE …           # execute and rewrite
//	figures --check FILE …   # execute and compare; exit 1 where a document is stale
//	figures --slow …         # with blocks that take long
//
// A command block is a fence of the language sh. Bash executes it, with railyard and the shipped scenarios in a new
// folder that all blocks of a document share:
//
//	```sh
//	railyard run scenarios/three-flows.yaml
//	```
//
//	<!-- output: ^three-flows.., incast -->
//	```text
//	three-flows: …
//	```
//
// A comment on the line above a command block changes how it is executed: "slow" blocks are executed with --slow only,
// "exit 3" names the exit code (0), "slow, exit 3" is both, and "elsewhere: REASON" is not executed here.
//
// "picture: NAME" compares a file that the blocks have written with the one of that name next to the document.
//
// The lines to quote follow "output:", in order. A regular expression picks the next line that it matches, "A..B"
// picks all lines from a match of A to the next match of B, and omitted lines become "...". Without a list the
// whole output is quoted.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	check := flag.Bool("check", false, "compare and do not write")
	slow := flag.Bool("slow", false, "execute slow blocks too")
	flag.Parse()
	if err := run(flag.Args(), *check, *slow); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

// run builds railyard, and treats each document in a folder of its own.
func run(files []string, check, slow bool) error {
	dir, err := os.MkdirTemp("", "figures")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "bin", "railyard"), "./cmd/railyard")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	stale := 0
	var failed []error
	for i, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		work := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(work, 0o755); err != nil {
			return err
		}
		if err := os.Symlink(filepath.Join(here, "scenarios"), filepath.Join(work, "scenarios")); err != nil {
			return err
		}
		text, err := rewrite(string(b), slow, machine{shell(work, filepath.Join(dir, "bin")),
			func(name string) error {
				return picture(filepath.Join(work, name), filepath.Join(filepath.Dir(file), name), check)
			}})
		switch {
		case err != nil:
			failed = append(failed, fmt.Errorf("%s: %w", file, err))
		case text == string(b):
		case check:
			stale++
			fmt.Print(differences(file, string(b), text))
		default:
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				return err
			}
		}
	}
	if stale > 0 {
		failed = append(failed, fmt.Errorf("%d of %d documents are stale: go run ./internal/ci/figures %s", stale,
			len(files), strings.Join(files, " ")))
	}
	return errors.Join(failed...)
}

// shell returns a function that executes a command block in a folder and returns its standard output.
func shell(work, bin string) func(text string, exit int) (string, error) {
	return func(text string, exit int) (string, error) {
		cmd := exec.Command("bash", "-euo", "pipefail", "-c", text)
		cmd.Dir = work
		cmd.Env = append(os.Environ(), "COLUMNS=80", "NO_COLOR=1", "PATH="+bin+":"+os.Getenv("PATH"))
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		var ended *exec.ExitError
		if err != nil && !errors.As(err, &ended) {
			return "", err
		}
		if code := cmd.ProcessState.ExitCode(); code != exit {
			return "", fmt.Errorf("exit code %d, expected %d\n%s%s%s", code, exit, text, out, errs.String())
		}
		return string(out), nil
	}
}

// picture compares a picture with the file that a document shows, or replaces that file.
func picture(from, to string, check bool) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if was, err := os.ReadFile(to); err == nil && bytes.Equal(b, was) {
		return nil
	}
	if check {
		return fmt.Errorf("%s is stale", to)
	}
	return os.WriteFile(to, b, 0o644)
}

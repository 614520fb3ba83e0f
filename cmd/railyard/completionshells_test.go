package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// shell writes a completion script where a shell looks for it, and returns what the shell prints for a program. It
// skips if the shell is not installed.
func shell(t *testing.T, name, file, program string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	code, script, errs := call(t, "completion", name)
	if code != exitOK {
		t.Fatal(errs)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, file), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	flag := map[string]string{"zsh": "-f", "fish": "--no-config"}[name]
	cmd := exec.Command(path, flag, "-c", program)
	cmd.Env = append(os.Environ(), "HOME="+dir, "HERE="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// TestCompletionZsh checks the script of zsh against zsh, loaded from a folder of fpath as the package installs it.
// The first completion of a session works, words are passed to railyard unchanged, and files complete if railyard
// has no completion.
func TestCompletionZsh(t *testing.T) {
	got := shell(t, "zsh", "_railyard", `
		fpath=($HERE $fpath)
		compdef() { : }
		compadd() { print -r -- "adds ${(P)@[-1]}" }
		_files() { print files }
		exec 3>&1
		railyard() { print -r -u3 -- "${(j:|:)@}"; [[ $words[CURRENT] == scen ]] || print -l lb=spray lb=srd }
		autoload -Uz _railyard
		words=(railyard run 'my file.yaml' --set lb=s) CURRENT=5
		_railyard
		_railyard
		words=(railyard run scen) CURRENT=3
		_railyard`)
	const first = "completion|words|--|run|my file.yaml|--set|lb=s\nadds lb=spray lb=srd\n"
	if want := first + first + "completion|words|--|run|scen\nfiles\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestCompletionFish checks the script of fish against fish: words without names of files, and these where railyard has
// no word.
func TestCompletionFish(t *testing.T) {
	got := shell(t, "fish", "railyard.fish", `
		function railyard
			echo (string join -- '|' $argv) >>$HERE/asked
			test $argv[-1] = railyard.f; or printf '%s\n' lb=spray lb=srd three-flows
		end
		source $HERE/railyard.fish
		cd $HERE
		complete -C "railyard run 'my file.yaml' --set lb=s"
		complete -C "railyard why "
		complete -C "railyard run railyard.f"
		cat $HERE/asked`)
	if want := "lb=spray\nlb=srd\n" + "lb=spray\nlb=srd\nthree-flows\n" + "railyard.fish\n" +
		"completion|words|--|run|my file.yaml|--set|lb=s\n" + "completion|words|--|why|\n" +
		"completion|words|--|run|railyard.f\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

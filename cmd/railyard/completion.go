package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"railyard/internal/model"
	"railyard/internal/reference"
	"railyard/internal/report/usage"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/site"
)

type completeCmd struct {
	Shell string   `arg:"" help:"bash, zsh or fish; words prints the words that complete a line" enum:"bash,zsh,fish,words" placeholder:"SHELL"`
	Line  []string `arg:"" optional:"" help:"With words: the words of the line, the last one incomplete" placeholder:"WORD"`
}

func (c *completeCmd) Help() string {
	return `Prints a script for a shell. It completes commands, flags, values, scenario keys after --set, models, runs
and the ports of a scenario.

Examples:
  railyard completion bash > /etc/bash_completion.d/railyard
  railyard completion zsh > ~/.zfunc/_railyard
  railyard completion fish > ~/.config/fish/completions/railyard.fish`
}

// completionScripts are the scripts of the shells. Where railyard knows no word, the shell completes file names.
var completionScripts = map[string]string{
	"bash": `_railyard() {
  local line="${COMP_LINE:0:COMP_POINT}" cur words
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  cur="${words[${#words[@]}-1]}"
  mapfile -t COMPREPLY < <(railyard completion words -- "${words[@]:1}" 2>/dev/null)
  [[ $cur == *=* ]] && COMPREPLY=("${COMPREPLY[@]#"${cur%=*}="}")
  [[ $cur == *:* ]] && COMPREPLY=("${COMPREPLY[@]#"${cur%:*}:"}")
  [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}
complete -o default -F _railyard railyard
`,
	"zsh": `#compdef railyard
_railyard() {
  local -a found
  found=("${(@f)$(railyard completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n $found[1] ]]; then compadd -Q -S '' -a found; else _files; fi
}
if [[ $funcstack[1] == _railyard ]]; then _railyard "$@"; else compdef _railyard railyard; fi
`,
	"fish": `function __railyard_words
  set -l found (railyard completion words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
  if set -q found[1]; printf '%s\n' $found; else; __fish_complete_path (commandline -ct); end
end
complete -c railyard -f -a '(__railyard_words)'
`,
}

// Run is the completion command.
func (c *completeCmd) Run(e *env) error {
	if text := completionScripts[c.Shell]; text != "" {
		_, err := fmt.Fprint(e.stdout, text)
		return err
	}
	if len(c.Line) == 0 {
		c.Line = []string{""}
	}
	p, release := newParser()
	defer release()
	for _, w := range usage.Complete(p.kong.Model.Node, c.Line, valuesOf) {
		if _, err := fmt.Fprintln(e.stdout, w); err != nil {
			return err
		}
	}
	return nil
}

// valuesOf lists the values of a flag or an argument; none where a shell completes file names.
func valuesOf(name, holder, last string, before []string) []string {
	switch {
	case name == "set" || name == "grid" || name == "range":
		return settings(last)
	case holder == "MODEL" || name == "model":
		return slices.Concat(model.Names(), model.GPUNames(), site.ModelNames(), site.ServerNames())
	case holder == "RUN" || name == "run":
		return runNames()
	case holder == "PORT" || name == "capture":
		return portNames(before)
	case holder == "PAGE":
		return pageNames()
	}
	return nil
}

// settings lists scenario keys with =, or the values of the key that is complete.
func settings(last string) (words []string) {
	key, _, complete := strings.Cut(last, "=")
	for _, k := range reference.KeyValues(scenario.Schema()) {
		switch {
		case !complete:
			words = append(words, k.Key+"=")
		case k.Key == key:
			for _, v := range k.Values {
				words = append(words, key+"="+v)
			}
		}
	}
	return words
}

// runNames lists the run directories below runs.
func runNames() (names []string) {
	found, _ := filepath.Glob("runs/*/run.json")
	for _, f := range found {
		names = append(names, filepath.ToSlash(filepath.Dir(f)))
	}
	return names
}

// portNames lists the ports of the scenario that the line names.
func portNames(line []string) (names []string) {
	for _, w := range line {
		if _, err := os.Stat(w); err != nil || !strings.HasSuffix(w, ".yaml") {
			continue
		}
		plan, err := scenariofile.Plan(w, nil, nil)
		if err != nil {
			return nil
		}
		for l := range plan.Graph.Links {
			names = append(names, plan.Graph.End(l, plan.Graph.Links[l].A), plan.Graph.End(l, plan.Graph.Links[l].B))
		}
	}
	return names
}

// pageNames lists the pages of the documentation.
func pageNames() (names []string) {
	pages, err := documentation()
	if err != nil {
		return nil
	}
	for _, p := range pages.Pages() {
		names = append(names, p.Path)
	}
	return names
}

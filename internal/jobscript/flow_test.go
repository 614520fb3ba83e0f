package jobscript

import (
	"strings"
	"testing"
)

// Scripts echo the words that bash prints, if the words are known or if the caller of a script gives them, such as
// its arguments.
func TestFlow(t *testing.T) {
	for text, want := range map[string]string{
		"for ((i=0; i<3; i++)); do echo $i; done":                                       "0 1 2",
		"for ((i=0; i<N; i++)); do echo $i; done":                                       "0",
		"for ((;;)); do break; done; echo end":                                          "end",
		"for i in 1 2 3; do [ $i = 2 ] && continue; echo $i; done":                      "1 3",
		"for i in 1 2 3; do if [ $i = 2 ]; then break; fi; echo $i; done; echo x":       "1 x",
		"for i in 1 2; do grep -q x y && continue; echo $i; done":                       "1 2",
		"i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done":                         "0 1 2",
		"i=0; until [ $i = 2 ]; do echo $i; i=$((i+1)); done":                           "0 1",
		"while true; do echo once; sleep 1; done":                                       "once",
		"x=0; while [ 1 -lt 2 ]; do x=$((x+1)); [ $x = 5 ] && break; done; echo $x":     "5",
		"declare -A m=([a]=1 [b]=2); m[c]=3; for k in ${!m[@]}; do echo ${m[$k]}; done": "1 2 3",
		"declare -A m; m[x]=y; m+=([z]=w); echo ${m[x]}${m[z]}":                         "yw",
		"a=([2]=x); echo ${#a[@]}${a[2]}":                                               "3x",
		"echo $(echo 0 0 1 | sed 's/ /,/g' | tr -d ,)":                                  "001",
		"if [ $# -ne 2 ]; then exit 1; fi; echo on":                                     "on",
		`[ -z "$1" ] && exit 1; echo on`:                                                "on",
		`if [ -z "$1" ]; then exit 1; fi; echo on`:                                      "on",
		`f() { if [ -z "$1" ]; then return; fi; echo $1; }; f; f a`:                     "a",
		`case "$1" in start) echo up;; stop) echo down;; esac`:                          "up",
		`case "$1" in a) echo a;; b) echo b;; esac`:                                     "",
		`case "$IF" in eth0) echo $IF;; *) echo no;; esac`:                              "eth0",
		`x=a; case "$x" in b) echo b;; *) echo other;; esac`:                            "other",
		`command -v x || return 2>/dev/null || exit 1; echo on`:                         "on",
		`if grep -q x; then return 2>/dev/null || exit 0; fi; echo on`:                  "on",
	} {
		s, err := ReadShell("x.sh", []byte(text))
		if err != nil {
			t.Fatal(text, err)
		}
		var got []string
		s.Walk(Environment{There: true, Command: func(c Command) bool {
			if c.Words[0].Text == "echo" && c.To == "" {
				for _, w := range c.Words[1:] {
					got = append(got, w.Text)
				}
			}
			return false
		}})
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %q, want %q", text, s, want)
		}
	}
}

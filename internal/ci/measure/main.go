// Command measure runs a program and appends its resource use to a file, as one line of JSON. It can also print
// such a file.
//
//	go test -exec "measure FILE" ./...   # a line for each test process
//	measure --table FILE                 # the ten with the longest wall time, and the largest memory
//	measure --table FILE --most 2GB      # the same; exit 1 where a process held more
//
// Memory is the largest resident set of the process and of its children that were waited for (getrusage(2),
// ru_maxrss); cpu is user plus system time.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"
)

// took is the cost of one process: wall time and processor time in seconds, and memory in bytes.
type took struct {
	Name string  `json:"name"`
	Wall float64 `json:"wall_s"`
	CPU  float64 `json:"cpu_s"`
	RSS  int64   `json:"rss"`
}

func main() {
	if len(os.Args) >= 3 && os.Args[1] == "--table" {
		os.Exit(table(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: measure FILE PROGRAM [ARGUMENT …] | measure --table FILE [--most SIZE]")
		os.Exit(2)
	}
	os.Exit(run(os.Args[1], os.Args[2:]))
}

// run returns the program's exit code.
func run(file string, args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	began := time.Now()
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		fmt.Fprintln(os.Stderr, "measure:", err)
		return 1
	}
	state := cmd.ProcessState
	dir, _ := os.Getwd()
	line, _ := json.Marshal(took{Name: filepath.Base(filepath.Dir(dir)) + "/" + filepath.Base(dir),
		Wall: time.Since(began).Seconds(), CPU: (state.UserTime() + state.SystemTime()).Seconds(),
		RSS: state.SysUsage().(*syscall.Rusage).Maxrss << 10})
	out, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = out.Write(append(line, '\n'))
		err = errors.Join(err, out.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		return 1
	}
	if state.ExitCode() < 0 { // ended by a signal
		return 1
	}
	return state.ExitCode()
}

// table prints a file of measurements and returns 1 if one used more than --most.
func table(file string, args []string) int {
	most := int64(0)
	if len(args) == 2 && args[0] == "--most" {
		var gb float64
		if _, err := fmt.Sscanf(strings.TrimSuffix(args[1], "GB"), "%g", &gb); err != nil || gb <= 0 {
			fmt.Fprintf(os.Stderr, "measure: --most %s: expected a size such as 2GB\n", args[1])
			return 2
		}
		most = int64(gb * 1e9)
	}
	f, err := os.Open(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		return 1
	}
	defer f.Close()
	var all []took
	var cpu float64
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var t took
		if json.Unmarshal(lines.Bytes(), &t) == nil {
			all, cpu = append(all, t), cpu+t.CPU
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Wall > all[j].Wall })
	fmt.Printf("%d test processes, %.0f s of CPU; the longest:\n", len(all), cpu)
	code := 0
	for i, t := range all {
		over := most > 0 && t.RSS > most
		if i < 10 || over {
			fmt.Printf("  %-28s %6.1f s  CPU %6.1f s  %7.0f MB\n", t.Name, t.Wall, t.CPU, float64(t.RSS)/1e6)
		}
		if over {
			fmt.Printf("  %s held more than %s\n", t.Name, args[1])
			code = 1
		}
	}
	return code
}

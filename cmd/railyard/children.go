package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// child starts this program again and returns the first line it prints.
func child(ctx context.Context, args ...string) (cmd *exec.Cmd, line string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	cmd = exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), "RAILYARD_CHILD=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	var problems strings.Builder
	cmd.Stderr = &problems
	if _, err := cmd.StdinPipe(); err != nil { // its end tells the child that we are gone
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	line, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		return nil, "", fmt.Errorf("%s did not start: %s", strings.Join(args, " "),
			strings.TrimSpace(problems.String()))
	}
	return cmd, strings.TrimSpace(line), nil
}

// followParent ends a child process when its parent is gone.
func followParent() {
	if s := os.Getenv("RAILYARD_CHILD"); s == "" || s == "stdin" {
		return
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(exitInterupt)
	}()
}

// stop ends a child process.
func stop(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

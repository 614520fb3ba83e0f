// Package ranks runs this program again as child processes: servers, and ranks of a job (Crew). A child ends when
// its parent ends (FollowParent). Loopback and Claim choose addresses that no other job of the host has.
package ranks

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Exit codes that a parent reads.
const (
	Refused     = 2
	Interrupted = 130
)

// marker is set in the environment of a child. With the value stdin the child's standard input is its own.
const marker = "RAILYARD_CHILD"

// Command returns this program with args, to be run by the command line in under, if any.
func Command(ctx context.Context, under []string, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	argv := slices.Concat(under, []string{self}, args)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), marker+"=1")
	_, err = cmd.StdinPipe() // end of file on stdin notifies the child of this process's end
	return cmd, err
}

// Start starts a Command and returns the first line it prints.
func Start(ctx context.Context, under []string, args ...string) (cmd *exec.Cmd, line string, err error) {
	cmd, err = Command(ctx, under, args...)
	if err != nil {
		return nil, "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	var problems strings.Builder
	cmd.Stderr = &problems
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

// Stop ends a child process.
func Stop(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// FollowParent ends this process, if it is a child, when its parent ends.
func FollowParent() {
	if s := os.Getenv(marker); s == "" || s == "stdin" {
		return
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(Interrupted)
	}()
}

// Loopback returns the address of a local rank. The port where the ranks meet is used by no other job of this host,
// so its lower 15 bits select a network of this job; rank 250 begins the next network.
func Loopback(port uint16, rank int) netip.Addr {
	network := int(port) + rank/250
	return netip.AddrFrom4([4]byte{127, byte(64 + network>>8&127), byte(network), byte(1 + rank%250)})
}

// Claim returns a loopback address that no other job of this machine takes until it is released.
func Claim() (addr netip.Addr, release func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return addr, nil, err
	}
	return Loopback(l.Addr().(*net.TCPAddr).AddrPort().Port(), 0), func() { l.Close() }, nil
}

// Package input opens the files that people name: regular files and pipes, up to a size. It refuses directories,
// devices, pipes without a writer and endless files of /proc, which would block a command or exceed memory.
package input

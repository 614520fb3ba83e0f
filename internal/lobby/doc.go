// Package lobby admits TCP connections that identify themselves with one line of JSON. A connection that sends
// nothing gives way to others, so that a flood of idle connections does not exclude anyone.
package lobby

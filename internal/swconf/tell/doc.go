// Package tell describes a swconf.Config in words, for the transcripts of the languages' tests.
package tell

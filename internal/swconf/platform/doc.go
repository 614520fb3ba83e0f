// Package platform gives the defaults of operating systems and switch chips for what a configuration leaves open, as
// data with the documents that they were read in ([Sheets]). A value that is in no sheet is unknown, and callers
// must not substitute a number.
package platform

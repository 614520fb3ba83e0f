// Package platform gives the defaults of operating systems and switch chips for values that a configuration leaves
// open, as data with the documents in which they were read ([Sheets]). A value that is in no sheet is unknown, and
// callers must not substitute a number.
package platform

// Package platform has the defaults of operating systems and switch chips for values that a configuration does not
// set, as data with their source documents ([Sheets]). A value that is in no sheet is unknown, and callers must not
// substitute a number.
package platform

// Package sheet reads data sheets: products with figures, each [Figure] with the document that it was read in
// ([Source]). A figure without a source is marked as unsourced and printed so. [Count] counts both.
package sheet

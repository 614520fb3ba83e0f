// Package reference generates pages of the documentation from the registries that the program itself uses: scenario
// keys, columns of run directories, causes, hardware models, accuracy. A page is Markdown.
package reference

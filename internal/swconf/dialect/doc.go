// Package dialect lists the configuration languages that Railyard reads ([Names]) and renders ([Written]), and finds
// the language of a file. [Parse] and [Render] are the entry points for all vendors; TestRoundTrip parses rendered
// configurations and compares them as a queue.Spec.
package dialect

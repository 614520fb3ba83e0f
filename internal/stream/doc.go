// Package stream reads large files in bounded memory: gzip, line by line, or one JSON object after the other
// ([Object]). It holds only the line or the object at hand.
package stream

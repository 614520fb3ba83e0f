package main

import (
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"syscall"
)

// printJSON prints a value; lists without entries are [], not null.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(filled(reflect.ValueOf(v)).Interface())
}

// filled is a copy of a value in which no list is nil.
func filled(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Slice:
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(filled(v.Index(i)))
		}
		return out
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for _, k := range v.MapKeys() {
			out.SetMapIndex(k, filled(v.MapIndex(k)))
		}
		return out
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		in := filled(v.Elem())
		if v.Kind() == reflect.Pointer {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(in)
		} else {
			out.Set(in)
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(filled(v.Field(i)))
			}
		}
		return out
	}
	return v
}

// printer is standard output that remembers when something could not be printed: a report
// that has gone nowhere is a failure.
type printer struct {
	io.Writer
	err error
}

// terminal is standard output itself, for a program that may want to know what it is.
func (e *env) terminal() io.Writer {
	if p, ok := e.stdout.(*printer); ok {
		return p.Writer
	}
	return e.stdout
}

func (p *printer) Write(b []byte) (int, error) {
	n, err := p.Writer.Write(b)
	if p.err == nil {
		p.err = err
	}
	return n, err
}

// enough reports whether the reader has closed its end: it has seen what it wanted.
func (p *printer) enough() bool { return errors.Is(p.err, syscall.EPIPE) }

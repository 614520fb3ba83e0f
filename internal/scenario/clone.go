package scenario

import "reflect"

// clone makes a deep copy of a file, so that the resolver's decisions do not change the original.
func (f *File) clone() File {
	var of func(v reflect.Value) reflect.Value
	of = func(v reflect.Value) reflect.Value {
		own := reflect.New(v.Type()).Elem()
		own.Set(v)
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				own.Set(reflect.New(v.Type().Elem()))
				own.Elem().Set(of(v.Elem()))
			}
		case reflect.Interface:
			if !v.IsNil() {
				own.Set(of(v.Elem()))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if own.Field(i).CanSet() {
					own.Field(i).Set(of(v.Field(i)))
				}
			}
		case reflect.Array:
			for i := range v.Len() {
				own.Index(i).Set(of(v.Index(i)))
			}
		case reflect.Slice:
			if !v.IsNil() {
				own.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
				for i := range v.Len() {
					own.Index(i).Set(of(v.Index(i)))
				}
			}
		case reflect.Map:
			if !v.IsNil() {
				own.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
				for _, k := range v.MapKeys() {
					own.SetMapIndex(k, of(v.MapIndex(k)))
				}
			}
		}
		return own
	}
	return of(reflect.ValueOf(*f)).Interface().(File)
}

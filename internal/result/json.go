package result

import (
	"io"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// WriteJSON writes a value as encoding/json does, except that nil lists are [], not null.
func WriteJSON(w io.Writer, v any, opts ...json.Options) error {
	v1 := json.JoinOptions(jsonv1.DefaultOptionsV1(), json.FormatNilSliceAsNull(false))
	return json.MarshalWrite(w, v, append([]json.Options{v1}, opts...)...)
}

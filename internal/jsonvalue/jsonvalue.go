// Package jsonvalue reads JSON into values and writes them back as they came: numbers keep their digits, signs stay unescaped.
package jsonvalue

import (
	"bytes"
	"encoding/json"
)

// Decode returns a JSON value with its numbers as they were written, nil if it can't be read.
func Decode(raw []byte) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// Encode returns a value that Decode has returned, or one that always encodes, as JSON.
func Encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return json.RawMessage("null") // not of a value that was decoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

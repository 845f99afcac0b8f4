// Package asset holds the sentence encoder that is inside the binary: all-MiniLM-L6-v2, packed to int8 by
// encode.Convert. It holds bytes and nothing else; package embed opens them. ORIGIN.md says where they come from,
// under which licence, and how to make them again.
package asset

import (
	_ "embed"
	"unsafe"
)

// miniLM is a string, not a slice, so that it lies in pages of the executable that are shared and can be evicted.
//
//go:embed minilm.qenc
var miniLM string

// MiniLM is the packed encoder. The caller must not modify it.
func MiniLM() []byte { return unsafe.Slice(unsafe.StringData(miniLM), len(miniLM)) }

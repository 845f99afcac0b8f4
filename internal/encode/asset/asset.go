// Package asset embeds the sentence encoder of the binary: all-MiniLM-L6-v2, quantised to int8 by encode.Convert. It
// holds only the bytes; package embed opens them. ORIGIN.md documents their origin, their licence and how to reproduce
// them.
package asset

import (
	_ "embed"
	"unsafe"
)

// miniLM is a string, not a slice, so that it stays in read-only pages of the executable, which processes share and
// the kernel can evict.
//
//go:embed minilm.qenc
var miniLM string

// MiniLM returns the packed encoder. The caller must not modify it: the pages are read-only.
func MiniLM() []byte { return unsafe.Slice(unsafe.StringData(miniLM), len(miniLM)) }

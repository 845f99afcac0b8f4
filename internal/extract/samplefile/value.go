package samplefile

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
)

// LE returns values as bytes, the low one first; a string stands as it is. It panics if the size of a value is not fixed.
func LE(values ...any) string {
	var b bytes.Buffer
	for _, v := range values {
		if s, ok := v.(string); ok {
			b.WriteString(s)
		} else if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return b.String()
}

// Wide returns the characters of a text in two bytes each.
func Wide(s string) string { return LE(utf16.Encode([]rune(s))) }

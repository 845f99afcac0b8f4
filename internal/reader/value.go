package reader

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
)

// Values cross the pipe between two processes of one program, so that their types describe them: a struct is its fields in
// order, a slice its length and its elements, a text its length and its bytes, a number a varint. What a format found out
// about a file in free form (map[string]any) is JSON.

// errValue means bytes that are no value of the type.
var errValue = errors.New("not a value of this type")

// deepest is how far values are nested at most: sections, and mail inside mail, are below a tenth of it.
const deepest = 200

// writeValue writes a value. Errors of w come out when it is flushed.
func writeValue(w *bufio.Writer, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if err := writeValue(w, v.Field(i)); err != nil {
				return err
			}
		}
	case reflect.Slice:
		_, _ = w.Write(binary.AppendUvarint(w.AvailableBuffer(), uint64(v.Len())))
		if v.Type().Elem().Kind() == reflect.Uint8 {
			_, _ = w.Write(v.Bytes())
			return nil
		}
		for i := range v.Len() {
			if err := writeValue(w, v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.String:
		_, _ = w.Write(binary.AppendUvarint(w.AvailableBuffer(), uint64(v.Len())))
		_, _ = w.WriteString(v.String())
	case reflect.Int:
		_, _ = w.Write(binary.AppendVarint(w.AvailableBuffer(), v.Int()))
	case reflect.Float64:
		_, _ = w.Write(binary.AppendUvarint(w.AvailableBuffer(), math.Float64bits(v.Float())))
	case reflect.Bool:
		n := uint64(0)
		if v.Bool() {
			n = 1
		}
		_, _ = w.Write(binary.AppendUvarint(w.AvailableBuffer(), n))
	case reflect.Map:
		raw, err := json.Marshal(v.Interface())
		if err != nil {
			return err
		}
		return writeValue(w, reflect.ValueOf(raw))
	default:
		return fmt.Errorf("%s can't be written", v.Type())
	}
	return nil
}

// decoder reads a value from a text that was read whole: the texts inside are parts of it.
type decoder struct{ rest string }

// decode reads a value that is the whole of text into the one that to points to.
func decode(text string, to any) error {
	d := decoder{text}
	if err := d.value(reflect.ValueOf(to).Elem(), 0); err != nil {
		return err
	}
	if d.rest != "" {
		return errValue
	}
	return nil
}

func (d *decoder) value(v reflect.Value, depth int) error {
	if depth > deepest {
		return errValue
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if err := d.value(v.Field(i), depth+1); err != nil {
				return err
			}
		}
		return nil
	case reflect.Slice:
		return d.slice(v, depth)
	case reflect.String:
		text, err := d.text()
		v.SetString(text)
		return err
	case reflect.Map:
		text, err := d.text()
		if err != nil || text == "null" {
			return err
		}
		in := json.NewDecoder(bytes.NewReader([]byte(text)))
		in.UseNumber() // so that numbers stay as they were written
		if err := in.Decode(v.Addr().Interface()); err != nil {
			return fmt.Errorf("%w: %w", errValue, err)
		}
		return nil
	}
	n, err := d.uvarint()
	switch v.Kind() {
	case reflect.Int:
		v.SetInt(int64(n>>1) ^ -int64(n&1)) // as binary.AppendVarint writes it
	case reflect.Float64:
		v.SetFloat(math.Float64frombits(n))
	case reflect.Bool:
		v.SetBool(n != 0)
	default:
		return fmt.Errorf("%s can't be read", v.Type())
	}
	return err
}

// slice reads a slice; one of no elements stays nil. Every element takes a byte at least, so that a length is no promise of
// memory beyond a multiple of what was sent.
func (d *decoder) slice(v reflect.Value, depth int) error {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		text, err := d.text()
		if text != "" {
			v.SetBytes([]byte(text))
		}
		return err
	}
	n, err := d.uvarint()
	if err != nil || n == 0 {
		return err
	}
	if n > uint64(len(d.rest)) {
		return errValue
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, int(min(n, 1024))))
	for i := range int(n) {
		v.Grow(1)
		v.SetLen(i + 1)
		if err := d.value(v.Index(i), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) text() (string, error) {
	n, err := d.uvarint()
	if err != nil || n > uint64(len(d.rest)) {
		return "", errValue
	}
	text := d.rest[:n]
	d.rest = d.rest[n:]
	return text, nil
}

func (d *decoder) uvarint() (n uint64, err error) {
	for i := range min(len(d.rest), binary.MaxVarintLen64) {
		c := d.rest[i]
		n |= uint64(c&0x7F) << (7 * i)
		if c < 0x80 {
			d.rest = d.rest[i+1:]
			return n, nil
		}
	}
	return 0, errValue
}

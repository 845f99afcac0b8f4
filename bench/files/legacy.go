package main

import (
	"slices"
	"strings"

	"quarry/internal/extract/samplefile"
)

// legacyKinds are the formats of Office before 2007, of which package samplefile makes none.
var legacyKinds = []string{"doc", "xls", "ppt"}

// legacy returns a file of one of these kinds with these paragraphs in ASCII: as such, each with its number as rows of a sheet, or each
// on a slide.
func legacy(kind string, paragraphs ...string) []byte {
	switch kind {
	case "doc":
		return samplefile.Compound(word(strings.Join(paragraphs, "\r") + "\r"))
	case "xls":
		return samplefile.Compound(workbook(paragraphs))
	}
	return samplefile.Compound(presentation(paragraphs))
}

// le and wide return values and texts as bytes.
var le, wide = samplefile.LE, samplefile.Wide

// word returns the streams of a document (MS-DOC) whose text is one piece of one byte a character, without formats.
func word(text string) map[string]string {
	const textAt = 2048 // behind the head, and behind a page each for formats of characters and of paragraphs, of 512 bytes
	main := make([]byte, textAt)
	put := func(at int, values ...any) { copy(main[at:], le(values...)) }
	end := uint32(textAt + len(text))
	for _, page := range []int{2, 3} {
		put(page*512, uint32(textAt), end)
		put(page*512+511, uint8(1)) // stretch, of no format
	}
	put(0, uint16(0xA5EC), uint16(0xC1))
	put(32, uint16(14))
	put(62, uint16(22))
	put(76, uint32(len(text)))
	put(152, uint16(93))
	table := ""
	for _, part := range []struct {
		number  int
		content string
	}{
		{12, le(uint32(textAt), end, uint32(2))},
		{13, le(uint32(textAt), end, uint32(3))},
		{33, le(uint8(2), uint32(16), uint32(0), uint32(len(text)), uint16(0), uint32(textAt*2|1<<30), uint16(0))},
	} {
		put(154+8*part.number, uint32(len(table)), uint32(len(part.content)))
		table += part.content
	}
	return map[string]string{"WordDocument": string(main) + text, "0Table": table}
}

// workbook returns the stream of a workbook (MS-XLS) of one sheet.
func workbook(rows []string) map[string]string {
	record := func(kind uint16, values ...any) string {
		body := le(values...)
		return le(kind, uint16(len(body)), body)
	}
	begin := func(part uint16) string { return record(0x809, uint16(0x600), part, make([]byte, 12)) }
	end := record(0x0A)
	sheet := func(at int) string { return record(0x85, uint32(at), uint16(0), uint8(5), uint8(0), "Sheet") }
	var b strings.Builder
	b.WriteString(begin(5) + sheet(len(begin(5)+sheet(0)+end)) + end + begin(0x10))
	for i, text := range rows {
		b.WriteString(record(0x203, uint16(i), uint16(0), uint16(0), float64(i)))
		b.WriteString(record(0x204, uint16(i), uint16(1), uint16(0), uint16(len(text)), uint8(1), wide(text)))
	}
	return map[string]string{"Workbook": b.String() + end}
}

// presentation returns the streams of a presentation (MS-PPT).
func presentation(slides []string) map[string]string {
	record := func(head, kind uint16, values ...any) string {
		body := le(values...)
		return le(head, kind, uint32(len(body)), body)
	}
	var list, objects strings.Builder
	places := []uint32{0}
	for i, text := range slides {
		places = append(places, uint32(objects.Len()))
		list.WriteString(record(0, 0x03F3, uint32(i+2), uint32(0), int32(0), uint32(256+i)))
		objects.WriteString(record(0xF, 0x03EE, record(0, 0x03EF, make([]byte, 24)), record(0xF, 0x040C, record(0xF, 0xF002, record(0xF, 0xF003, record(0xF, 0xF004),
			record(0xF, 0xF004, record(1<<4|2, 0xF00A, uint32(1), uint32(0xA00)), record(0xF, 0xF00D, record(0, 0x0F9F, uint32(4)), record(0, 0x0FA0, wide(text)))))))))
	}
	document := record(0xF, 0x03E8, record(0, 0x03E9, make([]byte, 40)), record(0xF, 0x0FF0, list.String()))
	for i := range places[1:] {
		places[i+1] += uint32(len(document))
	}
	stream := document + objects.String()
	directory, first := "", 1
	for some := range slices.Chunk(places, 4095) { // as many as a list of places has
		directory += le(uint32(first|len(some)<<20), some)
		first += len(some)
	}
	edit := len(stream) + len(record(0, 0x1772, directory))
	stream += record(0, 0x1772, directory) + record(0, 0x0FF5, make([]byte, 12), uint32(len(stream)), uint32(1), uint32(9), uint32(0))
	return map[string]string{"PowerPoint Document": stream, "Current User": record(0, 0x0FF6, uint32(0x14), uint32(0xE391C05F), uint32(edit))}
}

package extract

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/ole"
)

// unreadable are formats that are no text and have no parser. What a file of them holds is not looked at.
type unreadable struct {
	endings, types []string
	// reason is why they are not read, or what can be done.
	reason string
}

// many is the reason for files that quarry index opens.
const many = "it holds many documents, and an upload is one; `quarry index` opens it"

// notRead is the table of these formats.
var notRead = []unreadable{
	{[]string{".zip"}, []string{"application/zip", "application/x-zip-compressed", "application/x-zip"}, many},
	{[]string{".tar", ".tgz"}, []string{"application/x-tar", "application/tar", "application/x-gtar"}, many},
	{[]string{".jsonl", ".ndjson"}, []string{"application/jsonl", "application/x-jsonl", "application/jsonlines", "application/x-jsonlines", "application/x-ndjson", "application/ndjson"}, many},
	{[]string{".gz"}, []string{"application/gzip", "application/x-gzip"}, "unpack it first; `quarry index` opens .tar.gz"},
	{[]string{".7z", ".rar", ".bz2", ".xz", ".zst"}, []string{"application/x-7z-compressed", "application/vnd.rar", "application/x-rar-compressed", "application/x-bzip2", "application/x-xz", "application/zstd"}, "unpack it first"},
	{[]string{".xlsb"}, []string{"application/vnd.ms-excel.sheet.binary.macroenabled.12"}, "save it as .xlsx first"},
	{[]string{".pages", ".numbers", ".key"}, []string{"application/vnd.apple.pages", "application/vnd.apple.numbers", "application/vnd.apple.keynote"}, "export it as .docx, .xlsx, .pptx or PDF first"},
	{[]string{".vsd", ".vsdx", ".mpp", ".one", ".pub", ".wps", ".wpd", ".odg", ".djvu", ".xps", ".ps"}, []string{"application/vnd.visio", "application/vnd.wordperfect", "image/vnd.djvu", "application/postscript", "application/vnd.oasis.opendocument.graphics"}, "save it as PDF first"},
	{[]string{".mobi", ".azw", ".azw3"}, []string{"application/x-mobipocket-ebook", "application/vnd.amazon.ebook"}, "convert it to EPUB first"},
	{[]string{".mp3", ".mp4", ".wav", ".avi", ".mov", ".mkv", ".exe", ".dll", ".iso"}, nil, "there is no text in it"},
}

// unreadName returns the formats of files with this ending, or nil.
func unreadName(ending string) *unreadable {
	return unread(func(u *unreadable) bool { return slices.Contains(u.endings, ending) })
}

// unreadType returns the formats of a media type, or nil.
func unreadType(mediaType string) *unreadable {
	return unread(func(u *unreadable) bool { return slices.Contains(u.types, mediaType) })
}

func unread(f func(*unreadable) bool) *unreadable {
	if i := slices.IndexFunc(notRead, func(u unreadable) bool { return f(&u) }); i >= 0 {
		return &notRead[i]
	}
	return nil
}

// error returns the refusal of a file with an ending or a media type.
func (u *unreadable) error(kind string) error {
	if u == nil {
		return fmt.Errorf("%w: %s", ErrUnsupported, kind)
	}
	return fmt.Errorf("%w: %s: %s", ErrUnsupported, kind, u.reason)
}

// unreadContent returns the refusal of a file that nothing but its content says anything of.
func unreadContent(data []byte) error {
	if _, err := ole.Open(data); errors.Is(err, ErrProtected) { // a document of Office, of whatever kind
		return fmt.Errorf("read application/x-ole-storage: %w", err)
	}
	if !bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		return fmt.Errorf("%w: the content is not text", ErrUnsupported)
	}
	kind := ".zip"
	if a, err := archive.Open(data); err == nil && a.Has("xl/workbook.bin") {
		kind = ".xlsb"
	}
	return unreadName(kind).error("the content is " + strings.TrimPrefix(kind, "."))
}

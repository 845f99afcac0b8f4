package artifact

import (
	"crypto/sha256"
	"fmt"
	"mime"
	"path"
	"strings"
	"unicode"

	"quarry/internal/clip"
	"quarry/internal/id"
)

// Bounds of names, in bytes.
const (
	maxFilename = 255
	maxOriginal = 1024 // of what is kept of a name as it was sent
	maxSlug     = 40   // of an id, what is made of the name
	maxMIME     = 255
)

// Clean returns a name from outside as the name of a file: what stands behind the last slash or backslash, without characters
// that are not shown, at most 255 bytes, of which the ending is kept. It is never empty, nor a name that means a folder.
func Clean(name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) { // also NUL, line ends and marks that turn the direction of writing
			return -1
		}
		return r
	}, name)
	if name = strings.Trim(name, " ."); name == "" {
		return "file"
	}
	ending := path.Ext(name)
	if len(ending) > 20 {
		ending = ""
	}
	return clip.Head(strings.TrimSuffix(name, ending), maxFilename-len(ending)) + ending
}

// Original returns a name from outside as it was sent, as far as it can be kept.
func Original(name string) string {
	return clip.Head(strings.ReplaceAll(strings.ToValidUTF8(name, "\uFFFD"), "\x00", "\uFFFD"), maxOriginal)
}

// suffixes are what the random end of an id is made of; suffixLength is how long it is.
const (
	suffixes     = "0123456789abcdefghijklmnopqrstuvwxyz"
	suffixLength = 6
)

// NewID returns an id made of a filename, with a random end.
func NewID(filename string) string { return newID(filename, id.Text(20)) }

// newID returns an id made of a filename, whose end follows from seed.
func newID(filename, seed string) string {
	slug := strings.Join(strings.FieldsFunc(strings.ToLower(filename), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "_")
	if slug = strings.TrimRight(clip.Head(slug, maxSlug), "_"); slug == "" {
		slug = "file"
	}
	end, sum := make([]byte, suffixLength), sha256.Sum256([]byte(seed))
	for i := range end {
		end[i] = suffixes[(int(sum[2*i])<<8|int(sum[2*i+1]))%len(suffixes)]
	}
	return fmt.Sprintf("art_%s_%s", slug, end)
}

// unknownType is the type of bytes of which nothing is known.
const unknownType = "application/octet-stream"

// TypeOf returns the media type of a file: the one that was declared, if it can be read and means something, else the one that
// its ending stands for.
func TypeOf(filename, declared string) string {
	if kind, params, err := mime.ParseMediaType(declared); err == nil && kind != unknownType && strings.Contains(kind, "/") {
		if text := mime.FormatMediaType(kind, params); text != "" && len(text) <= maxMIME {
			return text
		}
	}
	if kind, ok := endings[strings.ToLower(path.Ext(filename))]; ok {
		return kind
	}
	return unknownType
}

// endings are the types that endings stand for. Those of the system would differ from one to the next.
var endings = map[string]string{
	".avif": "image/avif", ".bmp": "image/bmp", ".css": "text/css", ".csv": "text/csv", ".gif": "image/gif", ".gz": "application/gzip",
	".htm": "text/html", ".html": "text/html", ".jpeg": "image/jpeg", ".jpg": "image/jpeg", ".js": "text/javascript", ".json": "application/json",
	".jsonl": "application/jsonl", ".log": "text/plain", ".md": "text/markdown", ".mp3": "audio/mpeg", ".mp4": "video/mp4", ".pdf": "application/pdf",
	".png": "image/png", ".svg": "image/svg+xml", ".tar": "application/x-tar", ".tsv": "text/tab-separated-values", ".txt": "text/plain",
	".wav": "audio/wav", ".webp": "image/webp", ".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml",
	".zip":  "application/zip",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}

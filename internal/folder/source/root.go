package source

// Kind is what an argument names.
type Kind string

// The kinds of roots.
const (
	Folder  Kind = "folder"
	Glob    Kind = "glob"
	File    Kind = "file"
	Archive Kind = "archive"
	Lines   Kind = "lines"
)

// Root is one argument, resolved.
type Root struct {
	Kind Kind
	// Path is absolute and clean. That of a glob is its fixed part.
	Path string
	// Name is the path as the user wrote it, for messages.
	Name string
	// Pattern is the rest of a glob, with slashes.
	Pattern string
}

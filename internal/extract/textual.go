package extract

import (
	"path"
	"slices"
	"strings"
)

// Textual is a kind of files that are plain text although their names do not say so.
type Textual struct {
	// Name is what people call the kind, in messages and in the documentation.
	Name string
	// Endings are those of its files, in lower case with their dots; Names are whole names of files, in lower case.
	Endings, Names []string
	// Code means that the lines of its files stay as they are: they are code, without headings.
	Code bool
	// types are media types that clients declare for its files.
	types []string
}

// textual is the table of these kinds. It has no ending of formats.
var textual = []Textual{
	{Name: "markup", Endings: []string{".rst", ".org", ".tex", ".textile", ".mdx", ".qmd", ".rmd", ".srt", ".vtt"}, types: []string{"text/x-rst", "text/x-tex", "application/x-tex", "text/vtt"}},
	{
		Name: "settings", Endings: []string{".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".properties"}, Code: true,
		types: []string{"application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "application/toml"},
	},
	{Name: "logs", Endings: []string{".log"}},
	{Name: "source code", Code: true, Endings: []string{
		".bash", ".bat", ".c", ".cc", ".clj", ".cmake", ".cpp", ".cs", ".css", ".cxx", ".dart", ".erl", ".ex", ".exs", ".f90",
		".fs", ".go", ".gradle", ".graphql", ".groovy", ".h", ".hpp", ".hs", ".hxx", ".java", ".jl", ".js", ".jsx", ".kt", ".kts",
		".less", ".lisp", ".lua", ".m", ".mjs", ".ml", ".mm", ".nim", ".pas", ".php", ".pl", ".pm", ".proto", ".ps1", ".py", ".pyi",
		".r", ".rb", ".rs", ".s", ".sass", ".scala", ".scm", ".scss", ".sh", ".sol", ".sql", ".svelte", ".swift", ".tcl", ".tf",
		".ts", ".tsx", ".vb", ".vim", ".vue", ".zig", ".zsh",
	}, types: []string{
		"text/x-python", "text/x-python-script", "application/x-python-code", "text/x-go", "text/x-c", "text/x-csrc", "text/x-chdr", "text/x-c++", "text/x-c++src",
		"text/x-java", "text/x-java-source", "text/x-rust", "text/x-ruby", "text/x-perl", "text/x-php", "application/x-httpd-php", "text/x-lua", "text/x-scala",
		"text/x-kotlin", "text/x-swift", "text/x-csharp", "text/x-haskell", "text/x-sh", "application/x-sh", "text/x-shellscript", "application/x-shellscript",
		"text/javascript", "application/javascript", "application/x-javascript", "text/typescript", "application/typescript", "text/jsx", "text/css", "text/x-scss",
		"application/sql", "text/x-sql", "text/x-source", "text/x-diff",
	}},
	{Name: "files such as Makefile", Code: true, Names: []string{
		"dockerfile", "gemfile", "jenkinsfile", "justfile", "makefile", "procfile", "rakefile", "vagrantfile",
	}, types: []string{"text/x-makefile"}},
	{Name: "files such as README", Names: []string{
		"authors", "changelog", "changes", "codeowners", "contributing", "contributors", "copying", "history", "install", "license", "licence",
		"maintainers", "news", "notice", "readme", "todo", "version",
	}},
}

// Textuals returns the kinds of files that are read as plain text beside the formats.
func Textuals() []Textual { return slices.Clone(textual) }

// ReadsName reports whether a file of this name is looked for in folders: it has an ending of a format or is textual.
func ReadsName(name string) bool {
	return slices.Contains(Endings(), strings.ToLower(path.Ext(name))) || isTextual(name)
}

func isTextual(name string) bool { return named(name) != nil }

// named returns the kind of a file of this name, or nil.
func named(name string) *Textual {
	name = strings.ToLower(path.Base(name))
	ext := path.Ext(name)
	return kind(func(t *Textual) bool {
		return ext != "" && slices.Contains(t.Endings, ext) || slices.Contains(t.Names, name)
	})
}

// declaredKind returns the kind for which clients declare a media type, or nil.
func declaredKind(mediaType string) *Textual {
	return kind(func(t *Textual) bool { return slices.Contains(t.types, mediaType) })
}

// kind returns the first kind for which f is true, or nil.
func kind(f func(*Textual) bool) *Textual {
	for i := range textual {
		if f(&textual[i]) {
			return &textual[i]
		}
	}
	return nil
}
